//! What somebody did, in words.

use serde_json::Value;
use workforce_domain::activity::{Action, Activity};
use workforce_domain::money::Cents;
use workforce_domain::string_enum::StringEnum as _;

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
            who: who(activity, staff),
            words: told(activity),
            changes: changes(&activity.details, names),
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
