//! Who looks at a governed child before it is done, and what it decides
//! (docs/issues.md#reviews).

use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Replace;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Shared, StoreError, Tx};

use super::candidates::Candidates;
use super::governance::{governance_of, refuse_without_plan};
use super::reassign::{Occasion, Reassignment};
use super::status::{self, Rewrite, Step};
use super::update_command::UpdateIssue;
use super::{IssueError, advance, assignment, parts};
use crate::context::Context;

/// What becomes of a status that is asked for.
pub(super) struct Decided {
    /// The status that is taken.
    pub(super) to: IssueStatus,
    /// Set when it took the place of another.
    pub(super) rewritten: Option<Rewrite>,
    /// Whom the issue goes to with it.
    pub(super) handed: Option<Reassignment>,
    /// Reviewed work goes back.
    handed_back: bool,
    /// The agent ends its own work, since there is nobody else to look at it.
    pub(super) self_review: bool,
    /// The ticket is to be brought before the board.
    pub(super) advances: bool,
}

impl Decided {
    const fn plain(to: IssueStatus) -> Self {
        Self {
            to,
            rewritten: None,
            handed: None,
            handed_back: false,
            self_review: false,
            advances: false,
        }
    }

    fn rewritten((to, rewritten): (IssueStatus, Option<Rewrite>)) -> Self {
        Self {
            rewritten,
            ..Self::plain(to)
        }
    }
}

impl Decided {
    /// Moves the issue. That reviewed work goes back to nobody, in place of the agent
    /// that did it, is no override of anybody.
    pub(super) fn transition(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        issue: &mut Locked<Issue>,
        asked: Replace<IssueStatus>,
    ) -> Result<Step, Failure<IssueError>> {
        let returned = self.handed_back && asked != Replace::Set(self.to);
        if !returned {
            return status::transition(tx, ctx, issue, self.to);
        }
        let mut step = status::transition_as(tx, ctx, issue, Mover::Board, self.to)?;
        step.moved.overridden = false;
        Ok(step)
    }
}

/// True when a change sends reviewed work back to the agent that did it: it sets
/// `in_progress` or, by the reviewer or the board, `todo`, and names nobody else.
pub(super) fn is_sent_back(ctx: &Context<'_>, issue: &Issue, command: &UpdateIssue) -> bool {
    let names = !command.assignee_agent_id.is_keep() || !command.assignee_user_id.is_keep();
    if names || !issue.is_under_review() {
        return false;
    }
    let caller = ctx.agent().map(|caller| caller.agent);
    let decides = caller.is_none() || issue.assignee.agent() == caller;
    match command.status {
        Replace::Set(IssueStatus::InProgress) => decides || issue.status() == IssueStatus::InReview,
        Replace::Set(IssueStatus::Todo) => decides,
        Replace::Set(_) | Replace::Keep => false,
    }
}

/// Gives reviewed work back to the agent that did it, or to nobody when that is not
/// employed any more.
///
/// # Errors
/// [`StoreError::Contended`] when another agent is held than the one that did it.
pub(super) fn give_back(
    issue: &Issue,
    asked: IssueStatus,
    candidates: &mut Candidates,
) -> Result<Decided, StoreError> {
    let held = candidates.implementer.take();
    let held = held.filter(|held| Some(held.id) == issue.implementer);
    let implementer = held.ok_or(StoreError::Contended)?.employed();
    let to = match implementer {
        Some(_) => asked,
        None => IssueStatus::Todo,
    };
    let handed = Reassignment {
        former: issue.assignee.agent(),
        to: implementer
            .as_ref()
            .map_or(Assignment::NOBODY, Assignment::to_agent),
        new: implementer,
        occasion: Occasion::Return,
    };
    Ok(Decided {
        handed: Some(handed),
        handed_back: true,
        ..Decided::plain(to)
    })
}

