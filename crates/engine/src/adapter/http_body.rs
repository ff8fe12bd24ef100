//! What an agent is told that is called by HTTP (docs/heartbeats.md#http-adapter).

use std::path::Path;

use serde_json::{Value, json};
use workforce_app::prompt::Prompt;
use workforce_domain::JsonMap;

use crate::config::EngineConfig;
use crate::run_context::RunContext;
use crate::run_environment::facts;

/// The facts of the environment that are of use elsewhere, with their names in the
/// context. Paths of this computer are not.
const TOLD: [(&str, &str); 12] = [
    ("TASK_ID", "taskId"),
    ("TASK_IDENTIFIER", "taskIdentifier"),
    ("TICKET_KEY", "ticketKey"),
    ("WAKE_REASON", "wakeReason"),
    ("WAKE_COMMENT_ID", "wakeCommentId"),
    ("APPROVAL_ID", "approvalId"),
    ("APPROVAL_STATUS", "approvalStatus"),
    ("LOCALE", "locale"),
    ("WORKSPACE_ID", "workspaceId"),
    ("WORKSPACE_REPO_URL", "workspaceRepoUrl"),
    ("WORKSPACE_REPO_REF", "workspaceRepoRef"),
    (LINKED_ISSUE_IDS, "linkedIssueIds"),
];
const LINKED_ISSUE_IDS: &str = "LINKED_ISSUE_IDS";
const WAKE_PAYLOAD: &str = "WAKE_PAYLOAD_JSON";

/// The body: the agent's own template, over which stands what workforce tells. It
/// holds the run's token.
pub(super) fn body(
    config: &EngineConfig,
    context: &RunContext,
    template: JsonMap,
    prompt: &Prompt,
) -> JsonMap {
    let claimed = &context.claimed;
    let url = config.outside_url();
    let run = claimed.run.id;
    let mut body = template;
    let mut tell = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    tell("agentId", json!(claimed.agent.id));
    tell("runId", json!(run));
    tell("companyId", json!(claimed.company.id));
    tell("apiUrl", json!(url));
    tell("authToken", json!(context.token.token));
    tell(
        "callbackUrl",
        json!(format!("{url}/api/heartbeat-runs/{run}/complete")),
    );
    tell("context", told(config, context, prompt).into());
    body
}

fn told(config: &EngineConfig, context: &RunContext, prompt: &Prompt) -> JsonMap {
    let mut told = JsonMap::new();
    for (name, value) in facts(config, context, Path::new("")) {
        let value = value.to_string_lossy();
        if name == WAKE_PAYLOAD {
            let payload = serde_json::from_str(&value).unwrap_or_default();
            told.insert("wakePayload".to_owned(), payload);
        } else if let Some((_, key)) = TOLD.iter().find(|(known, _)| *known == name) {
            let value = match name {
                LINKED_ISSUE_IDS => value.split(',').collect(),
                _ => Value::from(value),
            };
            told.insert((*key).to_owned(), value);
        }
    }
    told.insert("prompt".to_owned(), json!(prompt.joined()));
    told
}
