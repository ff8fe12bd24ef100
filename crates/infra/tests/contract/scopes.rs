//! What belongs to another company does not exist.

use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::issue::{Author, Comment, Holder, IssueRef};
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::port::{ActivityFilter, AgentFilter, IssueFilter, RunFilter};
use workforce_domain::text::CommentBody;
use workforce_testkit::on_both_databases;

use crate::world::{World, goal, id, now, project};

on_both_databases! {
    #![beneath_the_rules]
    fn a_foreign_record_is_missing_to_every_look_up(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let (goal, project) = (goal(&world.company), project(&world.company));
        let (_, run) = world.queue(&world.agent, Some(&world.issue));
        world.write(|tx| {
            tx.goals_mut().insert(goal.clone())?;
            tx.projects_mut().insert(project.clone())
        });
        let by_id = IssueRef::Id(world.issue.id);
        let by_identifier = IssueRef::Identifier(world.issue.identifier.clone());
        let cases = [
            (Scope::SYSTEM, true),
            (world.scope().into(), true),
            (other.scope().into(), false),
        ];
        for (scope, there) in cases {
            let found = world.read(|reads| {
                Ok([
                    reads.companies().find(scope, world.company.id)?.is_some(),
                    reads.agents().find(scope, world.agent.id)?.is_some(),
                    reads.goals().find(scope, goal.id)?.is_some(),
                    reads.projects().find(scope, project.id)?.is_some(),
                    reads.issues().find(scope, &by_id)?.is_some(),
                    reads.issues().find(scope, &by_identifier)?.is_some(),
                    reads.runs().find(scope, run.id)?.is_some(),
                ])
            });
            assert_eq!(found, [there; 7], "found in {scope:?}");
            let locked = world.write(|tx| {
                Ok([
                    tx.companies_mut().lock(scope, world.company.id)?.is_some(),
                    tx.agents_mut().lock(scope, world.agent.id)?.is_some(),
                    tx.projects_mut().lock(scope, project.id)?.is_some(),
                    tx.goals_mut().lock(scope, goal.id)?.is_some(),
                    tx.issues_mut().lock(scope, &by_id)?.is_some(),
                    tx.issues_mut().lock(scope, &by_identifier)?.is_some(),
                    tx.runs_mut().lock(scope, run.id)?.is_some(),
                ])
            });
            assert_eq!(locked, [there; 7], "locked in {scope:?}");
        }
    }

    fn what_hangs_on_a_foreign_record_is_missing_too(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
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
            created_at: now(),
        };
        world.write(|tx| tx.comments_mut().insert(&comment));
        world.take_lease(&world.issue, Holder::Agent(world.agent.id), now());
        let (_, run) = world.queue(&world.agent, None);
        for (scope, count) in [(world.scope(), 1), (other.scope(), 0)] {
            let counts = world.read(|reads| {
                let first = PageRequest::first();
                Ok([
                    reads
                        .comments()
                        .list(scope, world.issue.id, Order::Ascending, &first)?
                        .items
                        .len(),
                    reads.comments().find_all(scope, &[comment.id])?.len(),
                    usize::from(reads.issues().lease(scope, world.issue.id)?.is_some()),
                    reads.issues().leases(scope, &[world.issue.id])?.len(),
                    usize::from(reads.runs().wake_of(scope, run.id)?.is_some()),
                    usize::from(
                        reads.agents().find_by_url_key(scope, &world.agent.url_key)?.is_some(),
                    ),
                ])
            });
            assert_eq!(counts, [count; 6]);
        }
        let pending = world.write(|tx| {
            tx.runs_mut().lock_pending_wake(other.scope(), world.agent.id, None)
        });
        assert!(pending.is_none());
    }

    fn lists_show_one_company(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        for world in [&world, &other] {
            world.queue(&world.agent, None);
        }
        let companies = world.read(|reads| {
            let scope = world.scope();
            let agents = reads.agents().list(
                scope,
                AgentFilter { include_terminated: true },
                &PageRequest::first(),
            )?;
            let issues =
                reads.issues().list(scope, &IssueFilter::default(), &PageRequest::first())?;
            let runs = reads.runs().list(scope, &RunFilter::default(), &PageRequest::first())?;
            let activity =
                reads.activity().list(scope, &ActivityFilter::default(), &PageRequest::first())?;
            Ok(agents
                .items
                .iter()
                .map(CompanyOwned::company)
                .chain(issues.items.iter().map(CompanyOwned::company))
                .chain(runs.items.iter().map(CompanyOwned::company))
                .chain(activity.items.iter().map(|row| row.company))
                .collect::<Vec<_>>())
        });
        assert_eq!(companies, [world.company.id; 3]);
    }
}
