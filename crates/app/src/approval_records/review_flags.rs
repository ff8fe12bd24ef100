//! What the board should look at twice before it agrees to a hire that an agent
//! proposes (docs/approvals.md#attention).

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::agent::{AdapterType, Agent};
use workforce_domain::approval::{ReviewFlag, ReviewFlagKind};

/// Programs that read commands out of their arguments.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "env"];

/// Parts of switches that turn off a protection.
const DANGEROUS: [&str; 5] = [
    "dangerously",
    "yolo",
    "no-sandbox",
    "bypass",
    "skip-permissions",
];

/// The risky parts of a proposed agent, as pointers into its payload.
pub(crate) fn of(agent: &Agent) -> Vec<ReviewFlag> {
    let mut found = Vec::new();
    let mut mark = |pointer: &str, kind, message: &str| {
        found.push(ReviewFlag {
            pointer: pointer.to_owned(),
            kind,
            message: message.to_owned(),
        });
    };
    if agent.role.as_str() == "ceo" {
        let message = "the ceo may assign work to anyone and hire";
        mark("/role", ReviewFlagKind::PrivilegedRole, message);
    }
    if agent.can_create_agents {
        let message = "the agent could propose and make agents itself";
        mark(
            "/permissions/canCreateAgents",
            ReviewFlagKind::CanCreateAgents,
            message,
        );
    }
    if agent.budget.limit().is_none() {
        let message = "0 is no limit: the agent could spend whatever the company may";
        mark(
            "/budgetMonthlyCents",
            ReviewFlagKind::NoBudgetLimit,
            message,
        );
    }
    adapter(agent, &mut mark);
    found
}

type Mark<'a> = dyn FnMut(&str, ReviewFlagKind, &str) + 'a;

fn adapter(agent: &Agent, mark: &mut Mark<'_>) {
    let config = &agent.adapter_config;
    if let Some(command) = config.get("command") {
        let message = "runs on the machine of the server";
        mark("/adapterConfig/command", ReviewFlagKind::Command, message);
        if command.as_str().is_some_and(is_shell) {
            let message = "a shell runs whatever its arguments say";
            mark("/adapterConfig/command", ReviewFlagKind::Shell, message);
        }
    }
    if config.get("shell").is_some_and(is_set) {
        let message = "the command is read by a shell";
        mark("/adapterConfig/shell", ReviewFlagKind::Shell, message);
    }
    if config.contains_key("url") {
        let message = "is called with the token of the agent's runs";
        mark("/adapterConfig/url", ReviewFlagKind::Address, message);
    }
    for key in ["instructionsFilePath", "instructionsRootPath"] {
        if config.contains_key(key) {
            external(mark, key);
        }
    }
    if config.get("instructionsBundleMode").and_then(Value::as_str) == Some("external") {
        external(mark, "instructionsBundleMode");
    }
    flags(agent.adapter_type, config, mark);
    secrets(config, mark);
}

fn external(mark: &mut Mark<'_>, key: &str) {
    let message = "its instructions lie in a file that can change unseen";
    mark(
        &format!("/adapterConfig/{key}"),
        ReviewFlagKind::ExternalInstructions,
        message,
    );
}

fn flags(adapter: AdapterType, config: &Document, mark: &mut Mark<'_>) {
    let message = "turns off a protection of the program";
    for (key, value) in config {
        let texts = match value {
            Value::Array(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        let named = is_dangerous(key) && is_set(value);
        let said = matches!(key.as_str(), "args" | "extraArgs" | "command")
            && texts.iter().filter_map(Value::as_str).any(is_dangerous);
        if named || said {
            let pointer = format!("/adapterConfig/{}", escaped(key));
            mark(&pointer, ReviewFlagKind::DangerousFlag, message);
        }
    }
    // On by default there, so that silence means yes.
    let bypass = "dangerouslyBypassApprovalsAndSandbox";
    if adapter == AdapterType::CodexLocal && !config.contains_key(bypass) {
        let pointer = format!("/adapterConfig/{bypass}");
        let message = "is on unless it is set to false";
        mark(&pointer, ReviewFlagKind::DangerousFlag, message);
    }
}

fn secrets(config: &Document, mark: &mut Mark<'_>) {
    let Some(env) = config.get("env").and_then(Value::as_object) else {
        return;
    };
    for (name, binding) in env {
        if binding.get("type").and_then(Value::as_str) == Some("secret_ref") {
            let pointer = format!("/adapterConfig/env/{}", escaped(name));
            let message = "the agent's program would be given this secret";
            mark(&pointer, ReviewFlagKind::SecretReference, message);
        }
    }
}

fn is_shell(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    SHELLS.contains(&name)
}

/// True unless a switch is off.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

fn is_dangerous(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    DANGEROUS.iter().any(|part| text.contains(part))
}

/// A name as a JSON pointer spells it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
