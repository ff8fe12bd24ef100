//! Whether an agent could run (docs/agents.md#is-it-ready), asked of an engine whose
//! programs are scripts.

mod places;
mod real_programs;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_domain::adapter_check::{AdapterCheck, CheckItem, CheckName, CheckStatus, SignedIn};
use workforce_domain::agent::AdapterType;
use workforce_domain::id::AgentId;
use workforce_domain::port::{AdapterChecks, AdapterToCheck};
use workforce_domain::secret::SecretProvider;
use workforce_engine::{EngineConfig, EngineHandle};

use crate::secrets::{make, make_outside, reference};
use crate::support::{BOARD, House, is_live};

/// The version of Claude Code that was tried.
const TRIED: &str = "2.1.330";

/// A house with a program of its own.
struct Workshop {
    house: House,
    engine: EngineHandle,
}

impl Workshop {
    fn new() -> Self {
        Self::with(|_config| ())
    }

    fn with(change: impl FnOnce(&mut EngineConfig)) -> Self {
        let house = House::new();
        fs::create_dir(house.path("home")).expect("a home");
        let mut config = house.config();
        change(&mut config);
        let engine = house.start_with(config);
        Self { house, engine }
    }

    /// A file that runs as a shell script.
    fn script(&self, name: &str, script: &str) -> PathBuf {
        let path = self.house.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a mode");
        path
    }

    /// A configuration of Claude Code that works in the folder of the house.
    fn config(&self, command: Option<&PathBuf>) -> Value {
        let home = self.house.path("home");
        json!({
            "command": command, "cwd": self.house.folder.path(),
            "env": { "HOME": home, "IS_SANDBOX": "1" },
        })
    }

    async fn check(&self, adapter_type: AdapterType, config: Value) -> AdapterCheck {
        self.check_of(None, adapter_type, config).await
    }

    async fn check_of(
        &self,
        agent: Option<AgentId>,
        adapter_type: AdapterType,
        config: Value,
    ) -> AdapterCheck {
        let mut adapter_config = document(config);
        adapter_config.retain(|_, value| !value.is_null());
        let company = BOARD.actor.enter(self.house.company).expect("a company");
        let adapter = AdapterToCheck {
            company,
            agent,
            adapter_type,
            adapter_config,
        };
        self.engine.check(adapter).await.expect("an answer")
    }

    async fn check_claude(&self, script: &str) -> AdapterCheck {
        let command = self.script("claude", script);
        let config = self.config(Some(&command));
        self.check(AdapterType::ClaudeLocal, config).await
    }

