//! Who looks at the work of an agent before it is done, and what it decides
//! (docs/issues.md#reviews).

use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::board::BoardMember;
use workforce_domain::change::Replace;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{EmployedAgent, Failure, Locked, Shared, StoreError, Tx};

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
/// the review of work is taken as it is, and so is what the lifecycle refuses. `names_assignee`
/// says whether the change itself names who is to have the issue.
///
/// # Errors
/// [`IssueError::PlanRequired`], [`IssueError::ChildrenOpen`]
pub(super) fn decide(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    (asked, names_assignee): (IssueStatus, bool),
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
    let (to, rewritten) = status::rewritten(tx, ctx, issue, asked)?;
    let is_its_own = issue.assignee.agent() == Some(caller);
    let governed = governance.governed;
    // Without governance the agent may choose who is to look at it.
    let is_asked = to == IssueStatus::InReview && !names_assignee;
    let reviewer = match is_its_own && (governed || is_asked) {
        true => reviewer_of(tx, issue, caller, (governed, to), candidates)?,
        false => None,
    };
    let Some(reviewer) = reviewer else {
        return Ok(Decided {
            self_review: is_its_own && governed && to == IssueStatus::Done,
            ..Decided::rewritten((to, rewritten))
        });
    };
    let taken = in_review(asked, &reviewer.to);
    Ok(Decided {
        handed: Some(reviewer),
        ..Decided::rewritten(taken)
    })
}

/// Work that waits for its reviewer in place of what was asked for.
fn in_review(asked: IssueStatus, reviewer: &Assignment) -> (IssueStatus, Option<Rewrite>) {
    let rewritten = (asked == IssueStatus::Done).then(|| Rewrite::for_review(asked, **reviewer));
    (IssueStatus::InReview, rewritten)
}

/// Whoever is to look at the work of `implementer`, which leaves it `to` that status, and who is
/// somebody else: the assignee of the parent, the agent's manager, or the member of the board that
/// made the issue; on governed issues that member before the manager.
///
/// # Errors
/// [`StoreError::Contended`] when other agents are held than those.
fn reviewer_of(
    tx: &mut dyn Tx,
    issue: &Issue,
    implementer: AgentId,
    (governed, to): (bool, IssueStatus),
    candidates: &mut Candidates,
) -> Result<Option<Reassignment>, StoreError> {
    let parent = match issue.parent {
        Some(parent) => tx.issues().find(issue.scope().into(), &parent.into())?,
        None => None,
    };
    let of_parent = match parent.map_or(Assignee::Nobody, |parent| *parent.assignee) {
        Assignee::Agent(agent) if agent != implementer => {
            employed(agent, candidates.parents_assignee.take())?
        }
        Assignee::Board(member) => present(tx, member)?,
        Assignee::Agent(_) | Assignee::Nobody => None,
    };
    let reviewer = match of_parent {
        Some(reviewer) => Some(reviewer),
        None => {
            let author = match issue.created_by.board() {
                Some(member) => present(tx, member)?,
                None => None,
            };
            match author {
                Some(author) if governed => Some(author),
                _ if to != IssueStatus::InReview => author,
                author => manager_of(tx, issue, implementer, candidates)?.or(author),
            }
        }
    };
    Ok(reviewer.map(|reviewer| reviewer.of_work_by(implementer)))
}

/// Somebody who may review work.
enum Reviewer {
    Agent(Box<EmployedAgent>),
    Board(BoardMember),
}

impl Reviewer {
    /// Gives the issue to the reviewer.
    fn of_work_by(self, implementer: AgentId) -> Reassignment {
        let (to, new) = match self {
            Self::Agent(agent) => (Assignment::to_agent(&agent), Some(*agent)),
            Self::Board(member) => (Assignment::to_board(member), None),
        };
        Reassignment {
            former: Some(implementer),
            new,
            to,
            occasion: Occasion::Review { implementer },
        }
    }
}

fn present(tx: &mut dyn Tx, member: BoardMember) -> Result<Option<Reviewer>, StoreError> {
    let is_present = assignment::is_present(tx.reads(), member)?;
    Ok(is_present.then_some(Reviewer::Board(member)))
}

fn employed(agent: AgentId, held: Option<Shared<Agent>>) -> Result<Option<Reviewer>, StoreError> {
    let held = held.filter(|held| held.id == agent);
    let agent = held.ok_or(StoreError::Contended)?.employed();
    Ok(agent.map(|agent| Reviewer::Agent(Box::new(agent))))
}

/// The manager of whoever did the work.
fn manager_of(
    tx: &mut dyn Tx,
    issue: &Issue,
    implementer: AgentId,
    candidates: &mut Candidates,
) -> Result<Option<Reviewer>, StoreError> {
    let implementer = tx.agents().find(issue.scope().into(), implementer)?;
    match implementer.and_then(|implementer| implementer.reports_to) {
        Some(manager) => employed(manager, candidates.manager.take()),
        None => Ok(None),
    }
}
