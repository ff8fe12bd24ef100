use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Server, folder, is_alive, script, wait_for_pid, wait_until_gone};

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
            "name": "Ada", "role": "engineer",
            "adapterConfig": { "command": "/bin/sh", "args": [program], "graceSec": 0.2 },
        }),
    );
    (agent["id"].as_str().unwrap().to_owned(), pid_file)
}

#[test]
fn a_killed_server_leaves_nothing_behind_and_loses_no_work() {
    let data = folder();
    let server = Server::start(data.path());
    let (agent, pid_file) = hanging_agent(&server, data.path());
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let pid = wait_for_pid(&pid_file);
    server.signal(Signal::SIGKILL);
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
