use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::json;

use workforce_testkit::postgres::{database, shared_cluster_url};

use crate::harness::{
    Server, folder, free_address, is_alive, script, wait_for_pid, wait_until_gone,
};

/// An agent whose first run hangs and whose later runs end at once.
fn hanging_agent(server: &Server, data: &std::path::Path) -> (String, std::path::PathBuf) {
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    let company = company["id"].as_str().unwrap();
    let pid_file = data.join("pid");
    let program = script(
        data,
        "agent.sh",
        &format!(
            "[ -e {0} ] && exit 0\ntrap '' TERM\necho $$ > {0}\nwhile :; do sleep 0.1; done\n",
            pid_file.display()
        ),
    );
    let agent = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({
            "name": "Ada", "allowSameName": true, "role": "engineer",
            "adapterConfig": { "command": "/bin/sh", "args": [program], "graceSec": 0.2 },
        }),
    );
    (agent["id"].as_str().unwrap().to_owned(), pid_file)
}

/// An agent whose run calls the interface when it may go on.
fn working_agent(server: &Server, folder: &std::path::Path) -> String {
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    let company = company["id"].as_str().unwrap();
    let program = script(
        folder,
        "agent.sh",
        &format!(
            "echo one; echo $$ > {0}/pid\nwhile [ ! -e {0}/go ]; do sleep 0.05; done\n\
             {1} api GET /api/agents/me && echo two\n",
            folder.display(),
            env!("CARGO_BIN_EXE_workforce"),
        ),
    );
    let agent = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({
            "name": "Ada", "allowSameName": true, "role": "engineer",
            "adapterConfig": { "command": "/bin/sh", "args": [program] },
        }),
    );
    agent["id"].as_str().unwrap().to_owned()
}

/// A run goes on while its server is gone, in whatever way it goes, and under the
/// next one its token is good to the end.
fn outlives(database: &[&str], flags: &[&str], signal: Signal) {
    let (data, files) = (folder(), folder());
    // The address stays the same, as that of a service does.
    let listen = free_address();
    let key = "5a".repeat(32);
    let variables = [
        ("WORKFORCE_MASTER_KEY", key.as_str()),
        ("WORKFORCE_LISTEN", &listen),
    ];
    let flags = [database, flags].concat();
    let server = Server::start_with(data.path(), &flags, &variables);
    let agent = working_agent(&server, files.path());
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&files.path().join("pid"));
    server.signal(signal);
    let _ = server.leave();
    assert!(is_alive(pid), "it works on");

    let server = Server::start_with(data.path(), &flags, &variables);
    server.wait_until_ready();
    assert_eq!(server.get(&run)["status"], "running");
    std::fs::write(files.path().join("go"), "").unwrap();
    let ended = server.wait_for(&run, |run| run["status"] != "running");
    let log = server.get(&format!("{run}/log"));
    assert_eq!(ended["status"], "succeeded", "{ended} {log}");
    let log = log["content"].as_str().unwrap();
    assert!(log.starts_with("one\n") && log.ends_with("two\n"), "{log}");
    assert!(log.contains(&agent), "the interface knew its token: {log}");
    let company = ended["companyId"].as_str().unwrap();
    let runs = server.get(&format!("/api/companies/{company}/heartbeat-runs"));
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
}

#[test]
fn a_run_outlives_its_killed_server() {
    outlives(&[], &[], Signal::SIGKILL);
}

#[test]
fn a_run_outlives_a_server_that_keeps_its_runs() {
    outlives(&[], &["--keep-runs"], Signal::SIGTERM);
}

#[test]
fn on_postgres_a_run_outlives_its_server_as_well() {
    let Some(url) = shared_cluster_url() else {
        return;
    };
    for (flags, signal) in [
        (&[][..], Signal::SIGKILL),
        (&["--keep-runs"], Signal::SIGTERM),
    ] {
        let database = database(&url);
        outlives(&["--database-url", database.url()], flags, signal);
    }
}

