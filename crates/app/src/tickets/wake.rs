//! The agent of a ticket is told what became of its work.

use serde_json::{Value, json};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{EmployedAgent, StoreError, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::activity_log::document;
use crate::context::Context;
use crate::wakes::{self, WakeRequest};

/// Wakes the agent of a ticket with facts about its work: to go on with it, or only to know
/// where the issue has ended.
pub(crate) fn wake_agent(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    agent: &EmployedAgent,
    reason: WakeReason,
    facts: Value,
) -> Result<(), StoreError> {
    let mut payload = document(facts);
    payload.insert("issueId".to_owned(), json!(issue.id));
    let request = WakeRequest {
        kind: match issue.status().is_terminal() {
            true => RunKind::Consult,
            false => RunKind::Execution,
        },
        payload,
        ..WakeRequest::about(agent, issue.id, WakeSource::Automation, reason)
    };
    wakes::request(tx, ctx, request).map(drop)
}
