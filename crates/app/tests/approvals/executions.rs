//! Whatever servers, the board and the requester do in whatever order to an approval that is
//! carried out step by step, some things always hold.

use std::convert::Infallible;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::json;
use workforce_app::Failure;
use workforce_app::approvals;
use workforce_app::approvals::execution::{self, LEASE};
use workforce_app::issues::{self, UpdateIssue};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::approval::{ApprovalStatus, ExecutionState, ExecutionStepRecord};
use workforce_domain::change::Replace;
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_testkit::world::{done, no_change};

use crate::desk::{decided, saying};
use crate::execution_stage::{Belief, STEPS, Stage};

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The board approves at a server, which begins to take the steps.
    Begin(usize),
    /// A server begins its next step, and does what it asks for.
    BeginStep(usize),
    EndStep(usize),
    FailStep(usize),
    Renew(usize),
    /// A server says that all steps are done, also where they are not.
    Complete(usize),
    /// So many seconds pass.
    Pass(u64),
    /// A server looks for what others left.
    GiveUp,
    Reject,
    RequestRevision,
    Resubmit,
    Cancel,
    EndIssue,
}

fn events() -> impl Strategy<Value = Event> {
    let server = 0..2_usize;
    prop_oneof![
        4 => server.clone().prop_map(Event::Begin),
        8 => server.clone().prop_map(Event::BeginStep),
        8 => server.clone().prop_map(Event::EndStep),
        2 => server.clone().prop_map(Event::FailStep),
        2 => server.clone().prop_map(Event::Renew),
        4 => server.prop_map(Event::Complete),
        3 => (1..90_u64).prop_map(Event::Pass),
        2 => Just(Event::GiveUp),
        1 => Just(Event::Reject),
        2 => Just(Event::RequestRevision),
        2 => Just(Event::Resubmit),
        1 => Just(Event::Cancel),
        1 => Just(Event::EndIssue),
    ]
}

impl Stage {
    fn perform(&mut self, event: Event) -> Result<(), TestCaseError> {
        let before = self.execution();
        let open = !self.status().is_terminal();
        match event {
            Event::Begin(server) => {
                let may = open && !self.is_live() && self.issue_is_open();
                let begun = self.begin();
                prop_assert_eq!(begun.is_ok(), may, "{:?}", begun);
                if may {
                    self.begun += 1;
                    self.servers[server] = Some(Belief {
                        attempt: self.begun,
                        taken: 0,
                        is_in_step: false,
                    });
                }
            }
            Event::Pass(seconds) => self.desk.world.advance(Duration::from_secs(seconds)),
            Event::GiveUp => self.give_up(),
            Event::EndIssue => {
                let change = UpdateIssue {
                    status: Replace::Set(IssueStatus::Cancelled),
                    ..no_change()
                };
                let issue = self.desk.issue.id.into();
                let board = self.desk.world.board();
                drop(board.write(|tx, ctx| issues::update(tx, ctx, &issue, change.clone())));
                prop_assert!(self.status().is_terminal());
            }
            Event::Reject | Event::RequestRevision | Event::Resubmit | Event::Cancel => {
                let was_live = self.is_live();
                let is_done = self.decide(event);
                prop_assert!(!(is_done && (was_live || !open)));
            }
            Event::BeginStep(server)
            | Event::EndStep(server)
            | Event::FailStep(server)
            | Event::Renew(server)
            | Event::Complete(server) => {
                let Some(belief) = self.servers[server] else {
                    return Ok(());
                };
                let is_own = self.is_own(belief);
                self.work(event, server, belief, is_own)?;
                if !is_own {
                    // Nothing of what a lost attempt says is written.
                    prop_assert_eq!(&self.execution(), &before);
                }
            }
        }
        Ok(())
    }

