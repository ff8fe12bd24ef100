//! No issue stands still in silence (docs/issues.md#stuck-issues).

mod histories;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;
use workforce_app::agents;
use workforce_app::issues::{self, CreateIssue, UpdateIssue};
use workforce_app::{Failure, dashboard};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::id::IssueId;
use workforce_domain::issue::{Assignee, Issue, IssueStatus, StuckReason};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::IssueFilter;
use workforce_domain::run::{Run, RunEnd, RunErrorCode, RunKind, RunOutcome};
use workforce_domain::wake::WakeReason;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, new_issue, no_change};

use crate::deeds::Deeds;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A chain of four agents.
struct Chain {
    world: World,
    agents: [Agent; 4],
}

impl Chain {
    fn in_world(world: World) -> Self {
        let company = world.company("Chain").id;
        let ceo = world.hired(company, "Eva");
        let manager = world.hired_below(&ceo, "Mara");
        let [ada, bob] = ["Ada", "Bob"].map(|name| world.hired_below(&manager, name));
        Self {
            world,
            agents: [ceo, manager, ada, bob],
        }
    }

    fn ada(&self) -> &Agent {
        &self.agents[2]
    }

    fn why(&self, issue: IssueId) -> Option<StuckReason> {
        let (company, now) = (self.ada().scope(), self.world.now());
        let why: Result<_, Failure<Infallible>> = self
            .world
            .store()
            .read(|reads| Ok(reads.issues().why_stuck(company, issue, now)?));
        done(why)
    }

    fn issues(&self) -> Vec<Issue> {
        let company = self.ada().scope();
        let all: Result<_, Failure<Infallible>> = self.world.store().read(|reads| {
            let page = PageRequest::first();
            Ok(reads
                .issues()
                .list(company, &IssueFilter::default(), &page)?
                .items)
        });
        done(all)
    }

    /// Notes what is stuck, as the engine does now and then; what the dashboard counts then.
    fn counted(&self) -> BTreeMap<StuckReason, i64> {
        let (company, now) = (self.ada().scope(), self.world.now());
        let found: Result<_, Failure<Infallible>> = self.world.store().read(|reads| {
            let changes = reads.engine().to_note_stuck(company, now, None, 1000)?;
            let wrong = reads.engine().wrongly_stuck(company, 1000)?;
            Ok([changes.issues, wrong].concat())
        });
        for issue in done(found) {
            let system = self.world.system();
            done(system.write(|tx, ctx| issues::note_stuck(tx, ctx, company, issue)));
        }
        let board = self.world.board();
        let seen = board.read(|reads, ctx| dashboard::get(reads, ctx, company.company()));
        done(seen).stuck.into_iter().collect()
    }

    /// Starts the next run, and says of which issue it is a surprise.
    fn start(&self) -> Result<Option<Run>, TestCaseError> {
        let stuck: Vec<IssueId> = self
            .issues()
            .iter()
            .map(|issue| issue.id)
            .filter(|issue| {
                let why = self.why(*issue);
                // Without a sign-in it is tried again now and then.
                why.is_some_and(|why| why != StuckReason::SignInRequired)
            })
            .collect();
        let Some(started) = self.world.start_next() else {
            return Ok(None);
        };
        let run = started.run;
        if run.kind == RunKind::Execution {
            let surprise = run.issue.filter(|issue| stuck.contains(issue));
            prop_assert_eq!(surprise, None, "it was stuck, and moves");
        }
        Ok(Some(run))
    }

    /// Lets time pass, in which all agents forget everything, until nothing happens any more.
    fn settle(&self) -> Result<(), TestCaseError> {
        let mut quiet = 0;
        for _round in 0..200 {
            if quiet == 3 {
                return Ok(());
            }
            let mut live: Vec<Run> = Vec::new();
            for agent in &self.agents {
                live.extend(self.world.live_runs(agent));
            }
            while let Some(run) = self.start()? {
                live.push(run);
            }
            quiet = if live.is_empty() { quiet + 1 } else { 0 };
            for run in &live {
                self.world.finish(run);
            }
            self.world.advance(HOUR);
        }
        Err(TestCaseError::fail("it never comes to rest"))
    }

    fn is_told(&self, issue: &Issue, all: &[Issue]) -> bool {
        let in_hand =
            |issue: &Issue| !issue.status().is_terminal() && issue.status() != IssueStatus::Backlog;
        let company = issue.scope();
        let pending: Result<_, Failure<Infallible>> = self
            .world
            .store()
            .read(|reads| Ok(reads.approvals().undecided_linked_to(company, issue.id)?));
        let reviewed_by_board = issue.status() == IssueStatus::InReview
            && match *issue.assignee {
                Assignee::Agent(agent) => issue.implementer.is_none_or(|it| it == agent),
                Assignee::Board(_) | Assignee::Nobody => true,
            };
        matches!(*issue.assignee, Assignee::Board(_))
            || reviewed_by_board
            || !done(pending).is_empty()
            || all
                .iter()
                .any(|child| child.parent == Some(issue.id) && in_hand(child))
    }

