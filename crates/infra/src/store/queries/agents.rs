use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Integer, Nullable, Text};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::agent::{Agent, AdapterType, AgentLifecycle, CHAIN_LIMIT, ChainLink};
use workforce_domain::company::PauseReason;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::mention::Mentionable;
use workforce_domain::money::Budget;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{AgentFilter, AgentKeyset, AgentReads, AgentWrites, Held, StoreError};
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_domain::time::Timestamp;
use workforce_domain::words;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, held};
use super::page::{MAX_WHOLE, characters, fetch_limit, page_of, substr};
use super::row::{Row, admit, admit_some, exactly_one, in_scope, length, one};
use super::runs::running;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, Key, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::{agents, heartbeat_runs};

words! {
    /// How the lifecycle of an agent is spelled in its row.
    pub(super) enum LifecycleWord {
        /// May run.
        Enabled = "enabled",
        /// Stopped.
        Paused = "paused",
        /// A draft.
        PendingApproval = "pending_approval",
        /// Gone for good.
        Terminated = "terminated",
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = agents, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct AgentRow {
    id: IdColumn<AgentId>,
    company_id: IdColumn<CompanyId>,
    name: String,
    url_key: String,
    role: String,
    title: Option<String>,
    icon: Option<String>,
    capabilities: Option<String>,
    reports_to: Option<IdColumn<AgentId>>,
    lifecycle: WordColumn<LifecycleWord>,
    lifecycle_at: Option<InstantColumn>,
    pause_reason: Option<WordColumn<PauseReason>>,
    consecutive_failures: i32,
    adapter_type: WordColumn<AdapterType>,
    adapter_config: JsonColumn<Document>,
    runtime_config: JsonColumn<Document>,
    // A copy of what the configuration says, for the conditions of the claim.
    max_concurrent_runs: i32,
    can_create_agents: bool,
    metadata: JsonColumn<Document>,
    budget_monthly_cents: i64,
    last_heartbeat_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for AgentRow {
    type Record = Agent;

    fn weight(&self) -> usize {
        length(self.capabilities.as_ref())
    }

    fn restore(self) -> Result<Agent, Corrupt> {
        const KIND: &str = "agent";
        let lifecycle = match (self.lifecycle.0, self.lifecycle_at, self.pause_reason) {
            (LifecycleWord::Enabled, None, None) => AgentLifecycle::Enabled,
            (LifecycleWord::Paused, Some(at), Some(reason)) => {
                AgentLifecycle::Paused { reason: reason.0, at: at.0 }
            }
            (LifecycleWord::PendingApproval, None, None) => AgentLifecycle::PendingApproval,
            (LifecycleWord::Terminated, Some(at), None) => AgentLifecycle::Terminated { at: at.0 },
            _ => return Err(Corrupt::new(KIND, "its lifecycle and its instants disagree")),
        };
        Ok(Agent {
            id: self.id.0,
            company: self.company_id.0,
            name: admit(KIND, &self.name, Name::new)?,
            url_key: self.url_key,
            role: admit(KIND, &self.role, Role::new)?,
            title: admit_some(KIND, self.title.as_deref(), Label::new)?,
            icon: admit_some(KIND, self.icon.as_deref(), Label::new)?,
            capabilities: admit_some(KIND, self.capabilities.as_deref(), Description::new)?,
            reports_to: self.reports_to.map(|id| id.0),
            lifecycle,
            consecutive_failures: self.consecutive_failures,
            adapter_type: self.adapter_type.0,
            adapter_config: self.adapter_config.0,
            runtime_config: self.runtime_config.0,
            can_create_agents: self.can_create_agents,
            metadata: self.metadata.0,
            budget: Budget::from_cents(self.budget_monthly_cents)
                .map_err(|error| Corrupt::new(KIND, error.to_string()))?,
            last_heartbeat_at: self.last_heartbeat_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Agent> for AgentRow {
    fn from(agent: &Agent) -> Self {
        let (lifecycle, lifecycle_at, pause_reason) = match agent.lifecycle {
            AgentLifecycle::Enabled => (LifecycleWord::Enabled, None, None),
            AgentLifecycle::Paused { reason, at } => {
                (LifecycleWord::Paused, Some(at), Some(reason))
            }
            AgentLifecycle::PendingApproval => (LifecycleWord::PendingApproval, None, None),
            AgentLifecycle::Terminated { at } => (LifecycleWord::Terminated, Some(at), None),
        };
        Self {
            id: IdColumn(agent.id),
            company_id: IdColumn(agent.company),
            name: agent.name.to_string(),
            url_key: agent.url_key.clone(),
            role: agent.role.to_string(),
            title: agent.title.as_ref().map(ToString::to_string),
            icon: agent.icon.as_ref().map(ToString::to_string),
            capabilities: agent.capabilities.as_ref().map(ToString::to_string),
            reports_to: agent.reports_to.map(IdColumn),
            lifecycle: WordColumn(lifecycle),
            lifecycle_at: lifecycle_at.map(InstantColumn),
            pause_reason: pause_reason.map(WordColumn),
            consecutive_failures: agent.consecutive_failures,
            adapter_type: WordColumn(agent.adapter_type),
            adapter_config: JsonColumn(agent.adapter_config.clone()),
            runtime_config: JsonColumn(agent.runtime_config.clone()),
            max_concurrent_runs: agent.max_concurrent_runs(),
            can_create_agents: agent.can_create_agents,
            metadata: JsonColumn(agent.metadata.clone()),
            budget_monthly_cents: agent.budget.cents(),
            last_heartbeat_at: agent.last_heartbeat_at.map(InstantColumn),
            created_at: InstantColumn(agent.created_at),
            updated_at: InstantColumn(agent.updated_at),
        }
    }
}

#[derive(QueryableByName)]
struct LinkRow {
    #[diesel(sql_type = Key)]
    id: IdColumn<AgentId>,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Nullable<Text>)]
    title: Option<String>,
}

impl AgentReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let query = agents::table.filter(agents::id.eq(IdColumn(id)));
        let row = in_scope!(scope, agents, query, |query| query
            .select(AgentRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn find_by_url_key(
        &mut self,
        company: CompanyScope,
        url_key: &str,
    ) -> Result<Option<Agent>, StoreError> {
        let row = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(agents::url_key.eq(url_key))
            .select(AgentRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        filter: AgentFilter,
        page: &PageRequest<AgentKeyset>,
    ) -> Result<Page<Agent, AgentKeyset>, StoreError> {
        let mut query = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .select(AgentRow::as_select())
            .into_boxed();
        if !filter.include_terminated {
            query = query.filter(agents::lifecycle.ne(WordColumn(LifecycleWord::Terminated)));
        }
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query
                .filter(agents::created_at.ge(at))
                .filter(agents::created_at.gt(at).or(agents::id.gt(IdColumn(after.id))));
        }
        let rows = query
            .order((agents::created_at, agents::id))
            .limit(fetch_limit(page))
            .load_iter::<AgentRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |agent| CreationKey { at: agent.created_at.micros(), id: agent.id })
    }

    fn chain_of_command(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Vec<ChainLink>, StoreError> {
        let links: Vec<LinkRow> = sql_query(
            "WITH RECURSIVE chain (id, depth) AS (
                SELECT reports_to, 1 FROM agents WHERE company_id = $1 AND id = $2
                UNION ALL
                SELECT a.reports_to, chain.depth + 1
                FROM chain JOIN agents a ON a.company_id = $1 AND a.id = chain.id
                WHERE chain.depth < $3
            )
            SELECT a.id, a.name, a.role, a.title
            FROM chain JOIN agents a ON a.company_id = $1 AND a.id = chain.id
            ORDER BY chain.depth",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(agent))
        .bind::<Integer, _>(i32::try_from(CHAIN_LIMIT).unwrap_or(i32::MAX))
        .load(self.conn)
        .map_err(failed)?;
        let mut seen = BTreeSet::from([agent]);
        let mut chain = Vec::with_capacity(links.len());
        for link in links {
            // Whoever stands there twice closes a cycle.
            if !seen.insert(link.id.0) {
                break;
            }
            chain.push(ChainLink {
                id: link.id.0,
                name: admit("agent", &link.name, Name::new)?,
                role: admit("agent", &link.role, Role::new)?,
                title: admit_some("agent", link.title.as_deref(), Label::new)?,
            });
        }
        Ok(chain)
    }

    fn url_keys(&mut self, company: CompanyScope, stem: &str) -> Result<Vec<String>, StoreError> {
        agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(substr(agents::url_key, 1, characters(stem)).eq(stem))
            .select(agents::url_key)
            .order(agents::url_key)
            .limit(MAX_WHOLE)
            .load(self.conn)
            .map_err(failed)
    }

    fn mentionable(&mut self, company: CompanyScope) -> Result<Vec<Mentionable>, StoreError> {
        let employed = [LifecycleWord::Enabled, LifecycleWord::Paused].map(WordColumn);
        let rows: Vec<(IdColumn<AgentId>, String, String)> = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(agents::lifecycle.eq_any(employed))
            .select((agents::id, agents::name, agents::url_key))
            .order((agents::created_at, agents::id))
            .limit(MAX_WHOLE)
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows
            .into_iter()
            .map(|(id, name, url_key)| Mentionable { id: id.0, name, url_key })
            .collect())
    }

    fn running(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
    ) -> Result<Vec<AgentId>, StoreError> {
        let agents: Vec<_> = agents.iter().copied().map(IdColumn).collect();
        let rows: Vec<IdColumn<AgentId>> = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::agent_id.eq_any(agents))
            .filter(running())
            .select(heartbeat_runs::agent_id)
            .distinct()
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows.into_iter().map(|id| id.0).collect())
    }
}

impl AgentWrites for Transaction<'_> {
    fn insert(&mut self, agent: &Agent) -> Result<(), StoreError> {
        diesel::insert_into(agents::table)
            .values(AgentRow::from(agent))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn lock(&mut self, scope: Scope, id: AgentId) -> Result<Option<Held<Agent>>, StoreError> {
        let query = agents::table.filter(agents::id.eq(IdColumn(id)));
        let row = in_scope!(scope, agents, query, |query| held!(
            query.select(AgentRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Held::locked))
    }

    fn save(&mut self, agent: &Held<Agent>) -> Result<(), StoreError> {
        diesel::update(agents::table)
            .filter(agents::company_id.eq(IdColumn(agent.company)))
            .filter(agents::id.eq(IdColumn(agent.id)))
            .set(AgentRow::from(&**agent))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn move_reports(
        &mut self,
        company: CompanyScope,
        from: AgentId,
        to: Option<AgentId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        diesel::update(agents::table)
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(agents::reports_to.eq(IdColumn(from)))
            .set((
                agents::reports_to.eq(to.map(IdColumn)),
                agents::updated_at.eq(InstantColumn(now)),
            ))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
