use diesel::prelude::*;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::{Agent, AgentKey};
use workforce_domain::company::CompanyStatus;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, AgentKeyId, CompanyId, RunId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    CredentialHolder, CredentialReads, CredentialWrites, Locked, NamedRun, PresentedKey,
    PresentedRunToken, StoreError,
};
use workforce_domain::run::{RunKind, RunStatus};
use workforce_domain::time::Timestamp;

use super::super::LoadingMode;
use super::super::transaction::Transaction;
use super::agent_row::AgentRow;
use super::page::{fetch_limit, page_of};
use super::row::{Row, admit, one};
use super::runs::running;
use crate::store::cached::cached_here;
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{agent_keys, agents, companies, heartbeat_runs};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = agent_keys, treat_none_as_default_value = false)]
struct KeyRow {
    id: IdColumn<AgentKeyId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    name: String,
    prefix: String,
    key_hash: DigestColumn,
    created_at: InstantColumn,
    last_used_at: Option<InstantColumn>,
    revoked_at: Option<InstantColumn>,
}

impl Row for KeyRow {
    type Record = AgentKey;

    fn weight(&self) -> usize {
        self.name.len()
    }

    fn restore(self) -> Result<AgentKey, Corrupt> {
        Ok(AgentKey {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            name: admit("agent key", self.name)?,
            prefix: self.prefix,
            digest: self.key_hash.0,
            created_at: self.created_at.0,
            last_used_at: self.last_used_at.map(|at| at.0),
            revoked_at: self.revoked_at.map(|at| at.0),
        })
    }
}

impl From<&AgentKey> for KeyRow {
    fn from(key: &AgentKey) -> Self {
        Self {
            id: IdColumn(key.id),
            company_id: IdColumn(key.company),
            agent_id: IdColumn(key.agent),
            name: key.name.to_string(),
            prefix: key.prefix.clone(),
            key_hash: DigestColumn(key.digest),
            created_at: InstantColumn(key.created_at),
            last_used_at: key.last_used_at.map(InstantColumn),
            revoked_at: key.revoked_at.map(InstantColumn),
        }
    }
}

impl CredentialReads for Transaction<'_> {
    fn key(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedKey>, StoreError> {
        let query = agent_keys::table
            .inner_join(agents::table.inner_join(companies::table))
            .filter(agent_keys::key_hash.eq(DigestColumn(*digest)))
            .select((
                KeyRow::as_select(),
                AgentRow::as_select(),
                companies::status,
            ))
            .limit(1);
        let found: Option<(KeyRow, AgentRow, StringEnumColumn<CompanyStatus>)> =
            cached_here!(query)
                .get_result(self.conn)
                .optional()
                .map_err(failed)?;
        let Some((key, agent, company_status)) = found else {
            return Ok(None);
        };
        Ok(Some(PresentedKey {
            key: key.restore()?,
            holder: CredentialHolder {
                agent: agent.restore()?,
                company_status: company_status.0,
            },
        }))
    }

    fn run_token(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedRunToken>, StoreError> {
        type Found = (
            IdColumn<RunId>,
            StringEnumColumn<RunKind>,
            AgentRow,
            StringEnumColumn<CompanyStatus>,
        );
        let found: Option<Found> = heartbeat_runs::table
            .inner_join(agents::table.inner_join(companies::table))
            .filter(heartbeat_runs::token_hash.eq(DigestColumn(*digest)))
            .filter(running())
            .select((
                heartbeat_runs::id,
                heartbeat_runs::kind,
                AgentRow::as_select(),
                companies::status,
            ))
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        let Some((run, kind, agent, company_status)) = found else {
            return Ok(None);
        };
        Ok(Some(PresentedRunToken {
            run: run.0,
            kind: kind.0,
            holder: CredentialHolder {
                agent: agent.restore()?,
                company_status: company_status.0,
            },
        }))
    }

    fn named_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<NamedRun>, StoreError> {
        type Found = (
            IdColumn<AgentId>,
            StringEnumColumn<RunStatus>,
            Option<InstantColumn>,
        );
        let found: Option<Found> = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::id.eq(IdColumn(run)))
            .select((
                heartbeat_runs::agent_id,
                heartbeat_runs::status,
                heartbeat_runs::finished_at,
            ))
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|(agent, status, finished_at)| NamedRun {
            agent: agent.0,
            status: status.0,
            finished_at: finished_at.map(|at| at.0),
        }))
    }

    fn keys(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        page: &PageRequest<CreationKey<AgentKeyId>>,
    ) -> Result<Page<AgentKey, CreationKey<AgentKeyId>>, StoreError> {
        let mut query = agent_keys::table
            .filter(agent_keys::company_id.eq(IdColumn(company.company())))
            .filter(agent_keys::agent_id.eq(IdColumn(agent)))
            .select(KeyRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(agent_keys::created_at.ge(at)).filter(
                agent_keys::created_at
                    .gt(at)
                    .or(agent_keys::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((agent_keys::created_at, agent_keys::id))
            .limit(fetch_limit(page))
            .load_iter::<KeyRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |key| CreationKey {
            at: key.created_at.micros(),
            id: key.id,
        })
    }
}

impl CredentialWrites for Transaction<'_> {
    fn insert_key(&mut self, agent: &Locked<Agent>, key: &AgentKey) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        if (key.company, key.agent) != (agent.company, agent.id) {
            return Err(StoreError::Constraint {
                constraint: "a key is its agent's".into(),
            });
        }
        diesel::insert_into(agent_keys::table)
            .values(KeyRow::from(key))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn revoke_key(
        &mut self,
        agent: &Locked<Agent>,
        key: AgentKeyId,
        now: Timestamp,
    ) -> Result<Option<AgentKey>, StoreError> {
        let agent = agent.to_store()?;
        let (company, agent) = (agent.scope(), agent.id);
        diesel::update(agent_keys::table)
            .filter(agent_keys::company_id.eq(IdColumn(company.company())))
            .filter(agent_keys::agent_id.eq(IdColumn(agent)))
            .filter(agent_keys::id.eq(IdColumn(key)))
            .filter(agent_keys::revoked_at.is_null())
            .set(agent_keys::revoked_at.eq(InstantColumn(now)))
            .execute(self.conn)
            .map_err(failed)?;
        let row = agent_keys::table
            .filter(agent_keys::company_id.eq(IdColumn(company.company())))
            .filter(agent_keys::agent_id.eq(IdColumn(agent)))
            .filter(agent_keys::id.eq(IdColumn(key)))
            .select(KeyRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn revoke_keys(&mut self, agent: &Locked<Agent>, now: Timestamp) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        diesel::update(agent_keys::table)
            .filter(agent_keys::company_id.eq(IdColumn(agent.company)))
            .filter(agent_keys::agent_id.eq(IdColumn(agent.id)))
            .filter(agent_keys::revoked_at.is_null())
            .set(agent_keys::revoked_at.eq(InstantColumn(now)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn note_key_use(&mut self, uses: &[(AgentKeyId, Timestamp)]) -> Result<(), StoreError> {
        let mut uses = uses.to_vec();
        // In one order everywhere, so that two servers do not cross.
        uses.sort_unstable();
        for (key, at) in uses {
            let at = InstantColumn(at);
            diesel::update(agent_keys::table.find(IdColumn(key)))
                .filter(
                    agent_keys::last_used_at
                        .is_null()
                        .or(agent_keys::last_used_at.lt(at)),
                )
                .set(agent_keys::last_used_at.eq(at))
                .execute(self.conn)
                .map_err(failed)?;
        }
        Ok(())
    }
}
