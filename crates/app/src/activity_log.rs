//! Writing down what happened: an activity row and the live events it causes,
//! in the transaction of what it tells (docs/events.md#kinds).

mod subjects;

use std::fmt;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{Locked, Tx};
use workforce_domain::string_enum::StringEnum;

use crate::changes::{Changes, Recorded};
use crate::context::Context;

/// Something that activity is about.
pub(crate) trait ActivitySubject {
    /// The company it belongs to, and what names it there.
    fn subject_ref(&self) -> SubjectRef;

    /// What every activity about it tells besides.
    fn context(&self) -> Document {
        Document::new()
    }
}

/// Where activity finds its subject.
pub(crate) struct SubjectRef {
    company: CompanyId,
    entity: Entity,
    id: String,
}

impl SubjectRef {
    pub(crate) fn new(company: CompanyId, entity: Entity, id: impl fmt::Display) -> Self {
        let id = id.to_string();
        Self {
            company,
            entity,
            id,
        }
    }
}

/// Records a deed of the caller that makes or ends a thing, or leaves it as it is.
pub(crate) fn log_activity(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    action: Action,
    subject: &impl ActivitySubject,
    details: Value,
) {
    log_activity_with(tx, ctx, action, subject, details, Changes::none());
}

/// Records a deed of the caller, with what it changed of a locked record and no activity says yet.
pub(crate) fn log_change<T: ActivitySubject + Recorded + CompanyOwned + Clone>(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    action: Action,
    record: &mut Locked<T>,
    details: Value,
) {
    let changes = Changes::of(record);
    log_activity_with(tx, ctx, action, record, details, changes);
}

/// Records a deed of the caller with changes that the subject's record does not hold, such as
/// changes of rows beside it.
///
/// Only the activity keeps the values. Events go to everyone who listens, in pages that are bounded
/// in rows only, so they name the fields alone.
pub(crate) fn log_activity_with(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    action: Action,
    subject: &impl ActivitySubject,
    details: Value,
    changes: Changes,
) {
    let actor = ctx.actor();
    let SubjectRef {
        company,
        entity,
        id: entity_id,
    } = subject.subject_ref();
    let mut details = document(details);
    details.extend(subject.context());
    if !changes.is_empty() {
        details.insert("changed".to_owned(), json!(changes.names()));
    }
    let payload = document(json!({
        "action": action,
        "actorType": actor.kind(),
        "actorId": actor.name(),
        "agentId": actor.agent_id(),
        "runId": actor.run(),
        "entityType": entity,
        "entityId": entity_id,
        "details": details,
    }));
    let event = |kind, payload| Event {
        company,
        kind,
        payload,
        created_at: ctx.now,
    };
    if let Some(kind) = event_kind(action) {
        tx.journal().event(event(kind, payload.clone()));
    }
    tx.journal()
        .event(event(EventKind::ActivityLogged, payload));
    changes.add_to(&mut details);
    tx.journal().activity(Activity {
        id: ctx.id(),
        company,
        actor_kind: actor.kind(),
        actor_id: actor.name(),
        agent: actor.agent_id(),
        run: actor.run(),
        action,
        entity,
        entity_id,
        details,
        created_at: ctx.now,
    });
}

/// The event beside `activity.logged` that an action causes, if any.
fn event_kind(action: Action) -> Option<EventKind> {
    match action {
        Action::BudgetSoftAlert => Some(EventKind::BudgetAlert),
        Action::BudgetHardStop => Some(EventKind::BudgetHardStop),
        Action::HeartbeatInvoked => Some(EventKind::RunQueued),
        Action::HeartbeatStarted
        | Action::HeartbeatFinished
        | Action::HeartbeatCancelled
        | Action::HeartbeatCompleted => Some(EventKind::RunStatus),
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
pub fn document(value: Value) -> Document {
    match value {
        Value::Object(object) => object.into(),
        _ => Document::new(),
    }
}
