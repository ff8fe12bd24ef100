//! Whatever two agents and the board do in whatever order, some things always hold.

use std::collections::HashSet;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use workforce_app::Failure;
use workforce_app::issues::{AddComment, CheckOut, IssueError};
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::string_enum::StringEnum;
use workforce_testkit::world::{Acting, World, new_company};

use crate::deeds::{Deeds, Outcome, given_to, reopening, saying, taken_away, to};
use crate::scene::{Footprint, Scene, at_once};

/// Who acts: an agent with its key, an agent in its oldest live run if it has one, or the board.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Key(usize),
    Run(usize),
    Board,
}

/// What is done to one issue.
#[derive(Clone, Debug)]
enum Deed {
    CheckOut {
        for_agent: usize,
        expected: Option<Vec<IssueStatus>>,
    },
    Release,
    Move(IssueStatus),
    Give(usize),
    TakeAway,
    Say {
        body: &'static str,
        reopen: bool,
    },
}

#[derive(Clone, Debug)]
enum Step {
    Do { who: Who, issue: usize, deed: Deed },
    Start,
    Finish,
    Pass(u64),
}

fn statuses() -> impl Strategy<Value = IssueStatus> {
    select(IssueStatus::ALL)
}

fn deeds() -> impl Strategy<Value = Deed> {
    let bodies = ["Fine", "@Ada?", "@Bob?", "@Ada and @Bob!"];
    prop_oneof![
        3 => (0..2_usize, proptest::option::of(vec(statuses(), 1..4)))
            .prop_map(|(for_agent, expected)| Deed::CheckOut { for_agent, expected }),
        1 => Just(Deed::Release),
        4 => statuses().prop_map(Deed::Move),
        1 => (0..2_usize).prop_map(Deed::Give),
        1 => Just(Deed::TakeAway),
        2 => (select(bodies.to_vec()), any::<bool>())
            .prop_map(|(body, reopen)| Deed::Say { body, reopen }),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let who = prop_oneof![
        (0..2_usize).prop_map(Who::Key),
        (0..2_usize).prop_map(Who::Run),
        Just(Who::Board),
    ];
    prop_oneof![
        10 => (who, 0..2_usize, deeds()).prop_map(|(who, issue, deed)| Step::Do { who, issue, deed }),
        2 => Just(Step::Start),
        1 => Just(Step::Finish),
        1 => (1..20_u64).prop_map(Step::Pass),
    ]
}

/// A company of its own for one history.
struct Stage<'w> {
    world: &'w World,
    agents: [Agent; 2],
    issues: [Issue; 2],
}

impl<'w> Stage<'w> {
    fn new(world: &'w World) -> Self {
        let company = world.company_with(&new_company("History")).id;
        let agents = ["Ada", "Bob"].map(|name| world.hired_with(company, &at_once(name, 2)));
        let issues = ["First", "Second"].map(|title| world.todo(company, title));
        Self {
            world,
            agents,
            issues,
        }
    }

