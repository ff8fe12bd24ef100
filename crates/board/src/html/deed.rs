//! What somebody did, in words.

use serde_json::Value;
use workforce_domain::activity::{Action, Activity, Entity};
use workforce_domain::actor::ActorKind;
use workforce_domain::money::Cents;

use super::action::did;
use super::change::{Changed, Names, changes};
use super::money::Dollars;
use super::people::{Staff, Who};

/// Something that was done.
pub(crate) struct Deed {
    /// Who did it; `None` for workforce itself.
    pub(crate) who: Option<Who>,
    pub(crate) words: String,
    pub(crate) changes: Vec<Changed>,
}

impl Deed {
    pub(crate) fn of(activity: &Activity, staff: &Staff, names: &Names) -> Self {
        Self {
            who: actor(activity, staff),
            words: told(activity),
            changes: changes(&activity.details, names),
        }
    }
}

/// Who did it; `None` for workforce itself.
pub(crate) fn actor(activity: &Activity, staff: &Staff) -> Option<Who> {
    match (activity.actor_kind, activity.agent) {
        (ActorKind::Agent, Some(agent)) => Some(staff.agent(agent)),
        (ActorKind::Board, _) => Some(Who::board()),
        (ActorKind::System, _) | (ActorKind::Agent, None) => None,
    }
}

/// What was done to what a page is about, which it does not name again.
fn told(activity: &Activity) -> String {
    let name = activity.details.get("originalFilename");
    let name = name.and_then(Value::as_str).unwrap_or("a file");
    match activity.action {
        Action::IssueAttachmentAdded => format!("attached {name}"),
        Action::IssueAttachmentRemoved => format!("removed {name}"),
        action => format!("{} {}", did(action), object(activity.entity)),
    }
}

const fn object(entity: Entity) -> &'static str {
    match entity {
        Entity::Company => "the company",
        Entity::Agent => "the agent",
        Entity::Goal => "the goal",
        Entity::Project | Entity::Workspace => "the project",
        Entity::Issue => "the issue",
        Entity::Label => "the label",
        Entity::Approval => "the approval",
        Entity::CostEvent => "a cost",
        Entity::HeartbeatRun => "the run",
        Entity::Secret => "the secret",
    }
}

/// What a run cost, as its end tells; `None` as long as it is not known.
pub(crate) fn cost_of_run(activities: &[Activity]) -> Option<Dollars> {
    let end = activities
        .iter()
        .find(|it| it.action == Action::HeartbeatFinished)?;
    let cents: Cents = end.details.get("costCents")?.as_str()?.parse().ok()?;
    Some(Dollars(cents))
}
