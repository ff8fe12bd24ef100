//! What goes over many rows, the figures of the dashboard and what the engine
//! does every few seconds, walks over what it counts or changes, and not over
//! all there ever was.

use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::board::BoardMember;
use workforce_domain::dashboard::Cutoffs;
use workforce_domain::issue::Assignee;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AgendaTerms, StopScope, StoreError, Tx};
use workforce_domain::run::RunErrorCode;
use workforce_domain::session::TaskKey;
use workforce_domain::time::Month;
use workforce_testkit::store::TestStore;

use super::filling::Asked;
use super::{Purpose, faults_of, recorded};
use crate::world::{id, later, now, read, request, write};

/// So much is done at a time.
const BATCH: usize = 20;

type Deed<'a> = Box<dyn FnMut(&mut dyn Tx) -> Result<(), StoreError> + 'a>;

/// The statements of the dashboard.
fn counting(store: &TestStore, asked: &Asked) -> Vec<String> {
    let instants = Cutoffs {
        now: now(),
        today: now(),
        yesterday: now(),
        hour_ago: now(),
    };
    recorded(|| {
        read(&**store, |reads| {
            reads.companies().figures(asked.scope, instants)?;
            reads.companies().badges(asked.scope)?;
            reads.issues().count_by_project(asked.scope)?;
            reads.issues().count_by_goal(asked.scope)
        });
    })
}

/// The statements of whoever scrapes metrics.
fn scraping(store: &TestStore) -> Vec<String> {
    let terms = request(id()).terms();
    recorded(|| {
        read(&**store, |reads| {
            let companies = reads.companies();
            companies.instance_figures(InstanceScope::SYSTEM, &terms)
        });
    })
}