    fn acting(&self, who: Who) -> Acting<'w> {
        match who {
            Who::Board => self.world.board(),
            Who::Key(n) => self.world.agent(self.agents[n].id),
            Who::Run(n) => match self.world.live_runs(&self.agents[n]).last() {
                Some(run) => self.world.run_of(run.id),
                None => self.world.agent(self.agents[n].id),
            },
        }
    }

    fn perform(&self, who: Who, issue: &Issue, deed: &Deed) -> Outcome<()> {
        let caller = self.acting(who);
        match deed {
            Deed::CheckOut {
                for_agent,
                expected,
            } => {
                let agent = (who == Who::Board).then(|| self.agents[*for_agent].id);
                let command = CheckOut {
                    agent,
                    expected: expected.clone(),
                };
                caller.checks_out_with(issue, &command).map(drop)
            }
            Deed::Release => caller.releases(issue).map(drop),
            Deed::Move(status) => caller.changes(issue, &to(*status)).map(drop),
            Deed::Give(agent) => caller
                .changes(issue, &given_to(&self.agents[*agent]))
                .map(drop),
            Deed::TakeAway => caller.changes(issue, &taken_away()).map(drop),
            Deed::Say { body, reopen } => {
                let command: AddComment = if *reopen {
                    reopening(body)
                } else {
                    saying(body)
                };
                caller.adds(issue, &command).map(drop)
            }
        }
    }

    fn footprints(&self) -> [Footprint; 2] {
        [0, 1].map(|n| Footprint::of(self.world, &self.issues[n]))
    }

    /// The agent that acts as `who`, if one does.
    fn agent_of(&self, who: Who) -> Option<AgentId> {
        match who {
            Who::Board => None,
            Who::Key(n) | Who::Run(n) => Some(self.agents[n].id),
        }
    }

    fn take(&self, step: &Step) -> Result<(), TestCaseError> {
        let before = self.footprints();
        let mut refusal: Option<IssueError> = None;
        match step {
            Step::Do { who, issue, deed } => match self.perform(*who, &self.issues[*issue], deed) {
                Ok(()) => {}
                Err(Failure::Refused(refused)) => refusal = Some(refused),
                Err(Failure::Store(error)) => {
                    return Err(TestCaseError::fail(format!("{error:?}")));
                }
            },
            Step::Start => drop(self.world.start_next()),
            Step::Finish => {
                let live = self
                    .agents
                    .iter()
                    .flat_map(|agent| self.world.live_runs(agent))
                    .next();
                if let Some(run) = live {
                    prop_assert!(self.world.finish(&run));
                }
            }
            Step::Pass(minutes) => self.world.advance(Duration::from_secs(minutes * 60)),
        }
        let after = self.footprints();
        if refusal.is_some() {
            prop_assert_eq!(
                &after,
                &before,
                "refused, yet it changed something: {:?}",
                refusal
            );
        }
        for (n, (before, after)) in before.iter().zip(&after).enumerate() {
            self.check_states(after)?;
            self.check_end(step, n, before, after)?;
        }
        check_wakes(&after[0])
    }

    fn check_states(&self, it: &Footprint) -> Result<(), TestCaseError> {
        let (status, assignee) = (it.issue.status(), it.issue.assignee.agent());
        if status == IssueStatus::InProgress {
            prop_assert!(assignee.is_some(), "nobody is in progress");
        }
        let live = it
            .lease
            .as_ref()
            .filter(|lease| lease.is_live(self.world.now()));
        if let Some(lease) = live {
            prop_assert_eq!(Some(lease.holder.agent()), assignee, "held by another");
            prop_assert!(!status.is_terminal(), "an ended issue is held");
            if let Some(run) = lease.holder.run() {
                prop_assert!(
                    self.world.stored_run(run).status.is_live(),
                    "a dead run holds it"
                );
            }
        }
        Ok(())
    }

    /// An end is left only by a comment that reopens, by the board's reopening, or by a checkout
    /// that expects it; of agents only its assignee has a stake in it here.
    fn check_end(
        &self,
        step: &Step,
        n: usize,
        before: &Footprint,
        after: &Footprint,
    ) -> Result<(), TestCaseError> {
        let (from, status) = (before.issue.status(), after.issue.status());
        let epochs = [before, after].map(|footprint| footprint.issue.progress.workflow_epoch());
        if !from.is_terminal() || from == status {
            prop_assert_eq!(epochs[0], epochs[1]);
            return Ok(());
        }
        prop_assert_eq!(epochs[0] + 1, epochs[1]);
        let Step::Do { who, issue, deed } = step else {
            return Err(TestCaseError::fail("nobody reopened it"));
        };
        prop_assert_eq!(*issue, n);
        let assignee = before.issue.assignee.agent();
        let entitled = self
            .agent_of(*who)
            .is_none_or(|agent| assignee == Some(agent));
        let reopened = match deed {
            Deed::Say { reopen, .. } => *reopen && entitled && status == IssueStatus::Todo,
            Deed::Move(to) => *who == Who::Board && IssueStatus::REOPENED.contains(to),
            Deed::CheckOut { expected, .. } => {
                let expects = expected.as_ref().is_some_and(|it| it.contains(&from));
                expects && entitled && status == IssueStatus::InProgress
            }
            Deed::Release | Deed::Give(_) | Deed::TakeAway => false,
        };
        prop_assert!(reopened, "{from} became {status}");
        Ok(())
    }
}

fn check_wakes(company: &Footprint) -> Result<(), TestCaseError> {
    let mut keys = HashSet::new();
    for wake in &company.pending {
        prop_assert!(
            keys.insert((wake.agent, wake.issue)),
            "two wakes pend for one key"
        );
    }
    prop_assert!(
        company.runs.len() < PageRequest::<()>::DEFAULT_LIMIT,
        "all runs are seen"
    );
    Ok(())
}

#[test]
fn no_history_breaks_a_rule() {
    let world = World::sqlite();
    let config = Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&vec(steps(), 1..30), |history| {
        let stage = Stage::new(&world);
        history.iter().try_for_each(|step| stage.take(step))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn histories_reach_what_they_are_to_prove() {
    // A property that no history touches would prove nothing.
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Done);
    let stage = Stage {
        world: &scene.world,
        agents: [scene.ada.clone(), scene.bob.clone()],
        issues: [issue, scene.nobodys(IssueStatus::Todo)],
    };
    let reopen = Deed::Say {
        body: "@Ada and @Bob!",
        reopen: true,
    };
    stage
        .take(&Step::Do {
            who: Who::Board,
            issue: 0,
            deed: reopen,
        })
        .unwrap();
    stage.take(&Step::Start).unwrap();
    let work = Deed::CheckOut {
        for_agent: 0,
        expected: None,
    };
    stage
        .take(&Step::Do {
            who: Who::Run(0),
            issue: 0,
            deed: work,
        })
        .unwrap();
    let [first, _] = stage.footprints();
    assert_eq!(first.issue.status(), IssueStatus::InProgress);
    assert!(first.lease.unwrap().holder.run().is_some());
}
