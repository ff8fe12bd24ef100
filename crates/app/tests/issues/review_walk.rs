//! Whatever agents and the board do with governed work, in whatever order, there is somebody who
//! can bring each issue to its end.

use workforce_app::issues::{CreateIssue, UpdateIssue};
use workforce_app::{Failure, agents};
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::{Assignee, Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{Acting, done, new_issue, no_change};

use crate::deeds::{Deeds, from, given_to, taken_away, to, words};
use crate::ticket::Ticket;

/// So many steps make a walk.
const STEPS: usize = 60;

/// Numbers that follow from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

const STATUSES: [IssueStatus; 7] = [
    IssueStatus::Backlog,
    IssueStatus::Todo,
    IssueStatus::InProgress,
    IssueStatus::InReview,
    IssueStatus::Blocked,
    IssueStatus::Done,
    IssueStatus::Cancelled,
];

/// Anything may be refused, but the store fails nobody.
#[track_caller]
fn may_be_refused<T, E: std::fmt::Debug>(outcome: Result<T, Failure<E>>) {
    if let Err(Failure::Store(error)) = outcome {
        panic!("{error:?}");
    }
}

/// A company in the midst of a walk.
struct Walk {
    it: Ticket,
    agents: Vec<Agent>,
    issues: Vec<Issue>,
    draws: Draws,
    /// How often work was seen in review, and how often sent back.
    seen: [usize; 2],
}

impl Walk {
    fn new(it: Ticket, seed: u64) -> Self {
        let agents = [&it.lead, &it.worker, &it.second]
            .map(Agent::clone)
            .to_vec();
        let part = it.part();
        let issues = vec![it.top.clone(), part];
        Self {
            it,
            agents,
            issues,
            draws: Draws(seed),
            seen: [0; 2],
        }
    }

    /// Somebody does something, which may be refused.
    fn step(&mut self) {
        let draws = &mut self.draws;
        let issue = draws.one_of(&self.issues).clone();
        // Mostly whoever has the issue, who may do most with it.
        let assignee = self.it.now(&issue).assignee.agent();
        let assignee = self.agents.iter().find(|agent| Some(agent.id) == assignee);
        let agent = match assignee {
            Some(assignee) if draws.below(4) != 0 => assignee.clone(),
            _ => draws.one_of(&self.agents).clone(),
        };
        let present = self.it.world.stored_agent(agent.id).is_employed();
        let by_board = !present || draws.below(8) == 0;
        let caller: Acting<'_> = match by_board {
            true => self.it.world.board(),
            false => self.it.world.agent(agent.id),
        };
        let status = match draws.below(3) {
            0 => *draws.one_of(&STATUSES),
            1 => IssueStatus::InProgress,
            _ => IssueStatus::Done,
        };
        let other = draws.one_of(&self.agents).clone();
        match draws.below(24) {
            0..=7 | 16.. => may_be_refused(caller.changes(&issue, &to(status))),
            8 => may_be_refused(caller.changes(
                &issue,
                &UpdateIssue {
                    status: Replace::Set(status),
                    comment: Some(words("@Lead, @Worker: look.")),
                    ..given_to(&other)
                },
            )),
            9 => may_be_refused(caller.checks_out_with(&issue, &from(&STATUSES))),
            10 => may_be_refused(caller.releases(&issue)),
            11 => may_be_refused(caller.changes(&issue, &given_to(&other))),
            12 => may_be_refused(caller.changes(&issue, &taken_away())),
            13 => may_be_refused(caller.changes(
                &issue,
                &UpdateIssue {
                    assignee_user_id: Change::Set("local-board".into()),
                    ..no_change()
                },
            )),
            14 if self.issues.len() < 6 => {
                let part = CreateIssue {
                    parent_id: Some(issue.id.into()),
                    assignee_agent_id: present.then_some(agent.id),
                    ..new_issue("One more part")
                };
                let made = caller.creates(self.it.company.id, &part);
                self.issues.extend(made.as_ref().ok().cloned());
                may_be_refused(made);
            }
            14 => may_be_refused(caller.adds(&issue, &crate::deeds::reopening("Once more."))),
            _ if draws.below(12) == 0 => {
                let board = self.it.world.board();
                may_be_refused(board.write(|tx, ctx| agents::terminate(tx, ctx, agent.id)));
            }
            _ => {}
        }
    }

    /// Fails unless nobody but the board, or an employed agent, has each open issue, and no
    /// review is that of whoever did the work.
    fn check(&mut self, step: usize) {
        for issue in &self.issues {
            let now = self.it.now(issue);
            if now.status().is_terminal() {
                assert_eq!(now.implementer, None, "step {step}: {now:?}");
                continue;
            }
            if let Assignee::Agent(agent) = *now.assignee {
                let agent = self.it.world.stored_agent(agent);
                assert!(agent.is_employed(), "step {step}: {now:?}");
            }
            if now.status() == IssueStatus::InReview && now.implementer.is_some() {
                let own = now.implementer == now.assignee.agent();
                assert!(!own, "step {step}: {now:?}");
                self.seen[0] += 1;
            }
            let goes_on = now.status() == IssueStatus::InProgress && now.implementer.is_some();
            self.seen[1] += usize::from(goes_on);
        }
    }

    /// Brings every issue to its end, each by its assignee alone as long as that is an agent, and
    /// by the board otherwise; the parts come before the whole.
    fn end(&self) {
        let mut left: Vec<&Issue> = self.issues.iter().rev().collect();
        for _ in 0..8 * self.issues.len() {
            left.retain(|issue| !self.it.now(issue).status().is_terminal());
            let Some(issue) = left.first() else {
                return;
            };
            let now = self.it.now(issue);
            left.rotate_left(1);
            let board = self.it.world.board();
            let Some(agent) = now.assignee.agent() else {
                done(board.moves(&now, IssueStatus::Done));
                continue;
            };
            let agent = self.it.world.agent(agent);
            let moved = match now.status() {
                IssueStatus::InProgress => agent.moves(&now, IssueStatus::Done).map(drop),
                IssueStatus::InReview if now.parent.is_some() => {
                    agent.moves(&now, IssueStatus::Done).map(drop)
                }
                // Only the board ends a governed issue that is no part of another.
                IssueStatus::InReview => board.moves(&now, IssueStatus::Done).map(drop),
                _ => agent.moves(&now, IssueStatus::InProgress).map(drop),
            };
            if let Err(refusal) = moved {
                let refusal = format!("{refusal:?}");
                assert!(refusal.contains("ChildrenOpen"), "{refusal}: {now:?}");
            }
        }
        let left: Vec<_> = left.iter().map(|issue| self.it.now(issue)).collect();
        panic!("stuck: {left:?}");
    }
}

on_both_databases! {
    fn no_order_of_deeds_leaves_governed_work_stuck(store: &TestStore) {
        let mut seen = [0; 2];
        for seed in 1..=24 {
            let mut walk = Walk::new(Ticket::on(store), seed * 0x9e37_79b9);
            for step in 0..STEPS {
                walk.step();
                walk.check(step);
            }
            walk.end();
            seen = [seen[0] + walk.seen[0], seen[1] + walk.seen[1]];
        }
        assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    }
}
