//! Which agents refer to which secrets. Every statement that writes an agent
//! derives this from its configuration, so no use case can forget it.

use diesel::prelude::*;
use workforce_domain::agent::Agent;
use workforce_domain::id::{AgentId, CompanyId, SecretId};
use workforce_domain::port::StoreError;
use workforce_domain::secret::{VersionPick, references};

use super::super::Connection;
use crate::store::cached::cached;
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{agent_secrets, secrets};

type Reference = (String, IdColumn<SecretId>, Option<i32>);

#[derive(Insertable)]
#[diesel(table_name = agent_secrets, treat_none_as_default_value = false)]
struct ReferenceRow {
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    variable: String,
    secret_id: IdColumn<SecretId>,
    pinned_version: Option<i32>,
}

/// Writes down what a new agent refers to.
pub(super) fn insert(conn: &mut Connection, agent: &Agent) -> Result<(), StoreError> {
    let wanted = wanted(conn, agent)?;
    write(conn, agent, wanted)
}

/// Writes down what a stored agent refers to now. Most changes of an agent do
/// not touch that.
pub(super) fn update(conn: &mut Connection, agent: &Agent) -> Result<(), StoreError> {
    let query = agent_secrets::table
        .filter(agent_secrets::agent_id.eq(IdColumn(agent.id)))
        .order(agent_secrets::variable)
        .select((
            agent_secrets::variable,
            agent_secrets::secret_id,
            agent_secrets::pinned_version,
        ));
    let present: Vec<Reference> = cached(query).load(conn).map_err(failed)?;
    let wanted = wanted(conn, agent)?;
    if wanted == present {
        return Ok(());
    }
    diesel::delete(agent_secrets::table)
        .filter(agent_secrets::agent_id.eq(IdColumn(agent.id)))
        .execute(conn)
        .map_err(failed)?;
    write(conn, agent, wanted)
}

/// What the configuration refers to, by variable. A secret that was deleted in
/// spite of its references is left out.
fn wanted(conn: &mut Connection, agent: &Agent) -> Result<Vec<Reference>, StoreError> {
    let mut wanted: Vec<Reference> = references(&agent.adapter_config)
        .map(|(variable, reference)| {
            let pinned = match reference.version {
                VersionPick::Latest => None,
                VersionPick::Pinned(version) => Some(version),
            };
            (variable.to_owned(), IdColumn(reference.secret), pinned)
        })
        .collect();
    if !wanted.is_empty() {
        let ids: Vec<_> = wanted.iter().map(|(_, secret, _)| *secret).collect();
        let there: Vec<IdColumn<SecretId>> = secrets::table
            .filter(secrets::company_id.eq(IdColumn(agent.company)))
            .filter(secrets::id.eq_any(ids))
            .select(secrets::id)
            .load(conn)
            .map_err(failed)?;
        wanted.retain(|(_, secret, _)| there.contains(secret));
        wanted.sort_by(|one, other| one.0.cmp(&other.0));
    }
    Ok(wanted)
}

fn write(conn: &mut Connection, agent: &Agent, wanted: Vec<Reference>) -> Result<(), StoreError> {
    for (variable, secret_id, pinned_version) in wanted {
        diesel::insert_into(agent_secrets::table)
            .values(ReferenceRow {
                company_id: IdColumn(agent.company),
                agent_id: IdColumn(agent.id),
                variable,
                secret_id,
                pinned_version,
            })
            .execute(conn)
            .map_err(failed)?;
    }
    Ok(())
}
