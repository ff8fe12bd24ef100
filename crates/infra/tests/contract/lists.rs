//! Pages of every list: walked to the end in pages of any size they are the
//! whole list, in order, each row once, ties among them.

use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::ActorKind;
use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::agent::AgentKey;
use workforce_domain::cost::CostEvent;
use workforce_domain::goal::Goal;
use workforce_domain::issue::{Author, Comment};
use workforce_domain::page::{CreationKey, Order, PageRequest};
use workforce_domain::port::{ActivityFilter, AgentFilter, RunFilter};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::text::{CommentBody, Description, Name};
use workforce_testkit::on_both_databases;

use crate::engine::cost;
use crate::world::{
    World, agent, claim, company, goal, id, later, lock_agent, now, project, queue, read, wake,
    walk, write,
};

const ROWS: u64 = 23;
const LIMITS: [usize; 6] = [1, 2, 3, 7, 23, 100];

/// The instant of the `n`th row: three rows share each.
fn at(n: u64) -> workforce_domain::time::Timestamp {
    later(n / 3)
}

on_both_databases! {
    #![beneath_the_rules]
    fn companies_are_walked_oldest_first(store: &TestStore) {
        let mut expected = Vec::new();
        for n in 0..ROWS {
            let company = workforce_domain::company::Company { created_at: at(n), ..company() };
            write(&**store, |tx| tx.companies_mut().insert(company.clone()));
            expected.push(company.id);
        }
        for limit in LIMITS {
            let walked = walk(limit, |page| {
                read(&**store, |reads| reads.companies().list(Scope::SYSTEM, &[], page))
            });
            let ids: Vec<_> = walked.iter().map(|company| company.id).collect();
            assert_eq!(ids, expected, "in pages of {limit}");
        }
    }

    fn agents_goals_projects_and_keys_are_walked_oldest_first(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let mut expected = (vec![world.agent.id], Vec::new(), Vec::new(), Vec::new());
        for n in 0..ROWS {
            let agent = workforce_domain::agent::Agent { created_at: at(n), ..agent(&world.company) };
            let goal = Goal { created_at: at(n), ..goal(&world.company) };
            let project =
                workforce_domain::project::Project { created_at: at(n), ..project(&world.company) };
            let key = AgentKey {
                id: id(),
                company: world.company.id,
                agent: world.agent.id,
                name: Name::parse("k").unwrap(),
                prefix: "wfk".into(),
                digest: [u8::try_from(n).unwrap(); 32],
                created_at: at(n),
                last_used_at: None,
                revoked_at: None,
            };
            world.write(|tx| {
                tx.agents_mut().insert(agent.clone())?;
                tx.goals_mut().insert(goal.clone())?;
                tx.projects_mut().insert(project.clone())?;
                let held = lock_agent(tx, &world.agent)?;
                tx.credentials_mut().insert_key(&held, &key)
            });
            expected.0.push(agent.id);
            expected.1.push(goal.id);
            expected.2.push(project.id);
            expected.3.push(key.id);
        }
        other.write(|tx| tx.goals_mut().insert(goal(&other.company)));
        let scope = world.scope();
        for limit in LIMITS {
            let filter = AgentFilter { include_terminated: false };
            let agents =
                walk(limit, |page| world.read(|reads| reads.agents().list(scope, filter, page)));
            let goals = walk(limit, |page| world.read(|reads| reads.goals().list(scope, page)));
            let projects =
                walk(limit, |page| world.read(|reads| reads.projects().list(scope, page)));
            let keys = walk(limit, |page| {
                world.read(|reads| reads.credentials().keys(scope, world.agent.id, page))
            });
            let ids = (
                agents.iter().map(|it| it.id).collect::<Vec<_>>(),
                goals.iter().map(|it| it.id).collect::<Vec<_>>(),
                projects.iter().map(|it| it.id).collect::<Vec<_>>(),
                keys.iter().map(|it| it.id).collect::<Vec<_>>(),
            );
            assert_eq!(ids, expected, "in pages of {limit}");
        }
    }

    fn comments_are_walked_in_either_order(store: &TestStore) {
        let world = World::new(store);
        let mut expected = Vec::new();
        for n in 0..ROWS {
            let comment = Comment {
                id: id(),
                company: world.company.id,
                issue: world.issue.id,
                author: Author::default(),
                run: None,
                body: CommentBody::parse("x").unwrap(),
                mentions: Vec::new(),
                review: None,
                position: None,
                created_at: at(n),
            };
            world.write(|tx| tx.comments_mut().insert(&comment));
            expected.push(comment);
        }
        for order in [Order::Ascending, Order::Descending] {
            for limit in LIMITS {
                let walked = walk(limit, |page| {
                    world.read(|reads| {
                        reads.comments().list(world.scope(), world.issue.id, order, page)
                    })
                });
                assert_eq!(walked, expected, "in pages of {limit}");
            }
            expected.reverse();
        }
        let elsewhere = world.open();
        let none = world.read(|reads| {
            reads.comments().list(
                world.scope(),
                elsewhere.id,
                Order::Ascending,
                &PageRequest::first(),
            )
        });
        assert_eq!((none.items, none.next), (Vec::new(), None));
    }

    fn runs_are_walked_newest_first_under_every_filter(store: &TestStore) {
        let world = World::new(store);
        let other = world.hire();
        world.change_company(|company| company.max_concurrent_runs = 5);
        let mut all: Vec<Run> = Vec::new();
        for n in 0..ROWS {
            let on_issue = n % 3 == 0;
            let agent = if n % 2 == 0 { &world.agent } else { &other };
            let (wake, mut run) = wake(agent, on_issue.then_some(&world.issue));
            run.created_at = at(n);
            world.write(|tx| queue(tx, &wake, &run));
            if n % 5 == 0 {
                run = claim(store).expect("it may start").run;
                world.finish(&run);
            } else {
                world.write(|tx| {
                    tx.runs_mut().cancel_pending(
                        world.scope(),
                        workforce_domain::port::StopScope::Company,
                        later(50),
                    )
                });
            }
            all.push(world.run(&run));
        }
        let queued = world.queue(&world.agent, None).1;
        all.push(queued);
        all.sort_by_key(|run| core::cmp::Reverse((run.created_at, run.id)));
        let filters = [
            RunFilter::default(),
            RunFilter { agent: Some(other.id), ..RunFilter::default() },
            RunFilter { issue: Some(world.issue.id), ..RunFilter::default() },
            RunFilter { statuses: vec![RunStatus::Queued], ..RunFilter::default() },
            RunFilter {
                statuses: vec![RunStatus::Succeeded, RunStatus::Queued, RunStatus::Cancelled],
                ..RunFilter::default()
            },
            RunFilter {
                agent: Some(world.agent.id),
                issue: Some(world.issue.id),
                statuses: vec![RunStatus::Cancelled],
            },
        ];
        for filter in filters {
            let expected: Vec<&Run> = all
                .iter()
                .filter(|run| filter.agent.is_none_or(|agent| run.agent == agent))
                .filter(|run| filter.issue.is_none_or(|issue| run.issue == Some(issue)))
                .filter(|run| filter.statuses.is_empty() || filter.statuses.contains(&run.status))
                .collect();
            assert!(!expected.is_empty(), "{filter:?} finds something");
            for limit in LIMITS {
                let walked = walk(limit, |page| {
                    world.read(|reads| reads.runs().list(world.scope(), &filter, page))
                });
                let walked: Vec<&Run> = walked.iter().collect();
                assert_eq!(walked, expected, "{filter:?} in pages of {limit}");
            }
        }
    }

    fn costs_are_walked_newest_first(store: &TestStore) {
        let world = World::new(store);
        let mut expected = Vec::new();
        for n in 0..ROWS {
            let event = CostEvent { created_at: at(n), ..cost(&world, "1") };
            world.write(|tx| tx.ledger_mut().record(&event));
            expected.insert(0, event);
        }
        for limit in LIMITS {
            let walked =
                walk(limit, |page| world.read(|reads| reads.ledger().list(world.scope(), page)));
            assert_eq!(walked, expected, "in pages of {limit}");
        }
    }

    fn activity_is_walked_newest_first_under_every_filter(store: &TestStore) {
        let world = World::new(store);
        let mut all = Vec::new();
        for n in 0..ROWS {
            let (entity, entity_id) = if n % 2 == 0 {
                (Entity::Issue, world.issue.id.to_string())
            } else {
                (Entity::Agent, world.agent.id.to_string())
            };
            let mut details = Document::new();
            details.insert("n".into(), n.into());
            let row = Activity {
                id: id(),
                company: world.company.id,
                actor_kind: ActorKind::Agent,
                actor_id: "someone".into(),
                agent: (n % 3 == 0).then_some(world.agent.id),
                run: None,
                action: Action::IssueUpdated,
                entity,
                entity_id,
                details,
                created_at: at(n),
            };
            all.insert(0, row);
        }
        // Those of one instant are of one transaction, as they are in life.
        for same in all.chunk_by(|one, other| one.created_at == other.created_at).rev() {
            world.write(|tx| {
                for row in same {
                    tx.journal().activity(row.clone());
                }
                Ok(())
            });
        }
        let filters = [
            ActivityFilter::default(),
            ActivityFilter::of_issue(world.issue.id),
            ActivityFilter { agent: Some(world.agent.id), ..ActivityFilter::default() },
            ActivityFilter { entity: Some(Entity::Agent), ..ActivityFilter::default() },
            ActivityFilter {
                entity_id: Some(world.agent.id.to_string()),
                ..ActivityFilter::default()
            },
        ];
        for filter in filters {
            let expected: Vec<&Activity> = all
                .iter()
                .filter(|row| filter.agent.is_none() || row.agent == filter.agent)
                .filter(|row| filter.entity.is_none_or(|entity| row.entity == entity))
                .filter(|row| filter.entity_id.as_ref().is_none_or(|id| row.entity_id == *id))
                .collect();
            for limit in LIMITS {
                let walked = walk(limit, |page| {
                    world.read(|reads| reads.activity().list(world.scope(), &filter, page))
                });
                let walked: Vec<&Activity> = walked.iter().collect();
                assert_eq!(walked, expected, "{filter:?} in pages of {limit}");
            }
        }
    }

    fn events_are_read_after_a_number(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        for n in 0..5_u64 {
            world.write(|tx| {
                let mut payload = Document::new();
                payload.insert("n".into(), n.into());
                for company in [world.company.id, other.company.id] {
                    tx.journal().event(Event {
                        company,
                        kind: EventKind::IssueUpdated,
                        payload: payload.clone(),
                        created_at: now(),
                    });
                }
                Ok(())
            });
        }
        let events = |after, limit| {
            let events =
                world.read(|reads| reads.activity().events(world.scope(), after, limit));
            events
                .into_iter()
                .map(|numbered| {
                    assert_eq!(numbered.event.company, world.company.id);
                    (numbered.sequence, numbered.event.payload["n"].as_u64().unwrap())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(events(0, 100), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]);
        assert_eq!(events(2, 2), [(3, 2), (4, 3)]);
        assert_eq!(events(5, 2), []);
    }

    fn a_page_ends_with_the_row_that_makes_it_too_heavy(store: &TestStore) {
        let world = World::new(store);
        let text = "x".repeat(1000);
        for n in 0..6 {
            let goal = Goal {
                description: Some(Description::parse(&text).unwrap()),
                created_at: at(n),
                ..goal(&world.company)
            };
            world.write(|tx| tx.goals_mut().insert(goal.clone()));
        }
        let page = |after, max_bytes| {
            let request = PageRequest { after, limit: 100, max_bytes };
            world.read(|reads| reads.goals().list(world.scope(), &request))
        };
        let first = page(None, 2500);
        assert_eq!(first.items.len(), 3);
        let second = page(first.next, 2500);
        assert_eq!((second.items.len(), second.next), (3, None));
        let one = page(None, 0);
        assert_eq!(one.items.len(), 1, "a page is never empty while there are rows");
        let key = one.next.expect("there are more");
        assert_eq!(key, CreationKey { at: one.items[0].created_at.micros(), id: one.items[0].id });
        assert_eq!(one.items[0].scope(), world.scope());
    }
}
