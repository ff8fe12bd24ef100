//! Revisions of the configuration of agents.

use diesel::dsl::max;
use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, RevisionId, UserId};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{RevisionCursor, RevisionReads, RevisionWrites, StoreError};
use workforce_domain::revision::{Revision, RevisionSource, SealedConfig};

use super::super::LoadingMode;
use super::super::transaction::Transaction;
use super::page::{fetch_limit, page_of};
use super::row::{Row, author, author_board, in_scope, one};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::agent_config_revisions;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = agent_config_revisions, treat_none_as_default_value = false)]
struct RevisionRow {
    id: IdColumn<RevisionId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    n: i32,
    source: StringEnumColumn<RevisionSource>,
    rolled_back_from: Option<IdColumn<RevisionId>>,
    changed_keys: JsonColumn<Vec<String>>,
    before_config: Option<Vec<u8>>,
    after_config: Vec<u8>,
    created_by_agent_id: Option<IdColumn<AgentId>>,
    created_by_user_id: Option<IdColumn<UserId>>,
    created_at: InstantColumn,
    created_by_board: Option<String>,
}

impl Row for RevisionRow {
    type Record = Revision;

    fn weight(&self) -> usize {
        self.after_config.len() + self.before_config.as_ref().map_or(0, Vec::len)
    }

    fn restore(self) -> Result<Revision, Corrupt> {
        Ok(Revision {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            n: self.n,
            source: self.source.0,
            rolled_back_from: self.rolled_back_from.map(|id| id.0),
            changed_keys: self.changed_keys.0,
            before: self.before_config.map(SealedConfig),
            after: SealedConfig(self.after_config),
            created_by: author(
                "config revision",
                self.created_by_agent_id,
                self.created_by_user_id,
                self.created_by_board.as_deref(),
            )?,
            created_at: self.created_at.0,
        })
    }
}

impl From<&Revision> for RevisionRow {
    fn from(revision: &Revision) -> Self {
        Self {
            id: IdColumn(revision.id),
            company_id: IdColumn(revision.company),
            agent_id: IdColumn(revision.agent),
            n: revision.n,
            source: StringEnumColumn(revision.source),
            rolled_back_from: revision.rolled_back_from.map(IdColumn),
            changed_keys: JsonColumn(revision.changed_keys.clone()),
            before_config: revision.before.as_ref().map(|sealed| sealed.0.clone()),
            after_config: revision.after.0.clone(),
            created_by_agent_id: revision.created_by.agent().map(IdColumn),
            created_by_user_id: revision.created_by.user().map(IdColumn),
            created_at: InstantColumn(revision.created_at),
            created_by_board: author_board(revision.created_by),
        }
    }
}

impl RevisionReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: RevisionId) -> Result<Option<Revision>, StoreError> {
        let query =
            agent_config_revisions::table.filter(agent_config_revisions::id.eq(IdColumn(id)));
        let row = in_scope!(scope, agent_config_revisions, query, |scoped| scoped
            .select(RevisionRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        page: &PageRequest<RevisionCursor>,
    ) -> Result<Page<Revision, RevisionCursor>, StoreError> {
        let mut query = agent_config_revisions::table
            .filter(agent_config_revisions::company_id.eq(IdColumn(company.company())))
            .filter(agent_config_revisions::agent_id.eq(IdColumn(agent)))
            .select(RevisionRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            query = query.filter(agent_config_revisions::n.lt(after.n));
        }
        let rows = query
            .order(agent_config_revisions::n.desc())
            .limit(fetch_limit(page))
            .load_iter::<RevisionRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |revision| RevisionCursor { n: revision.n })
    }

    fn last_number(&mut self, company: CompanyScope, agent: AgentId) -> Result<i32, StoreError> {
        let query = agent_config_revisions::table
            .filter(agent_config_revisions::company_id.eq(IdColumn(company.company())))
            .filter(agent_config_revisions::agent_id.eq(IdColumn(agent)))
            .select(max(agent_config_revisions::n));
        let last: Option<i32> = cached_here!(query).get_result(self.conn).map_err(failed)?;
        Ok(last.unwrap_or(0))
    }
}

impl RevisionWrites for Transaction<'_> {
    fn insert(&mut self, revision: &Revision) -> Result<(), StoreError> {
        diesel::insert_into(agent_config_revisions::table)
            .values(RevisionRow::from(revision))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
