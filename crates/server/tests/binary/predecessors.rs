//! Servers on one PostgreSQL that are killed and started again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_testkit::postgres::{TestDatabase, database, shared_cluster_url};

use crate::harness::{
    Server, attachments_in, binary, folder, is_alive, script, wait_for_pid, wait_until_gone,
};

/// What every server of a test uses.
struct Site {
    database: TestDatabase,
    scripts: TempDir,
}

/// An agent at work: its first run hangs, its later runs end at once.
struct Job {
    run: String,
    pid: i32,
    token: String,
}

impl Site {
    /// `None` where no PostgreSQL is installed.
    fn new() -> Option<Self> {
        Some(Self {
            database: database(&shared_cluster_url()?),
            scripts: folder(),
        })
    }

    fn start(&self, data: &Path) -> Server {
        let key = "5a".repeat(32);
        let flags = ["--database-url", self.database.url()];
        let one_run = ["--max-concurrent-runs", "1"];
        let (name, place) = attachments_in(self.scripts.path());
        Server::start_with(
            data,
            &[flags, one_run].concat(),
            &[("WORKFORCE_MASTER_KEY", &key), (name, &place)],
        )
    }

    /// Hires an agent and waits until its run has begun.
    fn begin(&self, server: &Server, company: &str, name: &str) -> Job {
        let file = |kind: &str| self.scripts.path().join(format!("{name}.{kind}"));
        let (pid_file, token_file): (PathBuf, PathBuf) = (file("pid"), file("token"));
        let program = script(
            self.scripts.path(),
            &format!("{name}.sh"),
            &format!(
                "[ -e {pid} ] && exit 0\ntrap '' TERM\nprintf %s \"$WORKFORCE_API_KEY\" > {token}\n\
                 echo $$ > {pid}.new; mv {pid}.new {pid}\n\
                 setsid sleep 60 &\nwhile :; do sleep 0.1; done\n",
                pid = pid_file.display(),
                token = token_file.display(),
            ),
        );
        let agent = server.post(
            &format!("/api/companies/{company}/agents"),
            &json!({
                "name": name, "role": "engineer",
                "adapterConfig": { "command": "/bin/sh", "args": [program], "graceSec": 0.2 },
            }),
        );
        let agent = agent["id"].as_str().unwrap();
        let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
        let pid = wait_for_pid(&pid_file);
        Job {
            run: format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap()),
            pid,
            token: std::fs::read_to_string(token_file).unwrap(),
        }
    }
}

fn company(server: &Server) -> String {
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    company["id"].as_str().unwrap().to_owned()
}

fn outcome(run: &Value) -> (&Value, &Value) {
    (&run["status"], &run["errorCode"])
}

fn retries(runs: &Value) -> usize {
    let runs = runs.as_array().unwrap();
    let is_retry = |run: &&Value| run["reason"] == "process_lost_retry";
    let done = runs.iter().filter(is_retry);
    done.filter(|run| run["status"] == "succeeded").count()
}

#[test]
fn a_server_that_is_killed_is_cleared_away_by_the_next_on_its_folder_alone() {
    let Some(site) = Site::new() else {
        return;
    };
    let (data, data_of_other) = (folder(), folder());
    let server = site.start(data.path());
    let company = company(&server);
    let lost = site.begin(&server, &company, "Ada");
    let other = site.start(data_of_other.path());
    // The first has no room for it.
    let kept = site.begin(&other, &company, "Bob");
    server.signal(Signal::SIGKILL);
    let _ = server.wait();

    let begun = Instant::now();
    let server = site.start(data.path());
    let ended = server.wait_for(&lost.run, |run| run["status"] != "running");
    assert_eq!(outcome(&ended), (&json!("failed"), &json!("process_lost")));
    assert!(!is_alive(lost.pid), "the run ended before its process did");
    println!("cleared away {:?} after the start", begun.elapsed());
    let (status, _) = server.send("GET", "/api/agents/me", Some(&lost.token), &Value::Null);
    assert_eq!(status, 401);
    let runs = format!("/api/companies/{company}/heartbeat-runs");
    server.wait_for(&runs, |runs| retries(runs) == 1);

    assert_eq!(server.get(&kept.run)["status"], "running");
    assert!(is_alive(kept.pid));
    let (status, _) = other.send("GET", "/api/agents/me", Some(&kept.token), &Value::Null);
    assert_eq!(status, 200);
}

#[test]
fn a_server_that_is_stopped_right_after_its_start_leaves_nothing_of_its_predecessor() {
    let Some(site) = Site::new() else {
        return;
    };
    let (data, data_of_other) = (folder(), folder());
    let server = site.start(data.path());
    let company = company(&server);
    let lost = site.begin(&server, &company, "Ada");
    server.signal(Signal::SIGKILL);
    let _ = server.wait();

    let server = site.start(data.path());
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(!is_alive(lost.pid), "a process outlived two servers");
    let other = site.start(data_of_other.path());
    let ended = other.get(&lost.run);
    assert_eq!(outcome(&ended), (&json!("failed"), &json!("process_lost")));
    let runs = format!("/api/companies/{company}/heartbeat-runs");
    other.wait_for(&runs, |runs| retries(runs) == 1);
}

#[test]
fn a_copy_of_a_folder_takes_nothing_from_the_server_of_the_original() {
    let Some(site) = Site::new() else {
        return;
    };
    let (data, copy) = (folder(), folder());
    let server = site.start(data.path());
    let company = company(&server);
    let kept = site.begin(&server, &company, "Ada");
    for entry in std::fs::read_dir(data.path()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let other = site.start(copy.path());
    // Ready is who has cleared away what was left.
    other.wait_for("/api/health", |_| {
        other.send("GET", "/api/health/ready", None, &Value::Null).0 == 200
    });
    assert_eq!(other.get(&kept.run)["status"], "running");
    assert!(is_alive(kept.pid));
    drop(server);
    // What the first server left goes with its leader at least.
    wait_until_gone(kept.pid);
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let Some(site) = Site::new() else {
        return;
    };
    let data = folder();
    let _server = site.start(data.path());
    let refused = binary()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .args(["--database-url", site.database.url()])
        .env("WORKFORCE_MASTER_KEY", "5a".repeat(32))
        .envs([attachments_in(site.scripts.path())])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        told.contains("another server uses the data folder"),
        "{told}"
    );
}
