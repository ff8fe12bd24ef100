use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::harness::{Server, binary, folder};

const TOKEN: &[&str] = &["--auth", "token"];

/// Runs a command against a server, with its data folder and nothing else.
fn workforce(server: &Server, data: &Path, arguments: &[&str]) -> Output {
    let (command, rest) = arguments.split_first().unwrap();
    binary()
        .args([command, "--url", &server.base, "--data-dir"])
        .arg(data)
        .args(rest)
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn the_first_start_writes_a_token_and_the_next_uses_it_again() {
    let data = folder();
    let file = data.path().join("board-token");
    let server = Server::start_with(data.path(), TOKEN, &[]);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    let ask = |server: &Server, token: Option<&str>| {
        server.send("GET", "/api/companies", token, &Value::Null).0
    };
    assert_eq!(ask(&server, None), 401);
    assert_eq!(ask(&server, Some(token.trim())), 200);
    drop(server);

    let server = Server::start_with(data.path(), TOKEN, &[]);
    assert_eq!(ask(&server, Some(token.trim())), 200);
    drop(server);

    std::fs::remove_file(&file).unwrap();
    let server = Server::start_with(data.path(), TOKEN, &[]);
    assert_eq!(ask(&server, Some(token.trim())), 401, "rotated");
    drop(server);

    let variables = [("WORKFORCE_BOARD_TOKEN", "open-sesame-open-sesame")];
    let server = Server::start_with(data.path(), TOKEN, &variables);
    assert_eq!(ask(&server, Some("open-sesame-open-sesame")), 200);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(ask(&server, Some(kept.trim())), 401, "the variable wins");
}

#[test]
fn metrics_are_for_the_board_unless_they_are_open() {
    let data = folder();
    let server = Server::start_with(data.path(), TOKEN, &[]);
    assert_eq!(server.text("/metrics").0, 401);
    drop(server);

    let open = [TOKEN, &["--metrics-open"]].concat();
    let server = Server::start_with(data.path(), &open, &[]);
    let (status, told) = server.text("/metrics");
    assert_eq!(status, 200, "{told}");
    assert!(told.contains("\nworkforce_store_up 1\n"), "{told}");
}

#[test]
fn a_token_that_others_may_know_is_refused() {
    let data = folder();
    let start = |variable: Option<&str>| {
        let mut command = binary();
        command.args([
            "serve",
            "--auth",
            "token",
            "--listen",
            "127.0.0.1:0",
            "--data-dir",
        ]);
        command.arg(data.path());
        command.envs(variable.map(|value| ("WORKFORCE_BOARD_TOKEN", value)));
        let refused = command.output().unwrap();
        assert_eq!(refused.status.code(), Some(1));
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    let file = data.path().join("board-token");
    std::fs::write(&file, "wfb_known_to_all\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let told = start(None);
    assert!(told.contains("may be read by others"), "{told}");
    let told = start(Some("two words"));
    assert!(
        told.contains("WORKFORCE_BOARD_TOKEN") && !told.contains("two words"),
        "{told}"
    );
}

#[test]
fn a_server_with_tokens_may_listen_everywhere_and_answers_to_any_name() {
    let data = folder();
    let flags = ["--auth", "token", "--listen", "0.0.0.0:0"];
    let variables = [("WORKFORCE_BOARD_TOKEN", "open-sesame-open-sesame")];
    let server = Server::start_with(data.path(), &flags, &variables);
    let url = format!("{}/api/companies", server.base);
    let named = |origin: Option<&str>| {
        let mut request = ureq::http::Request::post(&url)
            .header("Host", "workforce.internal")
            .header("Authorization", "Bearer open-sesame-open-sesame");
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let answer = config
            .new_agent()
            .run(request.body("{\"name\": \"Acme\"}").unwrap());
        answer.unwrap().status().as_u16()
    };
    assert_eq!(named(None), 201);
    assert_eq!(named(Some("https://workforce.internal")), 201);
    assert_eq!(named(Some("https://evil.example")), 403);
}

#[test]
fn the_command_line_makes_lists_and_revokes_tokens() {
    let data = folder();
    let server = Server::start_with(data.path(), TOKEN, &[]);
    let run = |arguments: &[&str]| workforce(&server, data.path(), arguments);
    let value = printed(&run(&["token", "create", "--name", "laptop"]));
    assert!(value.starts_with("wfb_"), "{value}");
    let listed = printed(&run(&["token", "list"]));
    assert!(listed.contains("laptop") && listed.contains("valid") && !listed.contains(&value));
    let ask = || {
        server
            .send("GET", "/api/companies", Some(&value), &Value::Null)
            .0
    };
    assert_eq!(ask(), 200);

    let id = listed.split_whitespace().next().unwrap();
    assert_eq!(
        printed(&run(&["token", "revoke", id])),
        format!("revoked {id}")
    );
    assert_eq!(ask(), 401);
    assert!(printed(&run(&["token", "list"])).contains("revoked"));
    assert_eq!(
        run(&["token", "revoke", "../companies"]).status.code(),
        Some(1)
    );

    let made = printed(&run(&[
        "api",
        "POST",
        "/api/companies",
        "{\"name\": \"Acme\"}",
    ]));
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["name"], json!("Acme"));
    let elsewhere = folder();
    let refused = workforce(&server, elsewhere.path(), &["token", "list"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("credential_missing"));
}

#[test]
fn the_demo_is_told_with_a_token_too() {
    let told = binary()
        .arg("demo")
        .env("WORKFORCE_AUTH", "token")
        .env("WORKFORCE_BOARD_TOKEN", "open-sesame-open-sesame")
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr),
    );
    assert!(
        told.status.success() && out.contains("is done"),
        "{out}\n{err}"
    );
    assert!(!out.contains("open-sesame") && !err.contains("open-sesame"));
}
