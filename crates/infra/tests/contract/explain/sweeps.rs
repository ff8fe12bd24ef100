//! What goes over many rows, the figures of the dashboard and what the engine
//! does every few seconds, walks over what it counts or changes, and not over
//! all there ever was.

use workforce_domain::dashboard::Instants;
use workforce_domain::port::{StopScope, StoreError, Tx};
use workforce_domain::run::RunErrorCode;
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
    let instants = Instants {
        today: now(),
        yesterday: now(),
        hour_ago: now(),
    };
    recorded(|| {
        read(&**store, |reads| {
            reads.companies().figures(asked.scope, instants)?;
            reads.companies().badges(asked.scope)
        });
    })
}

/// What the engine and its housekeeping do.
fn deeds(asked: &Asked) -> Vec<(&'static str, Deed<'_>)> {
    let scope = asked.scope;
    vec![
        (
            "a claim and the leases of runs",
            Box::new(move |tx: &mut dyn Tx| {
                let request = request(id());
                tx.runs()
                    .blocking_conditions(scope, id(), &request.terms())?;
                let engine = tx.engine();
                let claimed = engine.claim(&request)?.expect("a wake is due");
                let renewed = engine.renew(request.instance, &[claimed.run.id], later(90))?;
                assert_eq!(renewed.len(), 1);
                assert_eq!(engine.expired(later(100), BATCH)?.len(), 1);
                engine.running_elsewhere(id())?;
                for issue in [None, Some(asked.issue)] {
                    engine.last_retry_of(scope.company(), asked.agent, issue)?;
                }
                tx.issues_mut().end_leases_of_run(scope, claimed.run.id)
            }) as Deed<'_>,
        ),
        (
            "timers and budgets",
            Box::new(|tx: &mut dyn Tx| {
                tx.engine().timers_to_look_at(now(), BATCH)?;
                tx.engine().budget_stops_to_lift(Month::of(now()), BATCH)?;
                Ok(())
            }),
        ),
        (
            "what is forgotten",
            Box::new(move |tx: &mut dyn Tx| {
                tx.activity().event_span(scope)?;
                let forgotten = tx.engine().forget_events(later(10), 100, BATCH)?;
                assert_eq!(forgotten, BATCH);
                assert_eq!(tx.engine().forget_wakes(later(10), 5)?, 5);
                tx.idempotency().find("x", "y", now())?;
                tx.idempotency().forget(now(), BATCH)?;
                tx.stream_tickets_mut().take(&[0; 32])?;
                tx.stream_tickets_mut().forget(now(), BATCH)?;
                Ok(())
            }),
        ),
        (
            "what is stopped",
            Box::new(move |tx: &mut dyn Tx| {
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
                tx.issues_mut().lock_open_of(scope, asked.agent)?;
                tx.credentials_mut().revoke_keys(scope, asked.agent, now())
            }),
        ),
    ]
}

/// Collects every fault of every plan. How few rows there are of what is few, a
/// database knows when it has counted.
pub(super) fn faults(store: &TestStore, asked: &Asked) -> String {
    let counting = counting(store, asked);
    assert_eq!(counting.len(), 4, "{counting:?}");
    let mut faults = faults_of(store, "the dashboard", &counting, Purpose::Sweep);
    for (name, deed) in deeds(asked) {
        let statements = recorded(|| write(&**store, deed));
        faults += &faults_of(store, name, &statements, Purpose::Sweep);
    }
    faults
}