#[test]
fn a_server_on_a_copy_of_a_data_folder_leaves_the_runs_of_the_original_alone() {
    let (data, files) = (folder(), folder());
    let place = format!("file://{}", files.path().join("attachments").display());
    let flags = ["--attachments-url", &place];
    let original = Server::start_with(data.path(), &flags, &[]);
    let agent = working_agent(&original, files.path());
    let run = original.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let path = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&files.path().join("pid"));

    let copy = files.path().join("copy");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(data.path())
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    let Err(log) = Server::try_start_with(&copy, &flags, &[]) else {
        panic!("it shares the attachments of the original");
    };
    assert!(
        log.contains("another server keeps its attachments"),
        "{log}"
    );
    let own = format!("file://{}", files.path().join("others").display());
    let flags = ["--attachments-url", &own, "--attachments-moved"];
    let server = Server::start_with(&copy, &flags, &[]);
    let lost = server.wait_for(&path, |run| run["status"] != "running");
    assert_eq!(lost["errorCode"], "process_lost");
    assert!(is_alive(pid));

    std::fs::write(files.path().join("go"), "").unwrap();
    let ended = original.wait_for(&path, |run| run["status"] != "running");
    assert_eq!(ended["status"], "succeeded", "{ended}");
}

#[test]
fn a_run_whose_guard_is_killed_with_its_server_is_tried_once_more() {
    let data = folder();
    let server = Server::start(data.path());
    let (agent, pid_file) = hanging_agent(&server, data.path());
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&pid_file);
    server.signal(Signal::SIGKILL);
    // Which kills the guards too, as the end of the whole computer does.
    let _ = server.wait();

    let server = Server::start(data.path());
    let lost = server.wait_for(&run, |run| run["status"] != "running");
    assert_eq!(
        (&lost["status"], &lost["errorCode"]),
        (&json!("failed"), &json!("process_lost"))
    );
    wait_until_gone(pid);
    let company = lost["companyId"].as_str().unwrap();
    let retried = server.wait_for(
        &format!("/api/companies/{company}/heartbeat-runs"),
        |runs| {
            runs.as_array()
                .unwrap()
                .iter()
                .filter(|run| run["status"] == "succeeded")
                .count()
                == 1
        },
    );
    assert_eq!(
        retried.as_array().unwrap().len(),
        2,
        "one retry, no more: {retried}"
    );
    assert_eq!(retried[0]["reason"], "process_lost_retry");
}

#[test]
fn a_stopped_server_ends_its_runs_and_queues_their_work_again() {
    let data = folder();
    let server = Server::start_with(data.path(), &["--drain-sec", "0"], &[]);
    let (agent, pid_file) = hanging_agent(&server, data.path());
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&pid_file);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(!is_alive(pid), "the process outlived its server");

    let server = Server::start(data.path());
    let ended = server.get(&run);
    let outcome = (&ended["status"], &ended["errorCode"]);
    assert_eq!(outcome, (&json!("failed"), &json!("server_shutdown")));
    let company = ended["companyId"].as_str().unwrap();
    server.wait_for(
        &format!("/api/companies/{company}/heartbeat-runs"),
        |runs| {
            runs.as_array()
                .unwrap()
                .iter()
                .any(|run| run["status"] == "succeeded")
        },
    );
}

#[test]
fn a_run_that_is_cancelled_is_cancelled_when_its_process_is_gone() {
    let data = folder();
    let server = Server::start(data.path());
    let (agent, pid_file) = hanging_agent(&server, data.path());
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&pid_file);
    server.post(&format!("{run}/cancel"), &json!(null));
    let ended = server.wait_for(&run, |run| run["status"] != "running");
    assert_eq!(ended["status"], "cancelled");
    assert!(!is_alive(pid), "the run ended before its process did");
    let (status, answer) = server.send("POST", &format!("{run}/cancel"), None, &json!(null));
    assert_eq!((status, &answer["code"]), (409, &json!("run_not_live")));
}
