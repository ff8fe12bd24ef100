use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Bool, Integer, Nullable, Text};
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::agent::{Agent, CHAIN_LIMIT, ChainLink};
use workforce_domain::id::AgentId;
use workforce_domain::mention::Mentionable;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    AgentCursor, AgentFilter, AgentReads, AgentWrites, Lock, Locked, Shared, StoreError,
};
use workforce_domain::time::Timestamp;
use workforce_domain::timer::Timer;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, for_share, for_update};
use super::advisory::advisory_lock;
use super::agent_row::AgentRow;
use super::agent_secrets;
use super::page::{MAX_WHOLE, characters, fetch_limit, page_of, substr};
use super::predicates::{employed_agent, remaining_agent};
use super::row::{admit, admit_some, all, exactly_one, in_scope, load_by_ids, one};
use super::runs::running;
use super::timers;
use crate::store::cached::{cached, cached_here};
use crate::store::columns::{IdColumn, InstantColumn, Key};
use crate::store::errors::failed;
use crate::store::schema::{agents, heartbeat_runs};
use crate::store::stable::fixed;

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

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    yes: bool,
}

impl AgentReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let query = agents::table.filter(agents::id.eq(IdColumn(id)));
        let row = in_scope!(scope, agents, query, |scoped| scoped
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
        page: &PageRequest<AgentCursor>,
    ) -> Result<Page<Agent, AgentCursor>, StoreError> {
        let mut query = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .select(AgentRow::as_select())
            .into_boxed();
        if !filter.include_terminated {
            // Spelled out: PostgreSQL assumes that nearly every row has a bound
            // value. It would expect few others, and sort them by itself.
            query = query.filter(fixed::<Bool>(remaining_agent("agents")));
        }
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(agents::created_at.ge(at)).filter(
                agents::created_at
                    .gt(at)
                    .or(agents::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((agents::created_at, agents::id))
            .limit(fetch_limit(page))
            .load_iter::<AgentRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |agent| CreationKey {
            at: agent.created_at.micros(),
            id: agent.id,
        })
    }

    fn chain_of_command(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Vec<ChainLink>, StoreError> {
        let chain = sql_query(
            "WITH RECURSIVE chain (id, depth) AS (
                SELECT reports_to, 1 FROM agents WHERE company_id = $1 AND id = $2
                UNION ALL
                SELECT a.reports_to, chain.depth + 1
                FROM chain CROSS JOIN agents a
                WHERE a.company_id = $1 AND a.id = chain.id AND chain.depth < $3
            )
            SELECT a.id, a.name, a.role, a.title
            FROM chain CROSS JOIN agents a
            WHERE a.company_id = $1 AND a.id = chain.id
            ORDER BY chain.depth",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(agent))
        .bind::<Integer, _>(i32::try_from(CHAIN_LIMIT).unwrap_or(i32::MAX));
        let links: Vec<LinkRow> = cached_here!(chain).load(self.conn).map_err(failed)?;
        let mut seen = BTreeSet::from([agent]);
        let mut chain = Vec::with_capacity(links.len());
        for link in links {
            // An agent that comes up twice closes a cycle.
            if !seen.insert(link.id.0) {
                break;
            }
            chain.push(ChainLink {
                id: link.id.0,
                name: admit("agent", link.name)?,
                role: admit("agent", link.role)?,
                title: admit_some("agent", link.title)?,
            });
        }
        Ok(chain)
    }

    fn has_reports(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError> {
        let report: Option<IdColumn<AgentId>> = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(agents::reports_to.eq(IdColumn(agent)))
            .filter(fixed::<Bool>(remaining_agent("agents")))
            .select(agents::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(report.is_some())
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

    fn names(&mut self, company: CompanyScope) -> Result<Vec<(AgentId, String)>, StoreError> {
        let query = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(fixed::<Bool>(remaining_agent("agents")))
            .select((agents::id, agents::name))
            .order((agents::created_at, agents::id))
            .limit(MAX_WHOLE);
        let rows: Vec<(IdColumn<AgentId>, String)> =
            cached(query).load(self.conn).map_err(failed)?;
        Ok(rows.into_iter().map(|(id, name)| (id.0, name)).collect())
    }

    fn mentionable(&mut self, company: CompanyScope) -> Result<Vec<Mentionable>, StoreError> {
        let query = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(fixed::<Bool>(employed_agent("agents")))
            .select((agents::id, agents::name, agents::url_key))
            .order((agents::created_at, agents::id))
            .limit(MAX_WHOLE);
        let rows: Vec<(IdColumn<AgentId>, String, String)> =
            cached(query).load(self.conn).map_err(failed)?;
        Ok(rows
            .into_iter()
            .map(|(id, name, url_key)| Mentionable {
                id: id.0,
                name,
                url_key,
            })
            .collect())
    }

    fn running(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
    ) -> Result<Vec<AgentId>, StoreError> {
        let agent = heartbeat_runs::agent_id;
        let rows: QueryResult<Vec<IdColumn<AgentId>>> =
            load_by_ids!(self.conn, agent, agents, |has_id| heartbeat_runs::table
                .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
                .filter(has_id)
                .filter(running())
                .select(heartbeat_runs::agent_id)
                .distinct());
        Ok(rows.map_err(failed)?.into_iter().map(|id| id.0).collect())
    }

    fn has_history(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError> {
        let answer: Answer = sql_query(
            "SELECT EXISTS (SELECT 1 FROM heartbeat_runs
                    WHERE company_id = $1 AND agent_id = $2)
                OR EXISTS (SELECT 1 FROM wakes WHERE company_id = $1 AND agent_id = $2)
                OR EXISTS (SELECT 1 FROM cost_events WHERE company_id = $1 AND agent_id = $2)
                OR EXISTS (SELECT 1 FROM activity WHERE company_id = $1 AND agent_id = $2)
                OR EXISTS (SELECT 1 FROM issue_comments
                    WHERE company_id = $1 AND author_agent_id = $2)
                OR EXISTS (SELECT 1 FROM issues WHERE company_id = $1
                    AND (assignee_agent_id = $2 OR created_by_agent_id = $2))
                OR EXISTS (SELECT 1 FROM issue_leases WHERE company_id = $1 AND agent_id = $2)
                OR EXISTS (SELECT 1 FROM approvals
                    WHERE company_id = $1 AND requested_by_agent_id = $2)
                AS yes",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(agent))
        .get_result(self.conn)
        .map_err(failed)?;
        Ok(answer.yes)
    }

    fn timer(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<Timer>, StoreError> {
        timers::find(self.conn, company, agent)
    }

    fn has_work(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError> {
        timers::has_work(self.conn, company, agent)
    }
}

impl AgentWrites for Transaction<'_> {
    fn lock_url_keys(
        &mut self,
        company: CompanyScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError> {
        self.locks(Lock::Names, company.company());
        advisory_lock(self.conn, "names of agents", company.company().into()).map_err(failed)?;
        AgentReads::url_keys(self, company, stem)
    }

    fn insert(&mut self, agent: Agent) -> Result<Locked<Agent>, StoreError> {
        diesel::insert_into(agents::table)
            .values(AgentRow::from(&agent))
            .execute(self.conn)
            .map_err(failed)?;
        agent_secrets::insert(self.conn, &agent)?;
        Ok(Locked::assume_locked(agent))
    }

    fn lock(&mut self, scope: Scope, id: AgentId) -> Result<Option<Locked<Agent>>, StoreError> {
        self.locks(Lock::Agent, id);
        let query = agents::table.filter(agents::id.eq(IdColumn(id)));
        let row = in_scope!(scope, agents, query, |scoped| for_update!(
            scoped.select(AgentRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn save(&mut self, agent: &Locked<Agent>) -> Result<(), StoreError> {
        diesel::update(agents::table)
            .filter(agents::company_id.eq(IdColumn(agent.company)))
            .filter(agents::id.eq(IdColumn(agent.id)))
            .set(AgentRow::from(agent.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)?;
        agent_secrets::update(self.conn, agent)
    }

    fn delete(&mut self, agent: Locked<Agent>) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        diesel::delete(agents::table)
            .filter(agents::company_id.eq(IdColumn(agent.company)))
            .filter(agents::id.eq(IdColumn(agent.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn share(
        &mut self,
        company: CompanyScope,
        id: AgentId,
    ) -> Result<Option<Shared<Agent>>, StoreError> {
        self.locks(Lock::Agent, id);
        let query = agents::table
            .filter(agents::company_id.eq(IdColumn(company.company())))
            .filter(agents::id.eq(IdColumn(id)))
            .select(AgentRow::as_select());
        let row = for_share!(query).first(self.conn).optional();
        Ok(one(row.map_err(failed)?)?.map(Shared::assume_locked))
    }

    fn lock_reports_of(
        &mut self,
        manager: &Locked<Agent>,
    ) -> Result<Vec<Locked<Agent>>, StoreError> {
        let manager = manager.to_store()?;
        let query = agents::table
            .filter(agents::company_id.eq(IdColumn(manager.company)))
            .filter(agents::reports_to.eq(IdColumn(manager.id)))
            .order(agents::id)
            .select(AgentRow::as_select());
        let rows: Vec<AgentRow> = for_update!(query).load(self.conn).map_err(failed)?;
        let reports = all(rows)?;
        for report in &reports {
            self.locks(Lock::Agent, report.id);
        }
        Ok(reports.into_iter().map(Locked::assume_locked).collect())
    }
}
