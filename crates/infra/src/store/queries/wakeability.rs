//! Whether an agent may be woken, held until the transaction ends.
//!
//! It depends on two rows that budgets and ends of runs change all the time, so it has locks of
//! its own beside them, one of the agent and one of its company: whoever wakes shares them, and
//! whoever ends an agent or stops a company takes them away. Both look at the rows, or write what
//! they want to be seen, before they let go.

use diesel::dsl::sql;
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

const OF_COMPANY: &str = "wakes of a company";
const OF_AGENT: &str = "wakes of an agent";

/// Holds that an agent may be woken, beside others; `None` when it may not.
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
        .filter(sql::<Bool>(&employed_agent("agents")))
        .filter(companies::status.eq(StringEnumColumn(CompanyStatus::Active)))
        .select(agents::id);
    let found: Option<IdColumn<AgentId>> =
        cached(query).get_result(conn).optional().map_err(failed)?;
    Ok(found.map(|agent| WakeableAgent::assume_locked(company, agent.0)))
}

/// Waits until nobody holds that an agent may be woken, and keeps others from it.
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
