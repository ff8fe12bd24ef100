//! What somebody did, in words.

use serde_json::Value;
use workforce_domain::activity::{Action, Activity};
use workforce_domain::id::AgentId;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::money::Cents;
use workforce_domain::string_enum::StringEnum as _;

use super::approval::words;
use super::money::Dollars;
use super::people::{Staff, Who};
use super::status::{of_priority, word};

/// The longest value that is told, in characters.
const LONGEST: usize = 120;

/// The beginnings of the names of fields whose values are too long to be told.
const LONG: [&str; 1] = ["description"];

/// Something that was done.
pub(crate) struct Deed {
    /// Who did it; `None` for workforce itself.
    pub(crate) who: Option<Who>,
    pub(crate) words: String,
    pub(crate) changes: Vec<Change>,
}

/// A field that was changed.
pub(crate) struct Change {
    pub(crate) field: String,
    /// What it was and what it became; `None` where only the change is told.
    pub(crate) values: Option<(String, String)>,
}

impl Deed {
    pub(crate) fn of(activity: &Activity, staff: &Staff) -> Self {
        let changes = activity.details.get("changes").and_then(Value::as_object);
        let changes = changes.into_iter().flatten();
        Self {
            who: who(activity, staff),
            words: told(activity),
            changes: changes
                .map(|(field, change)| Change {
                    field: words(&field.replace("Ids", "s").replace("Id", "")),
                    values: values(field, change, staff),
                })
                .collect(),
        }
    }
}

fn who(activity: &Activity, staff: &Staff) -> Option<Who> {
    use workforce_domain::actor::ActorKind;

    match (activity.agent, activity.actor_kind) {
        (Some(agent), _) => Some(staff.agent(agent)),
        (None, ActorKind::Board) => Some(Who::board()),
        (None, ActorKind::Agent | ActorKind::System) => None,
    }
}

fn values(field: &str, change: &Value, staff: &Staff) -> Option<(String, String)> {
    let is_long = LONG.iter().any(|long| field.starts_with(long));
    let side = |side| change.get(side).unwrap_or(&Value::Null);
    let (from, to) = (side("from"), side("to"));
    let is_told = !is_long && !names_others(from, staff) && !names_others(to, staff);
    is_told.then(|| (value(from, staff), value(to, staff)))
}

/// Whether a value names things whose names are not known here.
fn names_others(value: &Value, staff: &Staff) -> bool {
    match value {
        Value::String(text) => {
            let id: Option<AgentId> = text.parse().ok();
            id.is_some_and(|id| staff.known(id).is_none())
        }
        Value::Array(values) => values.iter().any(|it| names_others(it, staff)),
        _ => false,
    }
}

fn value(value: &Value, staff: &Staff) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => {
            let status = IssueStatus::parse(text).map(word);
            let known = status.or_else(|| Priority::parse(text).map(of_priority));
            let agent = || Some(staff.known(text.parse().ok()?)?.name);
            let known = known.map(str::to_owned).or_else(agent);
            known.unwrap_or_else(|| text.chars().take(LONGEST).collect())
        }
        Value::Array(values) => {
            let values = values.iter().map(|it| self::value(it, staff));
            let values = values.collect::<Vec<_>>().join(", ");
            if values.is_empty() {
                "none".to_owned()
            } else {
                values.chars().take(LONGEST).collect()
            }
        }
        Value::Object(fields) if fields.contains_key("sha256") => "a long text".to_owned(),
        other => other.to_string().chars().take(LONGEST).collect(),
    }
}

fn told(activity: &Activity) -> String {
    let details = &activity.details;
    let text = |name: &str| details.get(name).and_then(Value::as_str);
    let words = match activity.action {
        Action::IssueCreated => "made the issue",
        Action::IssueUpdated => "changed the issue",
        Action::IssueCheckedOut => "took the issue up",
        Action::IssueReleased => "gave the issue back",
        Action::IssueReopened => "opened the issue again",
        Action::IssueCommentAdded => "wrote a comment",
        Action::IssueReviewed => "reviewed the work",
        Action::IssueStuck => "found that nothing moves the issue",
        Action::IssueAttachmentAdded => {
            return format!("attached {}", text("originalFilename").unwrap_or("a file"));
        }
        Action::IssueAttachmentRemoved => {
            return format!("removed {}", text("originalFilename").unwrap_or("a file"));
        }
        Action::HeartbeatInvoked => "asked for a run",
        Action::HeartbeatStarted => "started the run",
        Action::HeartbeatCancelled => "asked for the run to be stopped",
        Action::HeartbeatCompleted => "told how the run ended",
        Action::HeartbeatFinished => "ended the run",
        Action::ApprovalCreated => "asked for an approval",
        Action::ApprovalApproved => "approved",
        Action::ApprovalRejected => "rejected",
        Action::ApprovalRevisionRequested => "asked for a change",
        Action::ApprovalResubmitted => "sent the approval again",
        Action::ApprovalEdited => "changed the draft",
        Action::ApprovalCommentAdded => "wrote a comment on the approval",
        Action::ApprovalCancelled => "withdrew the approval",
        Action::CostReported => "reported a cost",
        Action::WorktreeCreated => "made the worktree",
        Action::WorktreeCommitted => "committed the work",
        Action::WorktreePushed => "pushed the work",
        Action::PullRequestOpened => "opened the pull request",
        other => return other.as_str().replace(['.', '_'], " "),
    };
    words.to_owned()
}

/// What a run cost, as its end tells; `None` as long as it is not known.
pub(crate) fn cost_of_run(activities: &[Activity]) -> Option<Dollars> {
    let end = activities
        .iter()
        .find(|it| it.action == Action::HeartbeatFinished)?;
    let cents: Cents = end.details.get("costCents")?.as_str()?.parse().ok()?;
    Some(Dollars(cents))
}
