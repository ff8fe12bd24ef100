use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Server, binary, folder};

#[test]
fn what_was_written_is_there_after_a_restart() {
    let data = folder();
    let server = Server::start(data.path());
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0), "SIGTERM ends in good order");

    let server = Server::start(data.path());
    let found = server.get(&format!(
        "/api/companies/{}",
        company["id"].as_str().unwrap()
    ));
    assert_eq!(found["name"], "Acme");
}

#[test]
fn a_second_server_on_the_same_folder_is_turned_away() {
    let data = folder();
    let _first = Server::start(data.path());
    let second = binary()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(told.contains("in use by another process"), "{told}");
}

#[test]
fn without_credentials_only_loopback_is_listened_on() {
    let data = folder();
    let refused = binary()
        .args(["serve", "--listen", "0.0.0.0:0", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("refusing to listen"));
}

#[test]
fn the_master_key_is_for_its_owner_alone() {
    let outer = folder();
    let data = outer.path().join("data");
    let _server = Server::start(&data);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("master.key")), 0o600);
}

#[test]
fn the_service_describes_itself() {
    let data = folder();
    let server = Server::start(data.path());
    assert_eq!(server.get("/api/health")["status"], "ok");
    // Soon: its engine has to look for runs once.
    server.wait_until_ready();
    let document = server.get("/api/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(document["paths"]["/api/issues/{issueId}/checkout"]["post"].is_object());
    assert_eq!(server.send("GET", "/docs/", None, &json!(null)).0, 200);
}
