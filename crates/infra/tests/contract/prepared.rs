//! The statements of the writes that come most often stay prepared.

use std::collections::HashSet;

use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::{ActorKind, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::budget::Threshold;
use workforce_domain::company::Company;
use workforce_domain::cost::CostEvent;
use workforce_domain::issue::{Assignment, Author, Comment, Issue};
use workforce_domain::port::{Locked, NewLease, Spender, Store, StoreError, Tx};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::text::{CommentBody, Description};
use workforce_domain::time::Month;
use workforce_infra::store::{Durability, OpenOptions, open};
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::engine::cost;
use crate::recorder::{install, recorded};
use crate::world::{World, id, issue, later, lock_issue, now, queue, share_employed, wake, write};

/// What the writes are about.
struct Fixture {
    scope: CompanyScope,
    company: Company,
    agent: Agent,
    parent: Issue,
    cost: CostEvent,
}

/// Comments on an issue, checks it out, releases it and reports a cost. With `more`, columns
/// are filled that are empty without, and the other way round.
fn work(tx: &mut dyn Tx, fixture: &Fixture, issue: &Issue, more: bool) -> Result<(), StoreError> {
    let agent = share_employed(tx, fixture.scope, fixture.agent.id)?;
    let mut held = lock_issue(tx, issue)?;
    let (mut wake, run) = wake(&fixture.agent, Some(issue));
    queue(tx, &wake, &run)?;
    let pending =
        tx.runs_mut()
            .lock_pending_wake(fixture.scope, fixture.agent.id, Some(issue.id))?;
    let mut pending = pending.expect("it was queued");
    wake.requested_by = more.then(|| "board".to_owned());
    pending.requested_by = wake.requested_by;
    tx.runs_mut().save_wake(&pending)?;

    tx.issues().lease(fixture.scope, issue.id)?;
    tx.approvals().undecided_blocking(fixture.scope, issue.id)?;
    held.assignee = if more {
        Assignment::to_agent(&agent)
    } else {
        Assignment::NOBODY
    };
    tx.issues_mut().save(&held)?;
    // A run that nobody claimed is live to the lease alone.
    let live = Locked::assume_locked(Run {
        status: RunStatus::Running,
        ..run.clone()
    });
    let live = if more { live.live() } else { None };
    let lease = NewLease::of(&held, &agent, live, now());
    tx.issues_mut().take_lease(&held, lease.clone())?;
    tx.issues_mut().take_lease(&held, lease)?;
    tx.issues().ancestors(fixture.scope, issue.id)?;
    tx.issues().open_children(fixture.scope, issue.id)?;
    tx.issues().governance(fixture.scope, issue.id)?;
    tx.issues_mut().end_lease(&held)?;
    tx.labels().of_issues(fixture.scope, &[issue.id])?;

    tx.agents().mentionable(fixture.scope)?;
    tx.agents().names(fixture.scope)?;
    tx.agents()
        .chain_of_command(fixture.scope, fixture.agent.id)?;
    tx.comments_mut().insert(&Comment {
        id: id(),
        company: fixture.company.id,
        issue: issue.id,
        author: Author::default(),
        run: more.then_some(run.id),
        body: CommentBody::parse("x").unwrap(),
        mentions: Vec::new(),
        review: None,
        position: None,
        created_at: now(),
    })?;
    report_cost(tx, fixture, more)?;
    for _ in 0..=usize::from(more) {
        tell(tx, fixture, issue, more);
    }
    Ok(())
}

/// Makes an issue.
fn make_issue(tx: &mut dyn Tx, fixture: &Fixture, more: bool) -> Result<Issue, StoreError> {
    lock_issue(tx, &fixture.parent)?;
    tx.issues_mut().lock_hierarchy(fixture.scope)?;
    tx.issues().depth_below(fixture.scope, fixture.parent.id)?;
    let number = 1_000_000 + tx.companies_mut().next_issue_number(fixture.scope)?;
    let issue = Issue {
        number,
        identifier: format!("{}-{number}", fixture.company.issue_prefix),
        parent: more.then_some(fixture.parent.id),
        description: more.then(|| Description::parse("x").unwrap()),
        ..issue(&fixture.company)
    };
    tx.issues_mut().insert(issue.clone())?;
    Ok(issue)
}

fn report_cost(tx: &mut dyn Tx, fixture: &Fixture, more: bool) -> Result<(), StoreError> {
    let month = Month::of(now());
    let spender = Spender::Agent(fixture.agent.id);
    tx.ledger_mut().record(&CostEvent {
        id: id(),
        issue: more.then_some(fixture.parent.id),
        ..fixture.cost.clone()
    })?;
    tx.ledger().spent(fixture.scope, spender, month)?;
    tx.ledger().alerts(fixture.scope, spender, month)?;
    tx.ledger_mut()
        .raise_alert(fixture.scope, spender, month, Threshold::Soft, now())?;
    Ok(())
}

fn tell(tx: &mut dyn Tx, fixture: &Fixture, issue: &Issue, more: bool) {
    tx.journal().activity(Activity {
        id: id(),
        company: fixture.company.id,
        actor_kind: ActorKind::Agent,
        actor_id: "x".into(),
        agent: more.then_some(fixture.agent.id),
        run: None,
        action: Action::IssueUpdated,
        entity: Entity::Issue,
        entity_id: issue.id.to_string(),
        details: Document::new(),
        created_at: later(1),
    });
    tx.journal().event(Event {
        company: fixture.company.id,
        kind: EventKind::IssueUpdated,
        payload: Document::new(),
        created_at: later(1),
    });
}

/// Statements around a transaction, which PostgreSQL does not prepare at all.
fn is_boundary(statement: &str) -> bool {
    statement.starts_with("BEGIN") || statement == "COMMIT"
}

/// Works twice on one connection: the second time nothing is prepared any more.
#[track_caller]
fn prepares_once(store: &dyn Store, fixture: &Fixture) {
    let make_and_work = |more| {
        let issue = write(store, |tx| make_issue(tx, fixture, more));
        write(store, |tx| work(tx, fixture, &issue, more));
    };
    let first = recorded(|| make_and_work(false));
    let second = recorded(|| make_and_work(true));
    assert!(first.kept.len() > 20, "{first:#?}");
    assert_eq!(second.kept, [""; 0], "prepared and kept once more");
    let kept: HashSet<_> = first.kept.iter().collect();
    let passing: Vec<_> = second
        .run
        .iter()
        .filter(|statement| !is_boundary(statement) && !kept.contains(statement))
        .collect();
    assert!(passing.is_empty(), "prepared anew each time: {passing:#?}");
}

fn fixture(world: &World<'_>) -> Fixture {
    Fixture {
        scope: world.scope(),
        company: world.company.clone(),
        agent: world.agent.clone(),
        parent: world.issue.clone(),
        cost: cost(world, "1"),
    }
}

#[test]
fn sqlite_prepares_the_writes_once() {
    let filled = sqlite_store();
    filled.is_beneath_the_rules();
    let fixture = fixture(&World::new(&filled));
    // Opened anew by a copy of its own, whose writer has run nothing yet.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    filled.execute(&format!("VACUUM INTO '{}'", path.display()));
    install();
    let url = workforce_infra::store::DatabaseUrl::sqlite(&path);
    prepares_once(&*open(&url, &options()).unwrap(), &fixture);
}

#[test]
fn postgres_prepares_the_writes_once() {
    let Some(filled) = postgres_store() else {
        return;
    };
    filled.is_beneath_the_rules();
    let fixture = fixture(&World::new(&filled));
    install();
    prepares_once(&*open(filled.url(), &options()).unwrap(), &fixture);
}

/// One connection, so that both times it is the same.
fn options() -> OpenOptions {
    OpenOptions {
        pool_size: 1,
        durability: Durability::ProcessEnd,
        ..OpenOptions::default()
    }
}