    /// What lies in the folder of the company's runs.
    fn left(&self) -> usize {
        let folder = self.house.path("data/runs");
        let folder = folder.join(self.house.company.to_string());
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    /// The homes of agents.
    fn homes(&self) -> usize {
        fs::read_dir(self.house.path("data/agents")).map_or(0, Iterator::count)
    }
}

#[track_caller]
fn item(check: &AdapterCheck, name: CheckName) -> &CheckItem {
    let found = check.checks.iter().find(|item| item.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {check:#?}"))
}

#[track_caller]
fn told(check: &AdapterCheck, name: CheckName, status: CheckStatus, words: &str) {
    let item = item(check, name);
    assert_eq!(item.status, status, "{check:#?}");
    assert!(item.message.contains(words), "{words:?}: {check:#?}");
}

fn version(check: &AdapterCheck) -> Option<&str> {
    check.program.as_ref()?.version.as_deref()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_there_tells_its_version_and_leaves_nothing_behind() {
    let shop = Workshop::new();
    let script = format!("echo \"$*\" > asked; pwd >> asked; echo '{TRIED} (Claude Code)'");
    let check = shop.check_claude(&script).await;

    let program = check.program.as_ref().expect("a program");
    assert_eq!(program.path, shop.house.path("claude").to_string_lossy());
    assert_eq!(version(&check), Some(TRIED));
    assert_eq!(program.tested_version.as_deref(), Some(TRIED));
    told(&check, CheckName::Version, CheckStatus::Ok, TRIED);
    told(
        &check,
        CheckName::WorkingDirectory,
        CheckStatus::Ok,
        "can be written",
    );
    told(&check, CheckName::Configuration, CheckStatus::Ok, "");
    told(&check, CheckName::Secrets, CheckStatus::Ok, "");
    // Neither a key nor a login is in its home.
    assert_eq!(check.signed_in, SignedIn::No);
    told(
        &check,
        CheckName::SignIn,
        CheckStatus::Failed,
        "ANTHROPIC_API_KEY",
    );
    assert!(!check.ok);

    let asked = fs::read_to_string(shop.house.path("asked")).expect("what it was asked");
    let folder = shop.house.folder.path().canonicalize().expect("a path");
    assert_eq!(asked, format!("--version\n{}\n", folder.display()));
    assert_eq!((shop.left(), shop.homes()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_version_than_the_tried_one_is_a_warning() {
    let shop = Workshop::new();
    let check = shop.check_claude("echo '1.0.0 (Claude Code)'").await;
    assert_eq!(version(&check), Some("1.0.0"));
    let how = format!("npm install -g @anthropic-ai/claude-code@{TRIED}");
    told(&check, CheckName::Version, CheckStatus::Warning, &how);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_looked_for_in_the_path_of_its_agent() {
    let shop = Workshop::new();
    shop.script("claude", &format!("echo {TRIED}"));
    let mut config = shop.config(None);
    config["env"]["PATH"] = json!(shop.house.folder.path());
    let check = shop.check(AdapterType::ClaudeLocal, config.clone()).await;
    assert_eq!(version(&check), Some(TRIED), "{check:#?}");

    config["env"]["PATH"] = json!("/nowhere");
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    let how = format!("npm install -g @anthropic-ai/claude-code@{TRIED}");
    told(&check, CheckName::Program, CheckStatus::Failed, &how);
    assert_eq!(check.program, None);
    assert_eq!(shop.left(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_executed_is_no_program() {
    let shop = Workshop::new();
    let command = shop.script("claude", "echo 1.0.0");
    fs::set_permissions(&command, Permissions::from_mode(0o644)).expect("a mode");
    let config = shop.config(Some(&command));
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    told(
        &check,
        CheckName::Program,
        CheckStatus::Failed,
        "not executable",
    );
    assert_eq!(check.program, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let shop = Workshop::with(|config| config.check_limit = Duration::from_millis(500));
    let script = "setsid sleep 1000 & echo $! > pids; echo $$ >> pids; trap '' TERM; \
        while :; do sleep 1000; done";
    let check = shop.check_claude(script).await;
    told(
        &check,
        CheckName::Version,
        CheckStatus::Failed,
        "within 0.5 s",
    );
    assert_eq!(version(&check), None);
    let pids = fs::read_to_string(shop.house.path("pids")).expect("its processes");
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        assert!(!is_live(pid.parse().expect("a number")), "{pid} is left");
    }
    assert_eq!(shop.left(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_fails_tells_why_without_a_secret() {
    let shop = Workshop::new();
    let secret = make(&shop.house, "key", "sesame-open");
    let command = shop.script("claude", "echo no node, $ANTHROPIC_API_KEY >&2; exit 3");
    let mut config = shop.config(Some(&command));
    config["env"]["ANTHROPIC_API_KEY"] = reference(&secret, &json!("latest"));
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    let words = "exit code 3: no node, ";
    told(&check, CheckName::Version, CheckStatus::Failed, words);
    told(
        &check,
        CheckName::SignIn,
        CheckStatus::Ok,
        "ANTHROPIC_API_KEY",
    );
    assert_eq!(check.signed_in, SignedIn::Yes);
    let text = format!("{check:?}");
    assert!(!text.contains("sesame"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_without_a_value_is_told() {
    let shop = Workshop::new();
    let outside = make_outside(&shop.house, SecretProvider::Env, "NOT_SET");
    let command = shop.script("claude", &format!("echo {TRIED}"));
    let mut config = shop.config(Some(&command));
    config["env"]["ANTHROPIC_API_KEY"] = reference(&outside, &json!("latest"));
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    told(&check, CheckName::Secrets, CheckStatus::Failed, "NOT_SET");
    told(&check, CheckName::Configuration, CheckStatus::Ok, "");
    assert_eq!(check.signed_in, SignedIn::Unknown);
    assert!(!check.ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_in_the_home_is_a_sign_in_unless_it_is_empty() {
    let shop = Workshop::new();
    let login = shop.house.path("home/.claude/.credentials.json");
    fs::create_dir(shop.house.path("home/.claude")).expect("a folder");
    for (content, signed_in) in [("", SignedIn::No), ("{}", SignedIn::Yes)] {
        fs::write(&login, content).expect("a login");
        let check = shop.check_claude(&format!("echo {TRIED}")).await;
        assert_eq!(check.signed_in, signed_in, "{check:#?}");
        assert_eq!(check.ok, signed_in == SignedIn::Yes, "{check:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_cannot_be_used_is_told_and_nothing_is_started() {
    let shop = Workshop::new();
    let command = shop.script("claude", "touch started; echo 1.0.0");
    let mut config = shop.config(Some(&command));
    config["model"] = json!("--no-model");
    let check = shop.check(AdapterType::ClaudeLocal, config).await;
    told(
        &check,
        CheckName::Configuration,
        CheckStatus::Failed,
        "`model` must be",
    );
    let check = shop.check(AdapterType::Process, json!({})).await;
    told(
        &check,
        CheckName::Configuration,
        CheckStatus::Failed,
        "command",
    );
    assert!(!shop.house.path("started").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_of_a_process_is_found_and_not_executed() {
    let shop = Workshop::new();
    let command = shop.script("work", "touch started");
    let folder = shop.house.folder.path();
    let config = json!({ "command": command, "cwd": folder });
    let check = shop.check(AdapterType::Process, config).await;
    assert!(check.ok, "{check:#?}");
    assert_eq!(version(&check), None);
    let path = check.program.expect("a program").path;
    assert_eq!(path, command.to_string_lossy());
    assert!(!shop.house.path("started").exists());
    assert_eq!((shop.left(), shop.homes()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_looked_up_and_not_called() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let closed = Workshop::new();
    let check = closed.check(AdapterType::Http, json!({ "url": url })).await;
    told(
        &check,
        CheckName::Address,
        CheckStatus::Failed,
        "--http-allow",
    );
    assert!(!check.ok);

    let open = Workshop::with(|config| config.http_allow = vec!["127.0.0.1".parse().unwrap()]);
    let config = json!({ "url": url, "command": "sh", "maxMemoryMb": 100 });
    let check = open.check(AdapterType::Http, config).await;
    told(&check, CheckName::Address, CheckStatus::Ok, "127.0.0.1");
    told(
        &check,
        CheckName::Configuration,
        CheckStatus::Warning,
        "does not use command, maxMemoryMb",
    );
    assert!(check.ok, "{check:#?}");
    let called = listener.accept().map(|(_, from)| from);
    assert!(called.is_err(), "{called:?}");

    let check = open.check(AdapterType::Http, json!({})).await;
    told(
        &check,
        CheckName::Configuration,
        CheckStatus::Failed,
        "adapterConfig.url",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_most_two_checks_go_on_at_once() {
    let shop = Workshop::new();
    let script = format!("echo + >> steps; sleep 0.1; echo - >> steps; echo {TRIED}");
    let command = shop.script("claude", &script);
    let config = shop.config(Some(&command));
    let check = || shop.check(AdapterType::ClaudeLocal, config.clone());
    let checks = tokio::join!(check(), check(), check(), check(), check());
    assert_eq!(version(&checks.4), Some(TRIED), "{:#?}", checks.4);
    let steps = fs::read_to_string(shop.house.path("steps")).expect("the steps");
    let mut at_once = 0_i32;
    for step in steps.lines() {
        at_once += if step == "+" { 1 } else { -1 };
        assert!(at_once <= 2, "{steps}");
    }
    assert_eq!(steps.lines().count(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_that_nobody_waits_for_leaves_nothing_behind() {
    let shop = Workshop::new();
    let command = shop.script("claude", "touch begun; sleep 1000");
    let config = shop.config(Some(&command));
    let begun = shop.house.path("begun");
    tokio::select! {
        check = shop.check(AdapterType::ClaudeLocal, config) => panic!("{check:?}"),
        () = crate::support::eventually("its start", || begun.exists().then_some(())) => {}
    }
    // Which ends it, and waits.
    shop.engine.shutdown().await;
    assert_eq!((shop.left(), shop.homes()), (0, 0));
}
