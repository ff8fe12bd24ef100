//! Where a program would work, and as whom.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use nix::unistd::geteuid;
use serde_json::json;
use workforce_domain::adapter_check::{CheckName, CheckStatus, SignedIn};
use workforce_domain::agent::AdapterType;
use workforce_engine::AgentHome;
use workforce_guard::RunAs;

use super::{TRIED, Workshop, told, version};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_is_not_there_is_told_and_the_version_all_the_same() {
    let shop = Workshop::new();
    let command = shop.script("claude", &format!("echo {TRIED}"));
    let mut config = shop.config(Some(&command));
    config["cwd"] = json!(shop.house.path("nowhere"));
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    told(
        &check,
        CheckName::WorkingDirectory,
        CheckStatus::Failed,
        "nowhere",
    );
    assert_eq!(version(&check), Some(TRIED), "{check:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_user_of_runs_is_who_looks() {
    let is_root = geteuid().is_root();
    let run_as = is_root.then(|| RunAs::resolve("nobody").expect("a user"));
    let shop = Workshop::with(|config| config.containment.run_as = run_as.clone());
    let folder = shop.house.folder.path();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("a mode");
    let script = format!("id -u > /dev/null; echo {TRIED}");
    let command = shop.script("claude", &script);
    let closed = shop.house.path("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, Permissions::from_mode(0o555)).expect("a mode");
    // A login that only the owner of the home may read is none for another user.
    let login = shop.house.path("home/.claude/.credentials.json");
    fs::create_dir(shop.house.path("home/.claude")).expect("a folder");
    fs::write(&login, "{}").expect("a login");
    fs::set_permissions(&login, Permissions::from_mode(0o600)).expect("a mode");
    let mut config = shop.config(Some(&command));
    config["cwd"] = json!(closed);

    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    let words = "cannot be written by the user of its runs";
    told(
        &check,
        CheckName::WorkingDirectory,
        CheckStatus::Warning,
        words,
    );
    assert_eq!(version(&check), Some(TRIED), "{check:#?}");
    let expected = if is_root { SignedIn::No } else { SignedIn::Yes };
    assert_eq!(check.signed_in, expected, "{check:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_looked_at_in_its_own_home_and_a_draft_in_an_empty_one() {
    let shop = Workshop::with(|config| config.agent_home = AgentHome::Private);
    let agent = shop.house.hire_shell("true");
    let home = shop.house.path("data/agents").join(agent.to_string());
    fs::create_dir_all(home.join(".claude")).expect("a home");
    fs::write(home.join(".claude/.credentials.json"), "{}").expect("a login");
    let command = shop.script("claude", &format!("echo {TRIED}"));
    let config = json!({ "command": command, "env": { "IS_SANDBOX": "1" } });

    let kind = AdapterType::ClaudeLocal;
    let check = shop.check_of(Some(agent), kind, config.clone()).await;
    assert_eq!(check.signed_in, SignedIn::Yes, "{check:#?}");
    let shown = home.to_string_lossy();
    told(&check, CheckName::WorkingDirectory, CheckStatus::Ok, &shown);
    let check = shop.check(kind, config).await;
    assert_eq!(check.signed_in, SignedIn::No, "{check:#?}");
    // That of the draft is gone.
    assert_eq!((shop.left(), shop.homes()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_code_as_root_is_a_warning() {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: the tests do not run as root");
        return;
    }
    let shop = Workshop::new();
    let command = shop.script("claude", &format!("echo {TRIED}"));
    let mut config = shop.config(Some(&command));
    config["env"]["IS_SANDBOX"] = json!("0");
    let check = shop.check(AdapterType::ClaudeLocal, config.clone()).await;
    let words = "IS_SANDBOX=1";
    told(
        &check,
        CheckName::WorkingDirectory,
        CheckStatus::Warning,
        words,
    );
    config["dangerouslySkipPermissions"] = json!(true);
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    told(
        &check,
        CheckName::Configuration,
        CheckStatus::Failed,
        "as root",
    );
}
