use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{AgentId, CompanyId, GoalId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{GoalCursor, GoalReads, GoalWrites, Lock, Locked, StoreError};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, for_update};
use super::advisory::advisory_lock;
use super::page::{fetch_limit, page_of};
use super::row::{Row, admit, admit_some, all, exactly_one, in_scope, length, load_by_ids, one};
use crate::store::columns::{IdColumn, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::goals;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = goals, treat_none_as_null = true, treat_none_as_default_value = false)]
struct GoalRow {
    id: IdColumn<GoalId>,
    company_id: IdColumn<CompanyId>,
    title: String,
    description: Option<String>,
    level: StringEnumColumn<GoalLevel>,
    status: StringEnumColumn<GoalStatus>,
    parent_id: Option<IdColumn<GoalId>>,
    owner_agent_id: Option<IdColumn<AgentId>>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for GoalRow {
    type Record = Goal;

    fn weight(&self) -> usize {
        length(self.description.as_ref())
    }

    fn restore(self) -> Result<Goal, Corrupt> {
        Ok(Goal {
            id: self.id.0,
            company: self.company_id.0,
            title: admit("goal", self.title)?,
            description: admit_some("goal", self.description)?,
            level: self.level.0,
            status: self.status.0,
            parent: self.parent_id.map(|id| id.0),
            owner_agent: self.owner_agent_id.map(|id| id.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Goal> for GoalRow {
    fn from(goal: &Goal) -> Self {
        Self {
            id: IdColumn(goal.id),
            company_id: IdColumn(goal.company),
            title: goal.title.to_string(),
            description: goal.description.as_ref().map(ToString::to_string),
            level: StringEnumColumn(goal.level),
            status: StringEnumColumn(goal.status),
            parent_id: goal.parent.map(IdColumn),
            owner_agent_id: goal.owner_agent.map(IdColumn),
            created_at: InstantColumn(goal.created_at),
            updated_at: InstantColumn(goal.updated_at),
        }
    }
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

impl GoalReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: GoalId) -> Result<Option<Goal>, StoreError> {
        let query = goals::table.filter(goals::id.eq(IdColumn(id)));
        let row = in_scope!(scope, goals, query, |scoped| scoped
            .select(GoalRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn find_all(&mut self, company: CompanyScope, ids: &[GoalId]) -> Result<Vec<Goal>, StoreError> {
        let rows: QueryResult<Vec<GoalRow>> =
            load_by_ids!(self.conn, goals::id, ids, |has_id| goals::table
                .filter(goals::company_id.eq(IdColumn(company.company())))
                .filter(has_id)
                .select(GoalRow::as_select()));
        all(rows.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<GoalCursor>,
    ) -> Result<Page<Goal, GoalCursor>, StoreError> {
        let mut query = goals::table
            .filter(goals::company_id.eq(IdColumn(company.company())))
            .select(GoalRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(goals::created_at.ge(at)).filter(
                goals::created_at
                    .gt(at)
                    .or(goals::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((goals::created_at, goals::id))
            .limit(fetch_limit(page))
            .load_iter::<GoalRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |goal| CreationKey {
            at: goal.created_at.micros(),
            id: goal.id,
        })
    }

    fn is_within(
        &mut self,
        company: CompanyScope,
        goal: GoalId,
        ancestor: GoalId,
    ) -> Result<bool, StoreError> {
        // UNION drops what was met before, so that a cycle ends.
        let found: Count = sql_query(
            "WITH RECURSIVE up (id) AS (
                SELECT id FROM goals WHERE company_id = $1 AND id = $2
                UNION
                SELECT g.parent_id
                FROM up CROSS JOIN goals g
                WHERE g.company_id = $1 AND g.id = up.id AND g.parent_id IS NOT NULL
            )
            SELECT COUNT(*) AS count FROM up WHERE id = $3",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(goal))
        .bind::<Key, _>(IdColumn(ancestor))
        .get_result(self.conn)
        .map_err(failed)?;
        Ok(found.count > 0)
    }
}

impl GoalWrites for Transaction<'_> {
    fn insert(&mut self, goal: Goal) -> Result<Locked<Goal>, StoreError> {
        diesel::insert_into(goals::table)
            .values(GoalRow::from(&goal))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(goal))
    }

    fn lock(&mut self, scope: Scope, id: GoalId) -> Result<Option<Locked<Goal>>, StoreError> {
        self.locks(Lock::Goal, id);
        let query = goals::table.filter(goals::id.eq(IdColumn(id)));
        let row = in_scope!(scope, goals, query, |scoped| for_update!(
            scoped.select(GoalRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError> {
        self.locks(Lock::Hierarchy, company.company());
        advisory_lock(self.conn, "goals", company.company().into()).map_err(failed)
    }

    fn save(&mut self, goal: &Locked<Goal>) -> Result<(), StoreError> {
        diesel::update(goals::table)
            .filter(goals::company_id.eq(IdColumn(goal.company)))
            .filter(goals::id.eq(IdColumn(goal.id)))
            .set(GoalRow::from(goal.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete(&mut self, goal: Locked<Goal>) -> Result<(), StoreError> {
        let goal = goal.to_store()?;
        diesel::delete(goals::table)
            .filter(goals::company_id.eq(IdColumn(goal.company)))
            .filter(goals::id.eq(IdColumn(goal.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }
}
