//! Whether real agent programs could run for the real server, in its containment.

use serde_json::{Value, json};
use workforce_model_imitation::{Program, installed_for_test};

use crate::harness::{Server, folder};

fn is_ready(program: Program, adapter_type: &str, key: &str) {
    let Some(executable) = installed_for_test(program) else {
        return;
    };
    let (data, places) = (folder(), folder());
    let contained = [("WORKFORCE_CONTAINMENT", "best-effort")];
    let server = Server::start_with(data.path(), &[], &contained);
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    let company = company["id"].as_str().unwrap();
    let env = json!({ "HOME": places.path(), "IS_SANDBOX": "1", key: "sesame" });
    let config = json!({ "command": executable, "cwd": places.path(), "env": env });
    let draft = json!({ "adapterType": adapter_type, "adapterConfig": config });
    let check = server.post(&format!("/api/companies/{company}/adapter-check"), &draft);
    assert_eq!(check["program"]["version"], program.version(), "{check:#}");
    assert_eq!(check["signedIn"], "yes", "{check:#}");
    assert_eq!(check["ok"], true, "{check:#}");
    let checks = check["checks"].as_array().unwrap();
    let failed = |item: &&Value| item["status"] == "failed";
    assert_eq!(checks.iter().find(failed), None);
    assert!(!check.to_string().contains("sesame"));

    let hired = json!({
        "name": "Ada", "allowSameName": true, "adapterType": adapter_type, "adapterConfig": { "command": "/nowhere" },
    });
    let hired = server.post(&format!("/api/companies/{company}/agents"), &hired);
    let path = format!(
        "/api/agents/{}/adapter-check",
        hired["id"].as_str().unwrap()
    );
    let check = server.post(&path, &json!({}));
    assert_eq!(check["program"], Value::Null, "{check:#}");
    assert_eq!(check["ok"], false, "{check:#}");
}

#[test]
fn claude_code_is_found_ready() {
    is_ready(Program::Claude, "claude_local", "ANTHROPIC_API_KEY");
}

#[test]
fn codex_is_found_ready() {
    is_ready(Program::Codex, "codex_local", "CODEX_API_KEY");
}