    fn pauses(&self, agent: &Agent) {
        let board = self.world.board();
        done(board.write(|tx, ctx| agents::pause(tx, ctx, agent.id)));
    }
}

fn fail(code: RunErrorCode) -> RunEnd {
    RunEnd::without_exit(RunOutcome::Failed(code), "it failed")
}

on_both_databases! {
    fn work_that_is_left_undone_is_followed_up_once(store: &TestStore) {
        let it = Chain::in_world(World::on(store));
        let issue = it.world.todo_for(it.ada(), "Forgotten");
        let run = it.world.start_next().unwrap().run;
        assert!(it.world.finish(&run));
        assert_eq!(it.why(issue.id), None, "it is followed up");
        let reminder = it.world.pending_wakes(it.ada()).remove(0);
        assert_eq!(reminder.reasons, [WakeReason::IssueLeftUndone]);
        assert!(it.counted().is_empty());

        let run = it.world.start_next().unwrap().run;
        assert!(it.world.finish(&run));
        assert!(it.world.pending_wakes(it.ada()).is_empty(), "once is enough");
        let told = it.world.pending_wakes(&it.agents[1]).remove(0);
        assert_eq!((told.kind, told.issue), (RunKind::Consult, Some(issue.id)));
        assert_eq!(told.reasons, [WakeReason::IssueLeftUndone]);
        // As long as its manager was not there, somebody is about to see to it.
        let run = it.world.start_next().unwrap().run;
        assert!(it.world.finish(&run));
        assert_eq!(it.counted(), BTreeMap::from([(StuckReason::LeftUndone, 1)]));
    }

    fn work_that_is_finished_or_waits_is_not_followed_up(store: &TestStore) {
        let it = Chain::in_world(World::on(store));
        for status in [IssueStatus::Done, IssueStatus::InReview, IssueStatus::Blocked] {
            it.world.todo_for(it.ada(), "Remembered");
            let run = it.world.start_next().unwrap().run;
            let issue = it.world.stored_issue(run.issue.unwrap());
            done(it.world.run_of(run.id).checks_out(&issue));
            done(it.world.run_of(run.id).moves(&issue, status));
            assert!(it.world.finish(&run));
            assert!(it.world.pending_wakes(it.ada()).is_empty(), "{status}");
            // Whoever reviews it.
            for started in it.world.start_all() {
                assert_eq!(started.run.agent, it.agents[1].id);
                assert!(it.world.finish(&started.run));
            }
        }
        // Its part goes on.
        let issue = it.world.todo_for(&it.agents[1], "Divided");
        let run = it.world.start_all().into_iter().find(|it| it.run.issue == Some(issue.id));
        let run = run.unwrap().run;
        let part = CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(it.ada().id),
            parent_id: Some(issue.id.into()),
            ..new_issue("Part")
        };
        done(it.world.run_of(run.id).creates(issue.company, &part));
        assert!(it.world.finish(&run));
        assert!(it.world.pending_wakes(&it.agents[1]).iter().all(|wake| wake.issue != Some(issue.id)));
    }

    fn each_reason_is_told(store: &TestStore) {
        let it = Chain::in_world(World::on(store));
        let company = it.ada().company;
        let nobodys = it.world.todo(company, "Nobody's");
        assert_eq!(it.why(nobodys.id), Some(StuckReason::Unassigned));
        let issue = it.world.todo_for(it.ada(), "Ada's");
        assert_eq!(it.why(issue.id), None);
        it.pauses(it.ada());
        assert_eq!(it.why(issue.id), Some(StuckReason::AgentPaused));
        let board = it.world.board();
        done(board.write(|tx, ctx| agents::resume(tx, ctx, it.ada().id, false)));
        let run = it.world.start_next().unwrap().run;
        assert!(it.world.finish_as(&run, &fail(RunErrorCode::AdapterFailed)));
        assert_eq!(it.why(issue.id), Some(StuckReason::RunFailed));
        done(it.world.agent(it.ada().id).checks_out(&issue));
        it.world.advance(HOUR);
        done(it.world.agent(it.ada().id).moves(&issue, IssueStatus::Blocked));
        it.world.advance(HOUR);
        assert_eq!(it.why(issue.id), Some(StuckReason::Blocked));
        done(it.world.board().changes(&issue, &UpdateIssue {
            assignee_user_id: Change::Set("local-board".into()),
            ..no_change()
        }));
        assert_eq!(it.why(issue.id), None, "the board has it");
        let counted = BTreeMap::from([(StuckReason::Unassigned, 1)]);
        assert_eq!(it.counted(), counted);
        done(it.world.board().moves(&nobodys, IssueStatus::Done));
        assert!(it.counted().is_empty());
        let parked = CreateIssue {
            assignee_agent_id: Some(it.ada().id),
            ..new_issue("Parked")
        };
        let parked = it.world.issue_with(company, &parked);
        assert_eq!(it.why(parked.id), None, "it lies in the backlog");
    }
}
