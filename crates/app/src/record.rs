//! Writing down what happened: an activity row and the live events it causes,
//! in the transaction of what it tells (contract sections 6 and 10.11).

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::id::CompanyId;
use workforce_domain::port::Tx;
use workforce_domain::word::Word;

use crate::call::Call;
use crate::changes::Changes;

/// What was done to what.
pub struct Deed<'a> {
    /// The company it happened in.
    pub company: CompanyId,
    /// What was done.
    pub action: Action,
    /// To what kind of thing.
    pub entity: Entity,
    /// To which thing.
    pub id: &'a dyn std::fmt::Display,
    /// More about it.
    pub details: Document,
}

/// Records a deed of the caller that changes no record, or makes or ends one.
pub fn record(tx: &mut dyn Tx, call: &Call<'_>, deed: Deed<'_>) {
    record_changes(tx, call, deed, Changes::none());
}

/// Records a deed of the caller with what it changed.
///
/// The changes are kept with the activity alone. Events are sent to everyone who listens, in
/// pages that are bounded in rows only, and say no more than that there is something to read.
pub(crate) fn record_changes(tx: &mut dyn Tx, call: &Call<'_>, deed: Deed<'_>, changes: Changes) {
    let actor = call.actor();
    let entity_id = deed.id.to_string();
    let payload = document(json!({
        "action": deed.action,
        "actorType": actor.kind(),
        "actorId": actor.name(),
        "agentId": actor.agent_id(),
        "runId": actor.run(),
        "entityType": deed.entity,
        "entityId": entity_id,
        "details": deed.details,
    }));
    let event = |kind, payload| Event {
        company: deed.company,
        kind,
        payload,
        created_at: call.now,
    };
    if let Some(kind) = event_kind(deed.action) {
        tx.journal().event(event(kind, payload.clone()));
    }
    tx.journal()
        .event(event(EventKind::ActivityLogged, payload));
    let mut details = deed.details;
    changes.add_to(&mut details);
    tx.journal().activity(Activity {
        id: call.id(),
        company: deed.company,
        actor_kind: actor.kind(),
        actor_id: actor.name(),
        agent: actor.agent_id(),
        run: actor.run(),
        action: deed.action,
        entity: deed.entity,
        entity_id,
        details,
        created_at: call.now,
    });
}

/// The event beside `activity.logged` that an action causes, if any.
fn event_kind(action: Action) -> Option<EventKind> {
    match action {
        Action::BudgetSoftAlert => Some(EventKind::BudgetAlert),
        Action::BudgetHardStop => Some(EventKind::BudgetHardStop),
        Action::HeartbeatInvoked => Some(EventKind::RunQueued),
        Action::HeartbeatStarted | Action::HeartbeatFinished | Action::HeartbeatCancelled => {
            Some(EventKind::RunStatus)
        }
        Action::AgentHired
        | Action::AgentPaused
        | Action::AgentResumed
        | Action::AgentTerminated => Some(EventKind::AgentStatus),
        _ if action.as_str().starts_with("issue.") => Some(EventKind::IssueUpdated),
        _ if action.as_str().starts_with("approval.") => Some(EventKind::ApprovalUpdated),
        _ => None,
    }
}

/// The object that `json!` made.
pub fn document(value: serde_json::Value) -> Document {
    match value {
        serde_json::Value::Object(object) => object,
        _ => Document::new(),
    }
}
