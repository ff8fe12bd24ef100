//! Where everything stands in the small world, and what may come about.

use uuid::Uuid;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::id::{AgentId, ApprovalId, CompanyId, IssueId, RunId};
use workforce_domain::issue::{
    CheckoutDecision, CheckoutFacts, CheckoutRequest, DEFAULT_EXPECTED, Holder, IssueStatus, Lease,
    Mover, Progress,
};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::RunStatus;
use workforce_domain::time::Timestamp;

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_773_144_000_000_000);

/// The statuses in which a program of a run ends it.
const ENDS: [RunStatus; 3] = [RunStatus::Succeeded, RunStatus::Failed, RunStatus::TimedOut];

/// A run of the agent with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RunState {
    pub(crate) status: RunStatus,
    /// Which server's it is, by the store.
    pub(crate) server: Option<usize>,
    pub(crate) is_expired: bool,
    pub(crate) was_retried: bool,
}

/// Where everything stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorldState {
    pub(crate) issue: IssueStatus,
    pub(crate) assignee: Option<usize>,
    pub(crate) lease: Option<usize>,
    pub(crate) runs: [RunState; 2],
    /// Which runs each server believes to be its own.
    pub(crate) believed: [[bool; 2]; 2],
    pub(crate) is_up: [bool; 2],
    pub(crate) plan: Option<ApprovalStatus>,
    /// How often the plan was approved or rejected.
    pub(crate) decisions: u8,
    pub(crate) was_taken_under_plan: bool,
    /// What is left of what may come about any number of times.
    pub(crate) moves: u8,
    pub(crate) crashes: u8,
    pub(crate) delays: u8,
    pub(crate) revisions: u8,
}

/// What comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Claim {
        server: usize,
        run: usize,
    },
    CheckOut(usize),
    Release(usize),
    Move {
        run: usize,
        to: IssueStatus,
    },
    BoardMove(IssueStatus),
    Assign(usize),
    End {
        server: usize,
        run: usize,
        to: RunStatus,
    },
    Crash(usize),
    Start(usize),
    Expire(usize),
    Renew {
        server: usize,
        run: usize,
    },
    TakeOver {
        run: usize,
    },
    CancelObsolete(usize),
    Submit(usize),
    Decide(ApprovalStatus),
}

fn id<T: From<Uuid>>(number: usize) -> T {
    T::from(Uuid::from_u128(1 + number as u128))
}

impl WorldState {
    /// Ends what the run holds, in the step in which it stops running.
    pub(crate) fn end(&mut self, run: usize, to: RunStatus) {
        let ended = &mut self.runs[run];
        ended.status = to;
        ended.server = None;
        ended.is_expired = false;
        if self.lease == Some(run) {
            self.lease = None;
        }
    }

    /// Moves the issue. Whatever it ends ends in the same step.
    pub(crate) fn enter(&mut self, to: IssueStatus) {
        self.issue = to;
        if to.is_terminal() {
            self.lease = None;
            if self.plan.is_some_and(|plan| !plan.is_terminal()) {
                self.plan = Some(ApprovalStatus::Cancelled);
            }
        }
    }

    pub(crate) fn is_plan_undecided(&self) -> bool {
        self.plan.is_some_and(|plan| !plan.is_terminal())
    }

    fn may_claim(&self, run: usize) -> bool {
        self.runs[run]
            .status
            .successors()
            .contains(&RunStatus::Running)
            && !self.issue.is_terminal()
            && self.assignee == Some(run)
            && self.lease.is_none()
            && self.plan != Some(ApprovalStatus::Pending)
            && self.runs.iter().all(|run| !run.status.is_live())
    }

    /// What the domain decides on a checkout by an agent in its run.
    pub(crate) fn checkout(&self, run: usize) -> CheckoutDecision {
        let progress = Progress::begin(self.issue, NOW);
        let lease = self.lease.map(|holder| Lease {
            issue: id::<IssueId>(0),
            company: id::<CompanyId>(0),
            holder: Holder::Run {
                agent: id(holder),
                run: id(holder),
            },
            fence: 1,
            expires_at: None,
        });
        let facts = CheckoutFacts {
            progress: &progress,
            assignee_agent: self.assignee.map(id::<AgentId>),
            assignee_is_board: false,
            lease: lease.as_ref(),
            approval_pending: self.is_plan_undecided().then(|| id::<ApprovalId>(0)),
        };
        facts.decide(CheckoutRequest {
            agent: id(run),
            run: Some(id::<RunId>(run)),
            expected: &DEFAULT_EXPECTED,
            now: NOW,
        })
    }

    pub(crate) fn of_run(&self, run: usize, deeds: &mut Vec<Deed>) {
        let state = self.runs[run];
        if !state.status.is_live() {
            let is_obsolete = self.issue.is_terminal() || self.assignee != Some(run);
            if state.status == RunStatus::Queued && is_obsolete {
                deeds.push(Deed::CancelObsolete(run));
            }
            return;
        }
        if !matches!(self.checkout(run), CheckoutDecision::Conflict(_)) && self.lease != Some(run) {
            deeds.push(Deed::CheckOut(run));
        }
        if self.lease == Some(run) {
            deeds.push(Deed::Release(run));
            let successors = self.issue.successors_for(Mover::Agent).iter();
            deeds.extend(successors.map(|to| Deed::Move { run, to: *to }));
        }
        if self.plan.is_none() && !self.issue.is_terminal() {
            deeds.push(Deed::Submit(run));
        }
        if state.is_expired {
            deeds.push(Deed::TakeOver { run });
        } else if self.delays > 0 {
            deeds.push(Deed::Expire(run));
        } else if state
            .server
            .is_none_or(|server| !self.believed[server][run])
        {
            // Nobody renews it any more.
            deeds.push(Deed::Expire(run));
        }
    }

    pub(crate) fn of_server(&self, server: usize, deeds: &mut Vec<Deed>) {
        if !self.is_up[server] {
            deeds.push(Deed::Start(server));
            return;
        }
        if self.crashes > 0 {
            deeds.push(Deed::Crash(server));
        }
        for run in 0..2 {
            if self.may_claim(run) {
                deeds.push(Deed::Claim { server, run });
            }
            if self.believed[server][run] {
                deeds.extend(ENDS.map(|to| Deed::End { server, run, to }));
                if self.runs[run].is_expired || self.runs[run].server != Some(server) {
                    deeds.push(Deed::Renew { server, run });
                }
            }
        }
    }
}