/// What becomes of the status that an agent asks for. Everything but the end and
/// the review of work is taken as it is, and so is what the lifecycle refuses.
///
/// # Errors
/// [`IssueError::PlanRequired`], [`IssueError::ChildrenOpen`]
pub(super) fn decide(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    asked: IssueStatus,
    candidates: &mut Candidates,
) -> Result<Decided, Failure<IssueError>> {
    let Some(caller) = ctx.agent().map(|caller| caller.agent) else {
        return Ok(Decided::plain(asked));
    };
    if asked == IssueStatus::Cancelled {
        parts::require_ended(tx.reads(), issue)?;
    }
    let ends = matches!(asked, IssueStatus::Done | IssueStatus::InReview);
    if !ends || !issue.status().successors().contains(&asked) {
        return Ok(Decided::plain(asked));
    }
    let governance = governance_of(tx.reads(), issue)?;
    if governance.governed {
        if issue.parent.is_none() || advance::brings_worktrees(tx.reads(), issue)? {
            refuse_without_plan(governance, issue)?;
            let taken = advance::requested(tx, issue, asked)?;
            return Ok(Decided {
                advances: true,
                ..Decided::rewritten(taken)
            });
        }
        advance::require_children_ended(tx.reads(), issue)?;
    }
    if issue.is_under_review() && issue.status() == IssueStatus::InReview {
        return Ok(match issue.implementer == Some(caller) {
            true => Decided::rewritten(in_review(asked, &issue.assignee)),
            false => Decided::plain(asked),
        });
    }
    let is_its_own = issue.assignee.agent() == Some(caller);
    if !governance.governed || !is_its_own {
        let taken = status::rewritten(tx, ctx, issue, asked)?;
        return Ok(Decided::rewritten(taken));
    }
    let Some(reviewer) = reviewer_of(tx, issue, caller, candidates.reviewer.take())? else {
        let (to, rewritten) = status::rewritten(tx, ctx, issue, asked)?;
        return Ok(Decided {
            self_review: to == IssueStatus::Done,
            ..Decided::rewritten((to, rewritten))
        });
    };
    let (to, rewritten) = in_review(asked, &reviewer.to);
    Ok(Decided {
        handed: Some(reviewer),
        ..Decided::rewritten((to, rewritten))
    })
}

/// Work that waits for its reviewer in place of what was asked for.
fn in_review(asked: IssueStatus, reviewer: &Assignment) -> (IssueStatus, Option<Rewrite>) {
    let rewritten = (asked == IssueStatus::Done).then(|| Rewrite::for_review(asked, **reviewer));
    (IssueStatus::InReview, rewritten)
}

/// Whoever is to look at the work of `implementer`: the assignee of the parent, else
/// the member of the board that made the issue; `None` when it is nobody else.
///
/// # Errors
/// [`StoreError::Contended`] when another agent is held than the parent's assignee.
fn reviewer_of(
    tx: &mut dyn Tx,
    issue: &Issue,
    implementer: AgentId,
    held: Option<Shared<Agent>>,
) -> Result<Option<Reassignment>, StoreError> {
    let for_review = |to, new| Reassignment {
        former: Some(implementer),
        new,
        to,
        occasion: Occasion::Review { implementer },
    };
    let parent = match issue.parent {
        Some(parent) => tx.issues().find(issue.scope().into(), &parent.into())?,
        None => None,
    };
    let of_board = match parent.map_or(Assignee::Nobody, |parent| *parent.assignee) {
        Assignee::Agent(agent) if agent != implementer => {
            let held = held.filter(|held| held.id == agent);
            let employed = held.ok_or(StoreError::Contended)?.employed();
            if let Some(agent) = employed {
                return Ok(Some(for_review(Assignment::to_agent(&agent), Some(agent))));
            }
            None
        }
        Assignee::Board(member) if assignment::is_present(tx.reads(), member)? => Some(member),
        Assignee::Agent(_) | Assignee::Board(_) | Assignee::Nobody => None,
    };
    let member = match of_board.or(issue.created_by.board()) {
        Some(member) if assignment::is_present(tx.reads(), member)? => member,
        Some(_) | None => return Ok(None),
    };
    Ok(Some(for_review(Assignment::to_board(member), None)))
}
