//! Whatever happens in a company, each open issue moves, waits for somebody who was told of it, or
//! is counted as stuck.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use workforce_app::approvals::{self, SubmitApproval};
use workforce_app::issues::{CreateIssue, UpdateIssue};
use workforce_domain::approval::ApprovalType;
use workforce_domain::change::Change;
use workforce_domain::issue::{Issue, IssueStatus, StuckReason};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::RunErrorCode;
use workforce_domain::string_enum::StringEnum;
use workforce_testkit::world::{World, new_issue, no_change};

use super::{Chain, HOUR, fail};
use crate::deeds::{Deeds, given_to, saying};

/// What happens in a company.
#[derive(Clone, Debug)]
enum Step {
    Make {
        by: usize,
        to: usize,
        below: bool,
        status: IssueStatus,
    },
    Move {
        by: usize,
        issue: usize,
        to: IssueStatus,
    },
    Give {
        by: usize,
        issue: usize,
        to: usize,
    },
    HandToBoard {
        issue: usize,
    },
    Say {
        by: usize,
        issue: usize,
        body: &'static str,
    },
    Ask {
        by: usize,
        issue: usize,
    },
    Pause(usize),
    Start,
    Finish,
    Fail(RunErrorCode),
    Pass,
}

fn steps() -> impl Strategy<Value = Step> {
    // The board is the fifth.
    let (who, issue) = (0..5_usize, 0..6_usize);
    let status = || select(IssueStatus::ALL);
    let bodies = ["Fine", "@Ada?", "@Mara, please", "@Eva and @Bob!"];
    let codes = [
        RunErrorCode::AdapterFailed,
        RunErrorCode::AuthRequired,
        RunErrorCode::ProcessLost,
    ];
    prop_oneof![
        4 => (who.clone(), 0..5_usize, proptest::bool::ANY, status())
            .prop_map(|(by, to, below, status)| Step::Make { by, to, below, status }),
        6 => (who.clone(), issue.clone(), status())
            .prop_map(|(by, issue, to)| Step::Move { by, issue, to }),
        2 => (who.clone(), issue.clone(), 0..4_usize)
            .prop_map(|(by, issue, to)| Step::Give { by, issue, to }),
        1 => issue.clone().prop_map(|issue| Step::HandToBoard { issue }),
        2 => (who, issue.clone(), select(bodies.to_vec()))
            .prop_map(|(by, issue, body)| Step::Say { by, issue, body }),
        1 => (0..4_usize, issue).prop_map(|(by, issue)| Step::Ask { by, issue }),
        1 => (0..4_usize).prop_map(Step::Pause),
        4 => Just(Step::Start),
        3 => Just(Step::Finish),
        1 => select(codes.to_vec()).prop_map(Step::Fail),
        1 => Just(Step::Pass),
    ]
}

impl Chain {
    fn take(&self, step: &Step) -> Result<(), TestCaseError> {
        let all = self.issues();
        let acting = |by: usize| match self.agents.get(by) {
            Some(agent) => self.world.agent(agent.id),
            None => self.world.board(),
        };
        let chosen = |issue: usize| all.get(issue % all.len().max(1));
        let oldest = || {
            let agents = self.agents.iter();
            agents.flat_map(|agent| self.world.live_runs(agent)).next()
        };
        // What is refused changes nothing.
        match step {
            Step::Make {
                by,
                to,
                below,
                status,
            } => {
                let command = CreateIssue {
                    status: Some(*status),
                    assignee_agent_id: self.agents.get(*to).map(|agent| agent.id),
                    parent_id: chosen(*to)
                        .filter(|_| *below)
                        .map(|parent| parent.id.into()),
                    ..new_issue("Work")
                };
                let _ = acting(*by).creates(self.ada().company, &command);
            }
            Step::Move { by, issue, to } => {
                if let Some(issue) = chosen(*issue) {
                    let _ = acting(*by).moves(issue, *to);
                }
            }
            Step::Give { by, issue, to } => {
                if let Some(issue) = chosen(*issue) {
                    let _ = acting(*by).changes(issue, &given_to(&self.agents[*to]));
                }
            }
            Step::HandToBoard { issue } => {
                if let Some(issue) = chosen(*issue) {
                    let to_board = UpdateIssue {
                        assignee_user_id: Change::Set("local-board".into()),
                        ..no_change()
                    };
                    let _ = acting(4).changes(issue, &to_board);
                }
            }
            Step::Say { by, issue, body } => {
                if let Some(issue) = chosen(*issue) {
                    let _ = acting(*by).adds(issue, &saying(body));
                }
            }
            Step::Ask { by, issue } => {
                if let Some(issue) = chosen(*issue) {
                    let command = SubmitApproval {
                        kind: ApprovalType::AgentQuestion,
                        requested_by_agent_id: None,
                        payload: Some(
                            [("question".to_owned(), "Which?".into())]
                                .into_iter()
                                .collect(),
                        ),
                        issue_ids: Some(vec![issue.id.to_string()]),
                        work: Vec::new(),
                    };
                    let company = self.ada().company;
                    let _ = acting(*by)
                        .write(|tx, ctx| approvals::submit(tx, ctx, company, command.clone()));
                }
            }
            Step::Pause(agent) => self.pauses(&self.agents[*agent]),
            Step::Start => drop(self.start()?),
            Step::Finish => {
                if let Some(run) = oldest() {
                    self.world.finish(&run);
                }
            }
            Step::Fail(code) => {
                if let Some(run) = oldest() {
                    self.world.finish_as(&run, &fail(*code));
                }
            }
            Step::Pass => self.world.advance(HOUR),
        }
        Ok(())
    }
}

/// Whatever agents and the board do, and however much the agents forget: when nothing happens any
/// more, each open issue waits for somebody who was told of it, or is counted as stuck; and what is
/// stuck does not move by itself.
#[test]
fn nothing_stands_still_in_silence() {
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    });
    let histories = vec(steps(), 1..40);
    let outcome = runner.run(&histories, |history| {
        let it = Chain::in_world(World::sqlite());
        for step in &history {
            it.take(step)?;
        }
        it.settle()?;
        let all = it.issues();
        let in_hand: Vec<&Issue> = all
            .iter()
            .filter(|it| !it.status().is_terminal() && it.status() != IssueStatus::Backlog)
            .collect();
        let mut stuck = 0;
        for issue in in_hand {
            let why = it.why(issue.id);
            let is_told = it.is_told(issue, &all);
            // A sign-in is missing whoever else waits.
            prop_assert!(
                why.is_some() != is_told || why == Some(StuckReason::SignInRequired),
                "{:?}: {} {:?}",
                why,
                issue.identifier,
                issue
            );
            stuck += i64::from(why.is_some());
        }
        prop_assert_eq!(it.counted().values().sum::<i64>(), stuck);
        Ok(())
    });
    outcome.unwrap();
}
