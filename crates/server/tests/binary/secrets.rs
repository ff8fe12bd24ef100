//! Secrets, from the interface to the environment of a child and nowhere else.

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use workforce_testkit::postgres::{TestDatabase, database, shared_cluster_url};

use crate::harness::{Server, binary, folder, script};

/// Something of everything that some spelling writes otherwise.
const CANARY: &str = "canary/one +two\"three\\four~7hx2";

/// The spellings of the canary, of which none may be anywhere.
fn spellings() -> Vec<String> {
    let json = serde_json::to_string(CANARY).unwrap();
    let mut spellings = vec![
        CANARY.to_owned(),
        json[1..json.len() - 1].to_owned(),
        "canary%2Fone%20%2Btwo%22three%5Cfour~7hx2".to_owned(),
        "canary%2fone%20%2btwo%22three%5cfour~7hx2".to_owned(),
        "Y2FuYXJ5L29uZSArdHdvInRocmVlXGZvdXJ+N2h4Mg".to_owned(),
    ];
    // What would be left of it in other spellings.
    spellings.extend(["canary/one", "canary%2", "four~7hx2"].map(str::to_owned));
    spellings
}

fn assert_clean(place: &str, content: &[u8]) {
    for spelling in spellings() {
        let found = content
            .windows(spelling.len())
            .any(|window| window == spelling.as_bytes());
        assert!(!found, "{place} holds {spelling}");
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn found_company(server: &Server) -> String {
    let body = json!({ "name": "Acme", "requireBoardApprovalForNewAgents": false });
    server.post("/api/companies", &body)["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn make(server: &Server, company: &str, name: &str, value: &str) -> String {
    let path = format!("/api/companies/{company}/secrets");
    server.post(&path, &json!({ "name": name, "value": value }))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn hire(server: &Server, company: &str, adapter: &Value) -> String {
    let path = format!("/api/companies/{company}/agents");
    let body = json!({ "name": "Ada", "allowSameName": true, "role": "engineer", "adapterConfig": adapter });
    server.post(&path, &body)["id"].as_str().unwrap().to_owned()
}

fn reference(secret: &str) -> Value {
    json!({ "type": "secret_ref", "secretId": secret, "version": "latest" })
}

const LEAKING: &str = r#"
printf '%s' "$CANARY" > "$SEEN.part"; mv "$SEEN.part" "$SEEN"
tr '\0' '\n' < /proc/$$/cmdline > "$ARGV"
as_json=$(printf '%s' "$CANARY" | sed -e 's/\\/\\\\/g; s/"/\\"/g')
echo "raw $CANARY end"
echo "raw $CANARY end" >&2
echo "b64 $(printf '%s' "$CANARY" | base64) end"
echo "json {\"key\": \"$as_json\"} end"
echo "url $(printf '%s' "$CANARY" | sed -e 's/ /%20/g; s#/#%2F#g; s/+/%2B/g; s/"/%22/g; s/\\/%5C/g') end"
printf 'split '
printf '%s' "$CANARY" | cut -c1-9 | tr -d '\n'
printf 'aside\n' >&2
sleep 0.1
printf '%s' "$CANARY" | cut -c10-
issue=/api/issues/$WORKFORCE_TASK_ID
"$CLI" api POST $issue/comments "{\"body\": \"I was given $as_json, which is $(printf '%s' "$CANARY" | base64)\"}"
"$CLI" api PATCH $issue "{\"title\": \"About $as_json\", \"description\": \"$as_json\"}"
"$CLI" api POST /api/companies/$WORKFORCE_COMPANY_ID/issues "{\"title\": 5, \"description\": \"$as_json\"}"
"$CLI" api POST /api/companies/$WORKFORCE_COMPANY_ID/cost-events "{\"agentId\": \"$WORKFORCE_AGENT_ID\", \"costCents\": 0.5, \"provider\": \"$as_json\", \"model\": \"m\"}"
echo "failed because of $CANARY" >&2
exit 7
"#;

#[test]
fn a_secret_is_in_the_environment_of_the_child_and_nowhere_else_on_sqlite() {
    look_for_a_secret(None);
}

#[test]
fn a_secret_is_in_the_environment_of_the_child_and_nowhere_else_on_postgres() {
    if let Some(cluster) = shared_cluster_url() {
        look_for_a_secret(Some(&database(&cluster)));
    }
}

fn look_for_a_secret(database: Option<&TestDatabase>) {
    let place = folder();
    let data = place.path().join("data");
    let (seen, argv) = (place.path().join("seen"), place.path().join("argv"));
    let flags: Vec<&str> = database
        .into_iter()
        .flat_map(|database| ["--database-url", database.url()])
        .collect();
    let server = Server::start_with(&data, &flags, &[]);
    let company = found_company(&server);
    let secret = make(&server, &company, "canary", CANARY);
    let program = script(place.path(), "agent.sh", LEAKING);
    let agent = hire(
        &server,
        &company,
        &json!({
            "command": "/bin/sh", "args": [program],
            "env": {
                "CANARY": reference(&secret), "SEEN": seen, "ARGV": argv,
                "CLI": env!("CARGO_BIN_EXE_workforce"),
            },
        }),
    );
    let issues = format!("/api/companies/{company}/issues");
    let body = json!({ "title": "Leak", "status": "todo", "assigneeAgentId": agent });
    let issue = server.post(&issues, &body)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let runs = format!("/api/issues/{issue}/runs");
    let ended = server.wait_for(&runs, |runs| runs[0]["status"] == "failed");
    let run = ended[0]["id"].as_str().unwrap().to_owned();

    // The child had it, and everything else tells that it was there.
    assert_eq!(std::fs::read_to_string(seen).unwrap(), CANARY);
    assert_clean("argv", &std::fs::read(argv).unwrap());
    let log = server.get(&format!("/api/heartbeat-runs/{run}/log?limitBytes=1000000"));
    let log = log["content"].as_str().unwrap();
    for line in ["raw", "b64", "url"] {
        assert!(
            log.contains(&format!("{line} ***REDACTED***")),
            "{line} in {log}"
        );
    }
    // What came in two pieces is whole again, wherever the line of the other stream is put.
    let of_stdout = log.replace("aside\n", "");
    assert!(of_stdout.contains("split ***REDACTED***\n"), "{log}");
    assert!(
        log.contains(r#"json {"key": "***REDACTED***"} end"#),
        "{log}"
    );
    let comments = server.get(&format!("/api/issues/{issue}/comments"));
    assert_eq!(
        comments[0]["body"],
        "I was given ***REDACTED***, which is ***REDACTED***"
    );
    let changed = server.get(&format!("/api/issues/{issue}"));
    assert_eq!(changed["title"], "About ***REDACTED***");

    for path in [
        format!("/api/heartbeat-runs/{run}"),
        format!("/api/heartbeat-runs/{run}/log?limitBytes=1000000"),
        format!("/api/issues/{issue}"),
        format!("/api/issues/{issue}/comments"),
        format!("/api/issues/{issue}/runs"),
        format!("/api/companies/{company}/activity"),
        format!("/api/companies/{company}/issues"),
        format!("/api/companies/{company}/agents"),
        format!("/api/companies/{company}/secrets"),
        format!("/api/companies/{company}/heartbeat-runs"),
        format!("/api/agents/{agent}"),
        format!("/api/secrets/{secret}"),
        format!("/api/secrets/{secret}/usage"),
        format!("/api/secrets/{secret}/versions"),
    ] {
        assert_clean(&path, server.get(&path).to_string().as_bytes());
    }
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
    let files = files(&data);
    let in_file = files.iter().any(|file| file.ends_with("workforce.db"));
    assert_eq!(in_file, database.is_none(), "{files:?}");
    for file in files {
        let content = std::fs::read(&file).unwrap();
        assert_clean(&file.display().to_string(), &content);
    }
    if let Some(rows) = database.map(TestDatabase::dump) {
        assert!(rows.contains("About ***REDACTED***"), "{rows}");
        assert_clean("the database", rows.as_bytes());
        let digits: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!rows.contains(&digits), "the database holds its bytes");
    }
}

/// Runs an agent that is given every secret; the values it saw.
fn seen_by_a_run(server: &Server, place: &Path, agent: &str) -> String {
    let seen = place.join("seen");
    let _ = std::fs::remove_file(&seen);
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let ended = server.wait_for(&run, |run| {
        run["status"] != "queued" && run["status"] != "running"
    });
    assert_eq!(ended["status"], "succeeded", "{ended}");
    std::fs::read_to_string(seen).unwrap()
}

#[test]
fn the_master_key_is_changed_although_the_server_is_killed() {
    const SECRETS: usize = 12;
    const VERSIONS: usize = 40;
    let place = folder();
    let data = place.path().join("data");
    let server = Server::start(&data);
    let company = found_company(&server);
    let mut env = json!({ "SEEN": place.path().join("seen") });
    let mut expected = String::new();
    for n in 0..SECRETS {
        let secret = make(&server, &company, &format!("s{n}"), "an early value");
        for version in 1..VERSIONS {
            let body = json!({ "value": format!("value {n} {version}") });
            server.post(&format!("/api/secrets/{secret}/rotate"), &body);
        }
        env[format!("S{n:02}")] = reference(&secret);
        expected.push_str(&format!("S{n:02}=value {n} {}\n", VERSIONS - 1));
    }
    let program = script(
        place.path(),
        "agent.sh",
        "env | grep '^S[0-9]' | sort > \"$SEEN\"\n",
    );
    let adapter = json!({ "command": "/bin/sh", "args": [program], "env": env });
    let agent = hire(&server, &company, &adapter);
    assert_eq!(seen_by_a_run(&server, place.path(), &agent), expected);
    let key = std::fs::read_to_string(data.join("master.key")).unwrap();

    // Killed wherever it may be in its work.
    let begun = server.post("/api/secrets/rotate-key", &json!({}));
    assert_ne!(begun["currentKeyId"], begun["formerKeyIds"][0]);
    server.signal(Signal::SIGKILL);
    server.wait();
    let kept = std::fs::read_to_string(data.join("master.key")).unwrap();
    assert!(kept.contains(key.trim()) || kept.lines().count() == 1);

    let server = Server::start(&data);
    assert_eq!(seen_by_a_run(&server, place.path(), &agent), expected);
    let path = "/api/secrets/rotate-key";
    let status = server.wait_for(path, |status| status["complete"] == true);
    assert_eq!(
        (
            &status["remaining"],
            &status["source"],
            &status["currentKeyId"]
        ),
        (&json!(0), &json!("file"), &begun["currentKeyId"])
    );
    let changed = std::fs::read_to_string(data.join("master.key")).unwrap();
    assert!(!changed.contains(key.trim()) && changed.lines().count() == 1);
    assert_eq!(seen_by_a_run(&server, place.path(), &agent), expected);

    // And once more from the command line, without any accident.
    let output = binary()
        .args(["secrets", "rotate-key", "--url", &server.base])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let last = std::fs::read_to_string(data.join("master.key")).unwrap();
    assert!(last != changed && last.lines().count() == 1);
    assert_eq!(seen_by_a_run(&server, place.path(), &agent), expected);
    drop(server);

    // The key of before opens nothing any more.
    std::fs::write(data.join("master.key"), changed).unwrap();
    let output = binary()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&data)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("not the one that this database was sealed with"),
        "{told}"
    );
}

#[test]
fn a_key_from_the_environment_is_changed_there() {
    let (old, new) = ("11".repeat(32), "22".repeat(32));
    let place = folder();
    let data = place.path().join("data");
    let seen = place.path().join("seen");
    let server = Server::start_with(&data, &[], &[("WORKFORCE_MASTER_KEY", &old)]);
    assert!(!data.join("master.key").exists());
    let company = found_company(&server);
    let secret = make(&server, &company, "token", "some value");
    let program = script(place.path(), "agent.sh", "env | grep -v SEEN > \"$SEEN\"\n");
    let env = json!({ "SEEN": seen, "TOKEN": reference(&secret) });
    let adapter = json!({ "command": "/bin/sh", "args": [program], "env": env });
    let agent = hire(&server, &company, &adapter);
    let given = seen_by_a_run(&server, place.path(), &agent);
    assert!(
        given.contains("TOKEN=some value") && !given.contains(&old),
        "{given}"
    );
    let (status, answer) = server.send("POST", "/api/secrets/rotate-key", None, &json!({}));
    assert_eq!(
        (status, &answer["code"]),
        (409, &json!("key_rotation_unavailable"))
    );
    drop(server);

    let both = [
        ("WORKFORCE_MASTER_KEY", new.as_str()),
        ("WORKFORCE_MASTER_KEY_PREVIOUS", old.as_str()),
    ];
    let server = Server::start_with(&data, &[], &both);
    server.wait_for("/api/secrets/rotate-key", |status| status["remaining"] == 0);
    drop(server);
    let server = Server::start_with(&data, &[], &[("WORKFORCE_MASTER_KEY", &new)]);
    let given = seen_by_a_run(&server, place.path(), &agent);
    assert!(given.contains("TOKEN=some value"), "{given}");
}

#[test]
fn strict_mode_is_switched_on_by_a_flag() {
    let place = folder();
    let server = Server::start_with(place.path(), &["--strict-secrets"], &[]);
    let company = found_company(&server);
    let body = json!({ "name": "Ada", "adapterConfig": { "env": { "API_KEY": "inline" } } });
    let path = format!("/api/companies/{company}/agents");
    let (status, answer) = server.send("POST", &path, None, &body);
    assert_eq!((status, &answer["code"]), (422, &json!("secret_required")));
}
