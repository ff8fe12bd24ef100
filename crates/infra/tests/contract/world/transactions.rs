//! Transactions of the tests, and what they hold in them.

use diesel::{Connection, PgConnection, RunQueryDsl, SqliteConnection, sql_query};
use workforce_domain::actor::{CompanyOwned, CompanyScope, Scope};
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{
    EmployedAgent, Failure, Locked, Reads, Shared, Store, StoreError, Tx,
};
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::Wake;
use workforce_testkit::store::TestStore;

/// Runs `body` in a writing transaction.
pub(crate) fn try_write<T>(
    store: &dyn Store,
    mut body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    store
        .write(|tx| body(tx).map_err(Failure::<core::convert::Infallible>::Store))
        .map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Refused(never) => match never {},
        })
}

/// Runs `body` in a writing transaction that must succeed.
#[track_caller]
pub(crate) fn write<T>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>,
) -> T {
    try_write(store, body).unwrap()
}

/// Runs `body` in a reading transaction that must succeed.
#[track_caller]
pub(crate) fn read<T>(
    store: &dyn Store,
    mut body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>,
) -> T {
    store
        .read(|reads| body(reads).map_err(Failure::<core::convert::Infallible>::Store))
        .unwrap()
}

/// Runs a statement past the store.
#[track_caller]
pub(crate) fn execute(store: &TestStore, statement: &str) {
    let target = store.connection();
    if target.starts_with("postgres") {
        let mut connection = PgConnection::establish(target).unwrap();
        sql_query(statement).execute(&mut connection).unwrap();
    } else {
        let mut connection = SqliteConnection::establish(target).unwrap();
        sql_query("PRAGMA busy_timeout = 5000")
            .execute(&mut connection)
            .unwrap();
        sql_query(statement).execute(&mut connection).unwrap();
    }
}

/// An instant as a statement for [`execute`] spells it.
pub(crate) fn literal(store: &TestStore, at: Timestamp) -> String {
    if store.connection().starts_with("postgres") {
        format!("'{at}'")
    } else {
        at.micros().to_string()
    }
}

/// Queues a wake of an agent that may be woken.
pub(crate) fn queue(tx: &mut dyn Tx, wake: &Wake, run: &Run) -> Result<(), StoreError> {
    let agent = tx
        .runs_mut()
        .share_wakeability(wake.scope(), wake.agent)?
        .expect("it may be woken");
    tx.runs_mut().queue(agent, wake, run)
}

/// Locks an agent.
pub(crate) fn lock_agent(tx: &mut dyn Tx, agent: &Agent) -> Result<Locked<Agent>, StoreError> {
    let held = tx.agents_mut().lock(Scope::SYSTEM, agent.id)?;
    Ok(held.expect("it exists"))
}

/// Locks an issue.
pub(crate) fn lock_issue(tx: &mut dyn Tx, issue: &Issue) -> Result<Locked<Issue>, StoreError> {
    let held = tx.issues_mut().lock(Scope::SYSTEM, &issue.id.into())?;
    Ok(held.expect("it exists"))
}

/// Holds an agent that can be given work.
pub(crate) fn share_employed(
    tx: &mut dyn Tx,
    company: CompanyScope,
    agent: AgentId,
) -> Result<EmployedAgent, StoreError> {
    let shared = tx.agents_mut().share(company, agent)?;
    Ok(shared.and_then(Shared::employed).expect("it is employed"))
}