/// What the engine and its housekeeping do.
fn deeds(asked: &Asked) -> Vec<(&'static str, Deed<'_>)> {
    let scope = asked.scope;
    vec![
        (
            "a claim",
            Box::new(move |tx: &mut dyn Tx| {
                let request = request(id());
                tx.runs()
                    .blocking_conditions(scope, id(), &request.terms())?;
                let engine = tx.engine_mut();
                let claimed = engine
                    .claim(InstanceScope::SYSTEM, &request)?
                    .expect("a wake is due");
                let renewed = engine.renew(
                    InstanceScope::SYSTEM,
                    request.instance,
                    &[claimed.run.id],
                    later(90),
                )?;
                assert_eq!(renewed.len(), 1);
                let engine = tx.engine();
                let expired = engine.expired(InstanceScope::SYSTEM, later(100), BATCH)?;
                assert_eq!(expired.len(), 1);
                engine.running_elsewhere(InstanceScope::SYSTEM, id())?;
                for issue in [None, Some(asked.issue)] {
                    engine.last_retry_of(scope, asked.agent, issue)?;
                }
                Ok(())
            }) as Deed<'_>,
        ),
        (
            "the leases of a run that ends",
            Box::new(|tx: &mut dyn Tx| {
                let expired = tx
                    .engine()
                    .expired(InstanceScope::SYSTEM, later(100), BATCH)?;
                let run = tx.runs_mut().lock(Scope::SYSTEM, expired[0].id)?;
                tx.issues_mut()
                    .end_leases_of_run(&run.expect("it was claimed"))
            }),
        ),
        (
            "timers and budgets",
            Box::new(|tx: &mut dyn Tx| {
                let engine = tx.engine();
                engine.timers_to_check(InstanceScope::SYSTEM, now(), BATCH)?;
                let terms = AgendaTerms {
                    now: now(),
                    ended_by: now(),
                };
                engine.agenda(InstanceScope::SYSTEM, &terms)?;
                engine.has_startable(InstanceScope::SYSTEM, &request(id()).terms())?;
                engine.budget_stops_to_lift(InstanceScope::SYSTEM, Month::of(now()), BATCH)?;
                Ok(())
            }),
        ),
        (
            "wakes that nobody will answer",
            Box::new(move |tx: &mut dyn Tx| {
                assert!(tx.engine().has_obsolete_wakes(InstanceScope::SYSTEM)?);
                let cancelled =
                    tx.engine_mut()
                        .cancel_obsolete_wakes(InstanceScope::SYSTEM, now(), 5)?;
                assert_eq!(cancelled, 5);
                Ok(())
            }),
        ),
        (
            "what is stuck",
            Box::new(move |tx: &mut dyn Tx| {
                tx.engine().change_counts(InstanceScope::SYSTEM, now())?;
                tx.engine().to_note_stuck(scope, now(), None, BATCH)?;
                tx.engine().wrongly_stuck(scope, BATCH)?;
                tx.issues().why_stuck(scope, asked.issue, now())?;
                tx.issues().list_stuck(scope, &PageRequest::first())?;
                tx.issues().count_stuck(scope)?;
                tx.issues().awaiting_board(scope, 50)?;
                let worktrees = tx
                    .execution_workspaces()
                    .of_workspace(scope, uuid::Uuid::nil().into())?;
                assert_eq!(worktrees.len(), 0);
                Ok(())
            }),
        ),
        (
            "what is forgotten",
            Box::new(move |tx: &mut dyn Tx| {
                tx.activity().event_span(scope)?;
                let forgotten =
                    tx.engine_mut()
                        .delete_events(InstanceScope::SYSTEM, later(10), 100, BATCH)?;
                assert_eq!(forgotten, BATCH);
                assert_eq!(
                    tx.engine_mut()
                        .delete_wakes(InstanceScope::SYSTEM, later(10), 5)?,
                    5
                );
                tx.idempotency().find("x", "y", now())?;
                tx.idempotency().delete_before(now(), BATCH)?;
                tx.stream_tickets_mut().take(&[0; 32])?;
                tx.stream_tickets_mut().delete_before(now(), BATCH)?;
                tx.board_sessions_mut().note_use(&[(id(), now())])?;
                tx.board_sessions_mut().end(id())?;
                tx.board_sessions_mut().end_of(BoardMember::Local)?;
                tx.board_sessions_mut().delete_before(now(), BATCH)?;
                tx.board_sessions_mut().take_link(&[0; 32])?;
                tx.board_sessions_mut().delete_links_before(now(), BATCH)?;
                let gates = tx.sessions_mut().delete_expired_gates(
                    InstanceScope::SYSTEM,
                    later(10),
                    BATCH,
                )?;
                assert_eq!(gates, BATCH);
                let issue = TaskKey::Issue(asked.issue);
                for task in [Some(issue), None] {
                    let sessions = tx
                        .sessions_mut()
                        .delete_sessions(scope, asked.agent, task)?;
                    assert!(sessions > 0);
                }
                Ok(())
            }),
        ),
        (
            "who is given work and woken",
            Box::new(move |tx: &mut dyn Tx| {
                tx.agents_mut()
                    .share(scope, asked.agent)?
                    .expect("it is there");
                let wakeable = tx.runs_mut().share_wakeability(scope, asked.agent)?;
                assert!(wakeable.is_some());
                Ok(())
            }),
        ),
        (
            "what is stopped",
            Box::new(move |tx: &mut dyn Tx| {
                let agent = tx.agents_mut().lock(Scope::SYSTEM, asked.agent)?;
                let agent = agent.expect("it is there");
                tx.agents_mut().lock_reports_of(&agent)?;
                tx.issues_mut()
                    .lock_open_of(scope, Assignee::Agent(asked.agent))?;
                let member = Assignee::Board(BoardMember::Local);
                tx.issues_mut().lock_open_of(scope, member)?;
                tx.issues_mut().lock_below(scope, asked.issue)?;
                let reason = RunErrorCode::CancelRequested;
                tx.runs_mut()
                    .lock_pending_wake(scope, asked.agent, Some(asked.issue))?;
                for stop in [
                    StopScope::Agent(asked.agent),
                    StopScope::Issue(asked.issue),
                    StopScope::Company,
                ] {
                    tx.runs_mut().cancel_pending(scope, stop, now())?;
                    tx.runs_mut()
                        .request_stop(scope, stop, None, reason, now())?;
                }
                tx.credentials_mut().revoke_keys(&agent, now())
            }),
        ),
    ]
}

/// Collects every fault of every plan. How few rows there are of what is few, a
/// database knows when it has counted.
pub(super) fn faults(store: &TestStore, asked: &Asked) -> String {
    let counting = counting(store, asked);
    assert_eq!(counting.len(), 7, "{counting:?}");
    let mut faults = faults_of(store, "the dashboard", &counting, Purpose::Sweep);
    let scraping = scraping(store);
    assert_eq!(scraping.len(), 5, "{scraping:?}");
    faults += &faults_of(store, "the metrics", &scraping, Purpose::Sweep);
    for (name, deed) in deeds(asked) {
        let statements = recorded(|| write(&**store, deed));
        faults += &faults_of(store, name, &statements, Purpose::Sweep);
    }
    faults
}
