//! Whether an agent may be woken, held until the transaction ends.
//!
//! The answer depends on the rows of the agent and of its company. Costs and ends of runs lock
//! those rows all the time, so a wake does not wait for them: it shares two advisory locks, one of
//! the agent and one of the company. Whoever terminates the agent, or pauses or archives the
//! company, writes that first, then takes the lock alone, then cancels what is pending. It sees
//! every wake that was written before, and whoever wakes later sees what it wrote.

use diesel::prelude::*;
use diesel::sql_types::Bool;
use workforce_domain::actor::CompanyScope;
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::AgentId;
use workforce_domain::port::{StoreError, WakeableAgent};

use super::super::Connection;
use super::advisory::{advisory_lock, advisory_lock_shared};
use super::predicates::employed_agent;
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{agents, companies};
use crate::store::stable::fixed;

const OF_COMPANY: &str = "wakes of a company";
const OF_AGENT: &str = "wakes of an agent";

/// Keeps an agent wakeable until the transaction ends, for any number of transactions at once;
/// `None` when it may not be woken.
pub(super) fn share(
    conn: &mut Connection,
    company: CompanyScope,
    agent: AgentId,
) -> Result<Option<WakeableAgent>, StoreError> {
    let locks = [
        (OF_COMPANY, company.company().into()),
        (OF_AGENT, agent.into()),
    ];
    advisory_lock_shared(conn, locks).map_err(failed)?;
    let query = agents::table
        .inner_join(companies::table)
        .filter(agents::company_id.eq(IdColumn(company.company())))
        .filter(agents::id.eq(IdColumn(agent)))
        .filter(fixed::<Bool>(employed_agent("agents")))
        .filter(companies::status.eq(StringEnumColumn(CompanyStatus::Active)))
        .select(agents::id);
    let found: Option<IdColumn<AgentId>> =
        cached(query).get_result(conn).optional().map_err(failed)?;
    Ok(found.map(|agent| WakeableAgent::assume_locked(company, agent.0)))
}

/// Waits for the transactions that keep an agent wakeable, and keeps out new ones.
pub(super) fn take_from_agent(conn: &mut Connection, agent: AgentId) -> Result<(), StoreError> {
    advisory_lock(conn, OF_AGENT, agent.into()).map_err(failed)
}

/// The same for all agents of a company.
pub(super) fn take_from_company(
    conn: &mut Connection,
    company: CompanyScope,
) -> Result<(), StoreError> {
    advisory_lock(conn, OF_COMPANY, company.company().into()).map_err(failed)
}
