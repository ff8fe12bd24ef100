//! What holds when many act at the same time.

use std::collections::HashMap;
use std::sync::Barrier;
use std::thread;

use workforce_app::Failure;
use workforce_app::issues::{CreateIssue, IssueError};
use workforce_domain::id::AgentId;
use workforce_domain::issue::{ConflictReason, Issue, IssueStatus};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, new_issue};

use crate::deeds::Deeds;

/// A conflict as its loser sees it: the issue, and who has it.
type Lost = (
    usize,
    ConflictReason,
    Option<AgentId>,
    Option<AgentId>,
    bool,
);

/// What one agent won, and how it lost the rest.
fn race(world: &World, agent: AgentId, issues: &[Issue], start: usize) -> (Vec<usize>, Vec<Lost>) {
    let (mut won, mut lost) = (Vec::new(), Vec::new());
    for place in (0..issues.len()).map(|step| (start + step) % issues.len()) {
        match world.agent(agent).checks_out(&issues[place]) {
            Ok(view) => {
                assert_eq!(view.issue.assignee.agent(), Some(agent));
                assert_eq!(view.lease.unwrap().holder.agent(), agent);
                won.push(place);
            }
            Err(Failure::Refused(IssueError::Conflict {
                issue,
                conflict: it,
            })) => {
                assert_eq!(issue, issues[place].id);
                let holders = (it.assignee_agent, it.holder_agent);
                lost.push((place, it.reason, holders.0, holders.1, it.holder_live));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    (won, lost)
}

on_both_databases! {
    fn sixteen_agents_that_race_for_fifty_issues_get_each_of_them_once(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme").id;
        let agents: Vec<_> =
            (0..16).map(|n| world.hired(company, &format!("Agent {n}")).id).collect();
        let issues: Vec<_> = (0..50).map(|n| world.todo(company, &format!("Issue {n}"))).collect();
        let outcomes: Vec<_> = thread::scope(|scope| {
            let (world, issues) = (&world, &issues);
            let racers: Vec<_> = agents
                .iter()
                // All of them begin with the same few issues, so that they meet.
                .enumerate()
                .map(|(n, agent)| scope.spawn(move || race(world, *agent, issues, n % 3)))
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let mut winners = HashMap::new();
        for (agent, (won, _)) in agents.iter().zip(&outcomes) {
            for place in won {
                assert_eq!(winners.insert(*place, *agent), None, "issue {place} was won twice");
            }
        }
        assert_eq!(winners.len(), 50);
        for (place, reason, assignee, holder, live) in outcomes.into_iter().flat_map(|it| it.1) {
            let winner = winners[&place];
            assert_eq!(reason, ConflictReason::OtherAssignee);
            assert_eq!((assignee, holder, live), (Some(winner), Some(winner), true));
        }
        for (place, issue) in issues.iter().enumerate() {
            let stored = world.stored_issue(issue.id);
            assert_eq!(stored.status(), IssueStatus::InProgress);
            assert_eq!(stored.assignee.agent(), Some(winners[&place]));
            let lease = world.stored_lease(&stored).unwrap();
            assert_eq!(lease.holder.agent(), winners[&place]);
        }
    }

    fn numbers_have_no_gap_and_no_double_when_eight_create_at_once(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme");
        let agents: Vec<_> =
            (0..8).map(|n| world.hired(company.id, &format!("Agent {n}")).id).collect();
        let mut created: Vec<Issue> = thread::scope(|scope| {
            let (world, company) = (&world, company.id);
            let makers: Vec<_> = agents
                .iter()
                .map(|agent| {
                    scope.spawn(move || {
                        let maker = world.agent(*agent);
                        let make = |n: usize| {
                            // What is refused must not use a number up.
                            let nowhere =
                                CreateIssue { parent_id: Some(world.id::<workforce_domain::id::IssueId>().into()), ..new_issue("Lost") };
                            assert!(maker.creates(company, &nowhere).is_err());
                            done(maker.creates(company, &new_issue(&format!("Issue {n}"))))
                        };
                        (0..25).map(make).collect::<Vec<_>>()
                    })
                })
                .collect();
            makers.into_iter().flat_map(|maker| maker.join().unwrap()).collect()
        });
        created.sort_by_key(|issue| issue.number);
        let numbers: Vec<i64> = created.iter().map(|issue| issue.number).collect();
        assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
        for issue in &created {
            assert_eq!(issue.identifier, format!("{}-{}", company.issue_prefix, issue.number));
            assert_eq!(world.stored_issue(issue.id).identifier, issue.identifier);
        }
    }

    fn of_children_that_end_at_the_same_time_one_is_the_last(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme").id;
        let (lead, worker) = (world.hired(company, "Lead"), world.hired(company, "Worker"));
        let below = |parent: &Issue| {
            let child = CreateIssue {
                status: Some(IssueStatus::InProgress),
                assignee_agent_id: Some(worker.id),
                parent_id: Some(parent.id.into()),
                ..new_issue("A part")
            };
            world.issue_with(company, &child)
        };
        let parked = CreateIssue { assignee_agent_id: Some(lead.id), ..new_issue("The whole") };
        // Each pair is ended at one moment, which is missed now and then.
        let parents: Vec<_> = (0..20).map(|_| world.issue_with(company, &parked)).collect();
        for parent in &parents {
            let (children, start) = ([below(parent), below(parent)], Barrier::new(2));
            thread::scope(|scope| {
                let (world, worker, start) = (&world, worker.id, &start);
                for child in &children {
                    scope.spawn(move || {
                        start.wait();
                        done(world.agent(worker).moves(child, IssueStatus::Done))
                    });
                }
            });
        }
        let told: Vec<_> =
            world.pending_wakes(&lead).iter().map(|wake| (wake.issue.unwrap(), wake.count)).collect();
        let expected: Vec<_> = parents.iter().map(|parent| (parent.id, 1)).collect();
        assert_eq!(told, expected);
    }

    fn ten_causes_at_once_make_one_pending_wake(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme").id;
        let ada = world.hired(company, "Ada");
        let parked = CreateIssue {
            status: Some(IssueStatus::Blocked),
            assignee_agent_id: Some(ada.id),
            ..new_issue("Ask around")
        };
        let issue = world.issue_with(company, &parked);
        world.start_all();
        thread::scope(|scope| {
            let (world, issue) = (&world, &issue);
            for n in 0..10 {
                scope.spawn(move || done(world.board().says(issue, &format!("Remark {n}"))));
            }
        });
        let wakes = world.pending_wakes(&ada);
        assert_eq!(wakes.len(), 1);
        assert_eq!((wakes[0].count, wakes[0].comments.len()), (10, 10));
    }
}
