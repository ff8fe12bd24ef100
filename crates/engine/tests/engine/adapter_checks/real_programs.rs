//! The real programs, where they are installed.

use serde_json::json;
use workforce_domain::adapter_check::{CheckName, CheckStatus, SignedIn};
use workforce_domain::agent::AdapterType;
use workforce_model_imitation::{Program, installed_for_test};

use super::{Workshop, told, version};

async fn is_ready(program: Program, kind: AdapterType, key: &str) {
    let Some(executable) = installed_for_test(program) else {
        return;
    };
    let shop = Workshop::new();
    let mut config = shop.config(Some(&executable));
    let check = shop.check(kind, config.clone()).await;
    assert_eq!(check.signed_in, SignedIn::No, "{check:#?}");
    config["env"][key] = json!("sesame");
    let check = shop.check(kind, config).await;
    assert_eq!(version(&check), Some(program.version()), "{check:#?}");
    told(&check, CheckName::Version, CheckStatus::Ok, "as tried");
    assert_eq!(check.signed_in, SignedIn::Yes, "{check:#?}");
    assert!(check.ok, "{check:#?}");
    assert_eq!((shop.left(), shop.homes()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_code_is_ready_with_a_key() {
    is_ready(
        Program::Claude,
        AdapterType::ClaudeLocal,
        "ANTHROPIC_API_KEY",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_is_ready_with_a_key() {
    is_ready(Program::Codex, AdapterType::CodexLocal, "CODEX_API_KEY").await;
}
