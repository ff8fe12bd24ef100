//! What a run can do to the server that started it.

use std::path::Path;
use std::process::Stdio;

use nix::unistd::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Server, binary, folder, script};

/// A server, and a place for programs outside of its data folder.
pub(crate) struct Site {
    pub(crate) data: TempDir,
    pub(crate) work: TempDir,
    pub(crate) server: Server,
    company: String,
}

impl Site {
    pub(crate) fn new(flags: &[&str]) -> Self {
        let (data, work) = (folder(), folder());
        let server = Server::start_with(data.path(), flags, &[]);
        let company = server.post("/api/companies", &json!({ "name": "Acme" }));
        let company = company["id"].as_str().unwrap().to_owned();
        Self {
            data,
            work,
            server,
            company,
        }
    }

    /// By which means its runs are contained.
    pub(crate) fn means(&self) -> String {
        self.server.get("/api/health")["containment"].to_string()
    }

    /// Hires an agent, runs its script to the end, and gives run and output.
    pub(crate) fn run(&self, name: &str, text: &str) -> (Value, String) {
        let run = self.begin(name, text);
        let ended = self.server.wait_for(&run, |run| {
            !matches!(run["status"].as_str(), Some("queued" | "running"))
        });
        let log = self.server.get(&format!("{run}/log"));
        (ended, log["content"].as_str().unwrap().to_owned())
    }

    /// Hires an agent, has its script run, and gives the path of the run.
    pub(crate) fn begin(&self, name: &str, text: &str) -> String {
        let program = script(self.work.path(), &format!("{name}.sh"), text);
        let agent = self.server.post(
            &format!("/api/companies/{}/agents", self.company),
            &json!({
                "name": name, "role": "engineer",
                "adapterConfig": { "command": "/bin/sh", "args": [program], "graceSec": 0.2 },
            }),
        );
        let agent = agent["id"].as_str().unwrap();
        let run = self
            .server
            .post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
        format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap())
    }
}

/// What an attacker tries first.
pub(crate) fn attack(data: &Path, server: u32) -> String {
    format!(
        "data={}; server={server}\n\
         for file in $data/* $data/*/* /proc/$server/environ /proc/$server/maps; do\n\
         [ -f $file ] && [ \"$(head -c 4 $file 2>/dev/null)\" ] && echo read $file\n\
         done\n\
         (echo x >> $data/master.key) 2>/dev/null && grep -q x $data/master.key && echo wrote\n\
         kill -0 $server 2>/dev/null && echo signalled\n\
         cat $WORKFORCE_INSTRUCTIONS_FILE > /dev/null || echo blind\n\
         touch here && rm here || echo homeless\n\
         echo end\n",
        data.display()
    )
}

#[test]
fn a_run_reads_nothing_of_its_server_unless_containment_is_off() {
    for (mode, home) in [
        ("best-effort", "shared"),
        ("required", "private"),
        ("strict", "shared"),
    ] {
        let site = Site::new(&["--containment", mode, "--agent-home", home]);
        if site.means() == "[]" {
            println!("LEFT OUT: this kernel has no means of containment");
            return;
        }
        let (_, of_other) = site.run("Bob", "echo mine > note");
        assert_eq!(of_other, "", "{mode}");
        let (run, output) = site.run("Eve", &attack(site.data.path(), site.server.pid()));
        assert_eq!(
            (&run["status"], &*output),
            (&json!("succeeded"), "end\n"),
            "{mode}"
        );
    }
    let site = Site::new(&["--containment", "off"]);
    assert_eq!(site.means(), "[]");
    let (_, output) = site.run("Eve", &attack(site.data.path(), site.server.pid()));
    assert!(output.contains("master.key"), "the attack works: {output}");
}

