//! Credentials are looked for where they must not be: in the data folder, in
//! the log, and in any answer but the one that showed them.

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use workforce_testkit::postgres::{TestDatabase, database, shared_cluster_url};

use crate::harness::{Server, folder, script};

const START: &str = "wfb_canarium_the-start-token-of-the-canary-test-000";

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

/// Whether a text is among rows, also as bytes.
fn holds_row_with(rows: &str, text: &str) -> bool {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    rows.contains(text) || rows.contains(&digits)
}

/// Sends requests and keeps every answer, but for those that show a value.
struct Witness<'a> {
    server: &'a Server,
    seen: Vec<(String, Value)>,
}

impl Witness<'_> {
    fn ask(&mut self, method: &str, path: &str, token: Option<&str>, body: &Value) -> Value {
        let (status, answer) = self.server.send(method, path, token, body);
        let asked = format!("{method} {path}: {status}");
        self.seen.push((asked, answer.clone()));
        answer
    }

    /// What shows a value once: the record and the value, which is taken out.
    fn make(&mut self, path: &str) -> (Value, String) {
        let (status, mut made) = self.server.send("POST", path, Some(START), &json!({}));
        assert_eq!(status, 201, "{path}: {made}");
        let value = ["token", "ticket"]
            .iter()
            .find_map(|shown| made[*shown].as_str())
            .unwrap()
            .to_owned();
        for shown in ["token", "key", "ticket"] {
            if let Some(shown) = made.get_mut(shown) {
                *shown = Value::Null;
            }
        }
        self.seen.push((path.to_owned(), made.clone()));
        (made, value)
    }
}

#[test]
fn no_credential_lies_about_on_sqlite() {
    look_for_credentials(None);
}

#[test]
fn no_credential_lies_about_on_postgres() {
    if let Some(cluster) = shared_cluster_url() {
        look_for_credentials(Some(&database(&cluster)));
    }
}

fn look_for_credentials(database: Option<&TestDatabase>) {
    let (data, outside) = (folder(), folder());
    let variables = [("WORKFORCE_BOARD_TOKEN", START), ("WORKFORCE_LOG", "debug")];
    let mut flags = vec!["--auth", "token"];
    flags.extend(
        database
            .into_iter()
            .flat_map(|database| ["--database-url", database.url()]),
    );
    let server = Server::start_with(data.path(), &flags, &variables);
    let log = server.log();
    let mut witness = Witness {
        server: &server,
        seen: Vec::new(),
    };
    let board = Some(START);
    let company = witness.ask("POST", "/api/companies", board, &json!({ "name": "Acme" }));
    let company = company["id"].as_str().unwrap().to_owned();

    // An agent that tells everything it knows, as far as it can.
    let told = outside.path().join("environment");
    let program = script(
        outside.path(),
        "agent.sh",
        &format!(
            "env; echo \"my key: $WORKFORCE_API_KEY\" >&2\n\
             env > {0}.part && mv {0}.part {0}\n\
             $CLI api GET /api/agents/me; $CLI api GET /api/board-tokens; exit 0\n",
            told.display()
        ),
    );
    let cli = env!("CARGO_BIN_EXE_workforce");
    let adapter = json!({ "command": "/bin/sh", "args": [program], "env": { "CLI": cli } });
    let hire = json!({ "name": "Ada", "allowSameName": true, "role": "engineer", "adapterConfig": adapter });
    let path = format!("/api/companies/{company}/agents");
    let agent = witness.ask("POST", &path, board, &hire);
    let agent = format!("/api/agents/{}", agent["id"].as_str().unwrap());

    let (token, token_value) = witness.make("/api/board-tokens");
    let (_, key_value) = witness.make(&format!("{agent}/keys"));
    witness.ask("GET", "/api/companies", Some(&token_value), &Value::Null);
    witness.ask("GET", "/api/agents/me", Some(&key_value), &Value::Null);
    let invalid = format!("{key_value}x");
    witness.ask("GET", "/api/agents/me", Some(&invalid), &Value::Null);

    let events = format!("/api/companies/{company}/events");
    let [used_ticket, kept_ticket] = [0; 2].map(|_| {
        let (_, value) = witness.make(&format!("{events}/tickets"));
        value
    });
    // The second time it is used up.
    for expected in [200, 401] {
        let (status, _) = server.send(
            "HEAD",
            &format!("{events}?ticket={used_ticket}"),
            None,
            &Value::Null,
        );
        assert_eq!(status, expected);
    }
    let misplaced = format!("/api/companies?ticket={kept_ticket}");
    let (status, refused) = server.send("GET", &misplaced, None, &Value::Null);
    assert_eq!(status, 401);
    witness
        .seen
        .push(("a misplaced ticket".to_owned(), refused));

    let run = witness.ask(
        "POST",
        &format!("{agent}/heartbeat/invoke"),
        board,
        &json!({}),
    );
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let ended = loop {
        let (status, run) = server.send("GET", &run, board, &Value::Null);
        assert_eq!(status, 200, "{run}");
        if run["status"] != "queued" && run["status"] != "running" {
            break run;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(ended["status"], "succeeded", "{ended}");
    let environment = std::fs::read_to_string(&told).unwrap();
    let run_value = environment
        .lines()
        .find_map(|line| line.strip_prefix("WORKFORCE_API_KEY="))
        .unwrap()
        .to_owned();
    assert!(run_value.starts_with("wfr_"));
    assert!(!environment.contains("BOARD_TOKEN") && !environment.contains(START));

    let token = format!("/api/board-tokens/{}", token["id"].as_str().unwrap());
    witness.ask("DELETE", &token, board, &Value::Null);
    for path in [
        "/api/board-tokens",
        "/api/companies",
        &format!("{agent}/keys"),
        &agent,
        &run,
        &format!("{run}/log"),
        &format!("/api/companies/{company}/activity"),
        "/api/health/ready",
        "/metrics",
    ] {
        for credential in [
            board,
            Some(&key_value),
            Some(&token_value),
            Some(&run_value),
            None,
        ] {
            witness.ask("GET", path, credential, &Value::Null);
        }
    }
    let seen = witness.seen;
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));

    let secrets = [
        START,
        &token_value,
        &key_value,
        &run_value,
        &used_ticket,
        &kept_ticket,
    ];
    let mut kept = Vec::new();
    files(data.path(), &mut kept);
    let in_file = kept.iter().any(|path| path.ends_with("workforce.db"));
    assert_eq!(in_file, database.is_none());
    let rows = database.map(TestDatabase::dump).unwrap_or_default();
    assert_eq!(rows.contains("Acme"), database.is_some());
    for secret in secrets {
        assert!(
            !holds_row_with(&rows, secret),
            "the database holds {secret}"
        );
        for (asked, answer) in &seen {
            assert!(
                !answer.to_string().contains(secret),
                "{asked} tells {secret}"
            );
        }
        for path in &kept {
            let content = std::fs::read(path).unwrap();
            assert!(
                !holds(&content, secret),
                "{} holds {secret}",
                path.display()
            );
        }
        assert!(
            !log.lock().unwrap().contains(secret),
            "the log holds {secret}"
        );
    }
}