    /// What a server does that believes to carry the approval out.
    fn work(
        &mut self,
        event: Event,
        server: usize,
        mut belief: Belief,
        is_own: bool,
    ) -> Result<(), TestCaseError> {
        let system = self.desk.world.system();
        let (company, plan, attempt) = (self.desk.issue.scope(), self.plan, belief.attempt);
        match event {
            Event::BeginStep(_) if !belief.is_in_step && belief.taken < STEPS.len() => {
                let step = self.step_of(belief);
                let begun: Result<_, Failure<Infallible>> =
                    system.write(|tx, ctx| Ok(execution::begin_step(tx, ctx, step)?));
                let may = is_own && !self.status().is_terminal();
                prop_assert_eq!(done(begun), may);
                belief.is_in_step = true;
                self.servers[server] = Some(belief).filter(|_| may);
            }
            Event::EndStep(_) if belief.is_in_step => {
                let step = self.step_of(belief);
                let ended: Result<_, Failure<Infallible>> = system.write(|tx, ctx| {
                    Ok(execution::finish_step(tx, ctx, step, json!({}), &|_| {})?)
                });
                prop_assert_eq!(done(ended), is_own);
                belief.taken += 1;
                belief.is_in_step = false;
                self.servers[server] = Some(belief).filter(|_| is_own);
            }
            Event::FailStep(_) => {
                let failure = StepFailure {
                    step: STEPS[belief.taken.min(2)],
                    fault: StepFault::GitFailed,
                    message: "it did not work".into(),
                    details: Document::new(),
                };
                let failed: Result<_, Failure<Infallible>> = system.write(|tx, ctx| {
                    Ok(execution::fail(tx, ctx, company, plan, attempt, &failure)?)
                });
                done(failed);
                self.servers[server] = None;
            }
            Event::Renew(_) => {
                let renewed: Result<_, Failure<Infallible>> =
                    system.write(|tx, ctx| Ok(execution::renew(tx, ctx, company, plan, attempt)?));
                prop_assert_eq!(done(renewed), is_own);
                prop_assert!(!is_own || self.is_live());
            }
            Event::Complete(_) => {
                let is_whole = belief.taken == STEPS.len();
                if !is_whole && !belief.is_in_step {
                    return Ok(());
                }
                let board = self.desk.world.board();
                let may = is_own && is_whole && !self.status().is_terminal();
                let completed = board.write(|tx, ctx| execution::complete(tx, ctx, plan, attempt));
                let is_done = matches!(completed, Ok(Some(_)));
                prop_assert_eq!(is_done, may, "{:?}", completed);
                if is_done {
                    self.servers[server] = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn give_up(&self) {
        let (system, now) = (self.desk.world.system(), self.desk.world.now());
        let given_up: Result<_, Failure<Infallible>> = system.write(|tx, ctx| {
            let left = tx
                .approvals()
                .abandoned_executions(InstanceScope::SYSTEM, now, 10)?;
            left.iter()
                .try_for_each(|execution| execution::abandon(tx, ctx, execution))
        });
        done(given_up);
    }

    fn decide(&self, event: Event) -> bool {
        let (board, plan) = (self.desk.world.board(), self.plan);
        match event {
            Event::Reject => decided(board, approvals::reject, plan, &saying("no")).is_ok(),
            Event::RequestRevision => {
                decided(board, approvals::request_revision, plan, &saying("hm")).is_ok()
            }
            Event::Resubmit => {
                let ada = self.desk.world.agent(self.desk.ada.id);
                ada.write(|tx, ctx| approvals::resubmit(tx, ctx, plan, None, None))
                    .is_ok()
            }
            _ => board
                .write(|tx, ctx| approvals::cancel(tx, ctx, plan))
                .is_ok(),
        }
    }

    /// What holds after every event, seen from the one before.
    fn check(&self, before: &[ExecutionStepRecord]) -> Result<(), TestCaseError> {
        let (status, execution, steps) = (self.status(), self.execution(), self.steps());
        let attempts = execution.as_ref().map_or(0, |it| it.attempts);
        prop_assert_eq!(attempts, self.begun);
        let is_complete = execution.is_some_and(|it| it.state == ExecutionState::Completed);
        prop_assert_eq!(status == ApprovalStatus::Approved, is_complete);
        if is_complete {
            let taken: Vec<_> = steps.iter().filter(|it| it.done_at.is_some()).collect();
            prop_assert_eq!(taken.len(), STEPS.len());
        }
        let own = self.servers.iter().flatten();
        prop_assert!(own.filter(|belief| self.is_own(**belief)).count() <= 1);
        // What was done stays in the journal unless the step was begun once more.
        for known in before {
            let same = steps.iter().find(|it| it.step == known.step);
            let stays =
                same.is_some_and(|it| it.done_at == known.done_at || it.begun_at >= known.begun_at);
            prop_assert!(stays, "{known:?} {same:?}");
        }
        Ok(())
    }

    /// Whatever happened, somebody can decide in the end, or has.
    fn end(&mut self, by_approval: bool) -> Result<(), TestCaseError> {
        self.desk.world.advance(LEASE);
        if self.status().is_terminal() {
            prop_assert!(self.begin().is_err());
            return Ok(());
        }
        if !by_approval || !self.issue_is_open() {
            prop_assert!(self.decide(Event::Reject));
            return Ok(());
        }
        self.perform(Event::Begin(0))?;
        for _ in STEPS {
            self.perform(Event::BeginStep(0))?;
            self.perform(Event::EndStep(0))?;
        }
        self.perform(Event::Complete(0))?;
        prop_assert_eq!(self.status(), ApprovalStatus::Approved);
        self.check(&[])
    }
}

fn history(events: &[Event], by_approval: bool) -> Result<(), TestCaseError> {
    let mut stage = Stage::new();
    for event in events {
        let steps = stage.steps();
        stage.perform(*event)?;
        stage.check(&steps)?;
    }
    stage.end(by_approval)
}

#[test]
fn an_approval_is_carried_out_by_one_attempt_at_a_time_and_to_its_end() {
    let config = Config {
        cases: 60,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(
            &(vec(events(), 0..30), proptest::bool::ANY),
            |(events, by_approval)| history(&events, by_approval),
        )
        .unwrap();
}
