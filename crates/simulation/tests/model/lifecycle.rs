//! The model: how each thing that comes about changes the small world, and what must hold.

use stateright::{Model, Property};
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::issue::{CheckoutDecision, IssueStatus, Mover, Progress};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::RunStatus;

use crate::state::{Deed, NOW, RunState, WorldState};

/// One issue, two agents, two servers, one plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallWorld;

impl SmallWorld {
    /// Whether nothing more can come about.
    fn is_over(&self, state: &WorldState) -> bool {
        let mut deeds = Vec::new();
        self.actions(state, &mut deeds);
        deeds.is_empty()
    }
}

impl Model for SmallWorld {
    type State = WorldState;
    type Action = Deed;

    fn init_states(&self) -> Vec<WorldState> {
        let run = |status| RunState {
            status,
            server: None,
            is_expired: false,
            was_retried: false,
        };
        vec![WorldState {
            issue: IssueStatus::Todo,
            assignee: Some(0),
            lease: None,
            runs: [run(RunStatus::Queued), run(RunStatus::Cancelled)],
            believed: [[false; 2]; 2],
            is_up: [true; 2],
            plan: None,
            decisions: 0,
            was_taken_under_plan: false,
            moves: 2,
            crashes: 2,
            delays: 1,
            revisions: 1,
        }]
    }

    fn actions(&self, state: &WorldState, deeds: &mut Vec<Deed>) {
        for number in 0..2 {
            state.of_run(number, deeds);
            state.of_server(number, deeds);
        }
        if let Some(plan) = state.plan {
            let asks_again = |to: &ApprovalStatus| to.is_terminal() || state.revisions > 0;
            let successors = plan.successors().iter().copied().filter(asks_again);
            deeds.extend(successors.map(Deed::Decide));
        }
        if state.moves > 0 {
            let successors = state.issue.successors_for(Mover::Board).iter();
            let can_be =
                |to: &IssueStatus| *to != IssueStatus::InProgress || state.assignee.is_some();
            deeds.extend(successors.copied().filter(can_be).map(Deed::BoardMove));
            deeds.extend([0, 1].map(Deed::Assign));
        }
    }

    fn next_state(&self, last: &WorldState, deed: Deed) -> Option<WorldState> {
        let mut next = last.clone();
        match deed {
            Deed::Claim { server, run } => {
                let status = last.runs[run]
                    .status
                    .transition_to(RunStatus::Running)
                    .ok()?;
                next.runs[run].status = status;
                next.runs[run].server = Some(server);
                next.believed[server][run] = true;
                next.lease = Some(run);
            }
            Deed::CheckOut(run) => {
                if let CheckoutDecision::Take { progress } = last.checkout(run) {
                    next.was_taken_under_plan |= last.is_plan_undecided();
                    next.issue = progress.status();
                    next.assignee = Some(run);
                }
                next.lease = Some(run);
            }
            Deed::Release(run) => {
                next.lease = None;
                if last.issue == IssueStatus::InProgress && last.assignee == Some(run) {
                    next.issue = Progress::begin(last.issue, NOW).release(NOW).status();
                    next.assignee = None;
                }
                next.moves = last.moves.checked_sub(1)?;
            }
            Deed::Move { to, .. } => {
                next.enter(to);
                next.moves = last.moves.checked_sub(1)?;
            }
            Deed::BoardMove(to) => {
                next.enter(to);
                next.moves = last.moves.checked_sub(1)?;
            }
            Deed::Assign(agent) => {
                next.assignee = Some(agent);
                next.moves = last.moves.checked_sub(1)?;
                if !last.runs[agent].status.is_live() {
                    next.runs[agent].status = RunStatus::Queued;
                }
                if last.lease.is_some_and(|holder| holder != agent) {
                    next.lease = None;
                }
            }
            Deed::End { server, run, to } => {
                next.believed[server][run] = false;
                let is_own = last.runs[run].server == Some(server);
                if is_own && let Ok(to) = last.runs[run].status.transition_to(to) {
                    next.end(run, to);
                }
            }
            Deed::Crash(server) => {
                next.crashes = last.crashes.checked_sub(1)?;
                next.is_up[server] = false;
                next.believed[server] = [false; 2];
            }
            Deed::Start(server) => next.is_up[server] = true,
            Deed::Expire(run) => {
                next.runs[run].is_expired = true;
                next.delays = last.delays.saturating_sub(1);
            }
            Deed::Renew { server, run } => {
                if last.runs[run].status.is_live() && last.runs[run].server == Some(server) {
                    next.runs[run].is_expired = false;
                } else {
                    next.believed[server][run] = false;
                }
            }
            Deed::TakeOver { run } => {
                let failed = last.runs[run]
                    .status
                    .transition_to(RunStatus::Failed)
                    .ok()?;
                next.end(run, failed);
                let is_its_own = !last.issue.is_terminal() && last.assignee == Some(run);
                if is_its_own && !last.runs[run].was_retried {
                    next.runs[run].was_retried = true;
                    next.runs[run].status = RunStatus::Queued;
                }
            }
            Deed::CancelObsolete(run) => {
                next.runs[run].status = last.runs[run]
                    .status
                    .transition_to(RunStatus::Cancelled)
                    .ok()?;
            }
            Deed::Submit(_) => next.plan = Some(ApprovalStatus::Pending),
            Deed::Decide(to) => {
                next.plan = Some(last.plan?.transition_to(to).ok()?);
                if matches!(to, ApprovalStatus::Approved | ApprovalStatus::Rejected) {
                    next.decisions += 1;
                }
                if to == ApprovalStatus::RevisionRequested {
                    next.revisions = last.revisions.checked_sub(1)?;
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "one run at most works on the issue",
                |_, state: &WorldState| {
                    state.runs.iter().filter(|run| run.status.is_live()).count() <= 1
                },
            ),
            Property::always(
                "whoever holds the issue is running",
                |_, state: &WorldState| {
                    state
                        .lease
                        .is_none_or(|run| state.runs[run].status.is_live())
                },
            ),
            Property::always("a live run is one server's", |_, state: &WorldState| {
                state
                    .runs
                    .iter()
                    .all(|run| run.status.is_live() == run.server.is_some())
            }),
            Property::always(
                "nobody holds an issue that has ended",
                |_, state: &WorldState| !state.issue.is_terminal() || state.lease.is_none(),
            ),
            Property::always("a plan is decided at most once", |_, state: &WorldState| {
                state.decisions <= 1
            }),
            Property::always(
                "no checkout under an undecided plan",
                |_, state: &WorldState| !state.was_taken_under_plan,
            ),
            Property::always("work in progress is somebody's", |_, state: &WorldState| {
                state.issue != IssueStatus::InProgress || state.assignee.is_some()
            }),
            // Every path ends, so that what comes about at last is what holds where nothing more
            // can. Of properties that stateright calls eventual it misses some where paths meet.
            Property::always("every run ends at last", |model: &Self, state| {
                !model.is_over(state) || state.runs.iter().all(|run| run.status.is_terminal())
            }),
            Property::always("no lock stays at last", |model: &Self, state| {
                !model.is_over(state) || state.lease.is_none()
            }),
            Property::sometimes("an end is reached", |model: &Self, state| {
                model.is_over(state)
            }),
            Property::sometimes("the lost work is done at last", |_, state: &WorldState| {
                let run = &state.runs[0];
                run.was_retried
                    && run.status == RunStatus::Succeeded
                    && state.issue == IssueStatus::Done
            }),
        ]
    }
}