/// Each is opened for writing and nothing written, so that nothing happens where it works.
#[test]
fn a_run_of_root_changes_nothing_of_the_computer() {
    if !geteuid().is_root() {
        println!("LEFT OUT: only root could change the computer");
        return;
    }
    for mode in ["best-effort", "required", "strict"] {
        let site = Site::new(&["--containment", mode]);
        if site.means() == "[]" {
            println!("LEFT OUT: this kernel has no means of containment");
            return;
        }
        let text = "
            for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname \\
                /proc/sys/vm/overcommit_memory /proc/sysrq-trigger /proc/irq/*/smp_affinity \\
                /sys/kernel/mm/transparent_hugepage/enabled $(find /dev -type b)
            do
                [ -e $file ] && (: >> $file) 2> /dev/null && echo opened $file
            done
            hostname \"$(hostname)\" 2> /dev/null && echo named
            mknod node c 1 3 2> /dev/null && echo made
            echo 600 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj";
        let (run, output) = site.run("Eve", text);
        let outcome = (&run["status"], &*output);
        assert_eq!(outcome, (&json!("succeeded"), "600\n"), "{mode}");
    }
}

#[test]
fn a_server_whose_agents_are_root_says_so() {
    let warnings = |flags: &[&str]| {
        let site = Site::new(flags);
        let log = site.server.log();
        let log = log.lock().unwrap();
        log.matches("agents run as root").count()
    };
    let expected = usize::from(geteuid().is_root());
    assert_eq!(warnings(&["--containment", "best-effort"]), expected);
    assert_eq!(warnings(&["--containment", "off"]), expected);
    if geteuid().is_root() {
        assert_eq!(warnings(&["--run-as", "nobody"]), 0);
    }
}

#[test]
fn a_private_home_is_the_agents_own() {
    let site = Site::new(&["--agent-home", "private", "--containment", "best-effort"]);
    let (_, output) = site.run("Ada", "cd; pwd; echo $HOME; echo x > .settings; ls -A");
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].contains("/agents/"), "{output}");
    assert_eq!((lines[0], lines[2]), (lines[1], ".settings"));
}

#[test]
fn strict_runs_write_to_their_own_places_only() {
    let site = Site::new(&["--containment", "strict", "--agent-home", "private"]);
    let elsewhere = site.work.path().join("elsewhere");
    let text = format!(
        "(echo x > {0}) 2>/dev/null && echo wrote\necho y > own && cat own\n\
         t=$(mktemp) && echo z > $t && cat $t\n",
        elsewhere.display()
    );
    let (_, output) = site.run("Ada", &text);
    assert_eq!(output, "y\nz\n");
    assert!(!elsewhere.exists());
}

/// Everything that a hostile program does to stay, or to fill what it can.
#[test]
fn a_hostile_program_is_gone_after_a_cancel_and_its_output_stays_bounded() {
    let site = Site::new(&["--containment", "best-effort"]);
    let alive = site.work.path().join("alive");
    std::fs::write(&alive, "").unwrap();
    let held = format!("exec 9< {}; flock -s 9;", alive.display());
    let text = format!(
        "trap '' TERM; {held}\n\
         (setsid env -i sh -c 'trap \"\" TERM; while :; do sleep 1; done' &)\n\
         (setsid setsid env -i sleep 300 > /dev/null 2>&1 &)\n\
         storm() {{ for i in 1 2 3 4 5 6 7 8; do (sleep 300 &) ; done; }}; storm\n\
         head -c 100000000 /dev/zero | tr '\\0' x; echo\n\
         echo ready; yes 'a line that fills the log'\n"
    );
    let path = site.begin("Eve", &text);
    let id = path.rsplit('/').next().unwrap();
    site.server
        .wait_for(&path, |run| run["status"] == "running");
    let file = std::fs::File::open(&alive).unwrap();
    // Held by every process of the run.
    while file.try_lock().is_ok() {
        file.unlock().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let log = site
        .data
        .path()
        .join(format!("runs/{}/{id}.log", site.company));
    while log.metadata().map_or(0, |log| log.len()) < 1 << 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    site.server.post(&format!("{path}/cancel"), &json!(null));
    let ended = site
        .server
        .wait_for(&path, |run| run["status"] != "running");
    assert_eq!(ended["status"], "cancelled");
    assert!(file.try_lock().is_ok(), "a process outlived its run");
}

#[test]
fn a_containment_that_there_is_not_is_told() {
    let data = folder();
    let refused = binary()
        .args(["serve", "--containment", "much", "--data-dir"])
        .arg(data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("best-effort"), "{told}");
}
