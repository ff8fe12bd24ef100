use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{
    AgentId, CompanyId, ExecutionWorkspaceId, GoalId, IssueId, ProjectId, RunId, UserId,
};
use workforce_domain::issue::{
    Assignee, Author, Issue, IssueRef, IssueStatus, Lease, Priority, Progress, ProgressRecord,
};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Held, IssueFilter, IssueKey, IssueReads, IssueWrites, StoreError};
use workforce_domain::text::{Description, Label, Title};

use super::super::transaction::Transaction;
use super::super::{Connection, held};
use super::advisory::advisory_lock;
use super::row::{Row, admit, admit_some, all, exactly_one, in_scope, length, one};
use super::{issue_deletion, issue_list, leases};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, Key, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::issues;

/// A chain of parents is followed so far.
pub(super) const MAX_ANCESTORS: i32 = 50;

#[derive(Queryable, QueryableByName, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = issues, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct IssueRow {
    id: IdColumn<IssueId>,
    company_id: IdColumn<CompanyId>,
    number: i64,
    identifier: String,
    project_id: Option<IdColumn<ProjectId>>,
    goal_id: Option<IdColumn<GoalId>>,
    parent_id: Option<IdColumn<IssueId>>,
    title: String,
    description: Option<String>,
    status: WordColumn<IssueStatus>,
    priority: i16,
    assignee_agent_id: Option<IdColumn<AgentId>>,
    assignee_user_id: Option<IdColumn<UserId>>,
    created_by_agent_id: Option<IdColumn<AgentId>>,
    created_by_user_id: Option<IdColumn<UserId>>,
    billing_code: Option<String>,
    ticket_key: Option<String>,
    request_depth: i32,
    delegation: Option<JsonColumn<Document>>,
    assignee_adapter_overrides: Option<JsonColumn<Document>>,
    execution_workspace_id: Option<IdColumn<ExecutionWorkspaceId>>,
    workflow_epoch: i32,
    started_at: Option<InstantColumn>,
    last_started_at: Option<InstantColumn>,
    completed_at: Option<InstantColumn>,
    cancelled_at: Option<InstantColumn>,
    hidden_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for IssueRow {
    type Record = Issue;

    fn weight(&self) -> usize {
        self.title.len() + length(self.description.as_ref())
    }

    fn restore(self) -> Result<Issue, Corrupt> {
        const KIND: &str = "issue";
        let assignee = match (self.assignee_agent_id, self.assignee_user_id) {
            (None, None) => Assignee::Nobody,
            (Some(agent), None) => Assignee::Agent(agent.0),
            (None, Some(user)) => Assignee::User(user.0),
            (Some(_), Some(_)) => return Err(Corrupt::new(KIND, "it has two assignees")),
        };
        Ok(Issue {
            id: self.id.0,
            company: self.company_id.0,
            number: self.number,
            identifier: self.identifier,
            project: self.project_id.map(|id| id.0),
            goal: self.goal_id.map(|id| id.0),
            parent: self.parent_id.map(|id| id.0),
            title: admit(KIND, &self.title, Title::new)?,
            description: admit_some(KIND, self.description.as_deref(), Description::new)?,
            progress: Progress::restore(ProgressRecord {
                status: self.status.0,
                started_at: self.started_at.map(|at| at.0),
                last_started_at: self.last_started_at.map(|at| at.0),
                completed_at: self.completed_at.map(|at| at.0),
                cancelled_at: self.cancelled_at.map(|at| at.0),
                workflow_epoch: self.workflow_epoch,
            })?,
            priority: Priority::from_rank(self.priority)
                .ok_or_else(|| Corrupt::new(KIND, "its priority is unknown"))?,
            assignee,
            created_by: Author {
                agent: self.created_by_agent_id.map(|id| id.0),
                user: self.created_by_user_id.map(|id| id.0),
            },
            billing_code: admit_some(KIND, self.billing_code.as_deref(), Label::new)?,
            ticket_key: admit_some(KIND, self.ticket_key.as_deref(), Label::new)?,
            request_depth: self.request_depth,
            delegation: self.delegation.map(|document| document.0),
            assignee_adapter_overrides: self.assignee_adapter_overrides.map(|document| document.0),
            execution_workspace: self.execution_workspace_id.map(|id| id.0),
            hidden_at: self.hidden_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Issue> for IssueRow {
    fn from(issue: &Issue) -> Self {
        let progress = issue.progress.record();
        Self {
            id: IdColumn(issue.id),
            company_id: IdColumn(issue.company),
            number: issue.number,
            identifier: issue.identifier.clone(),
            project_id: issue.project.map(IdColumn),
            goal_id: issue.goal.map(IdColumn),
            parent_id: issue.parent.map(IdColumn),
            title: issue.title.to_string(),
            description: issue.description.as_ref().map(ToString::to_string),
            status: WordColumn(progress.status),
            priority: issue.priority.rank(),
            assignee_agent_id: issue.assignee.agent().map(IdColumn),
            assignee_user_id: issue.assignee.user().map(IdColumn),
            created_by_agent_id: issue.created_by.agent.map(IdColumn),
            created_by_user_id: issue.created_by.user.map(IdColumn),
            billing_code: issue.billing_code.as_ref().map(ToString::to_string),
            ticket_key: issue.ticket_key.as_ref().map(ToString::to_string),
            request_depth: issue.request_depth,
            delegation: issue.delegation.clone().map(JsonColumn),
            assignee_adapter_overrides: issue.assignee_adapter_overrides.clone().map(JsonColumn),
            execution_workspace_id: issue.execution_workspace.map(IdColumn),
            workflow_epoch: progress.workflow_epoch,
            started_at: progress.started_at.map(InstantColumn),
            last_started_at: progress.last_started_at.map(InstantColumn),
            completed_at: progress.completed_at.map(InstantColumn),
            cancelled_at: progress.cancelled_at.map(InstantColumn),
            hidden_at: issue.hidden_at.map(InstantColumn),
            created_at: InstantColumn(issue.created_at),
            updated_at: InstantColumn(issue.updated_at),
        }
    }
}

#[derive(QueryableByName)]
struct Depth {
    #[diesel(sql_type = BigInt)]
    depth: i64,
}

fn find(
    conn: &mut Connection,
    scope: Scope,
    issue: &IssueRef,
) -> QueryResult<Option<IssueRow>> {
    match issue {
        IssueRef::Id(id) => {
            let query = issues::table.filter(issues::id.eq(IdColumn(*id)));
            in_scope!(scope, issues, query, |query| query
                .select(IssueRow::as_select())
                .first(conn)
                .optional())
        }
        IssueRef::Identifier(identifier) => {
            let query = issues::table.filter(issues::identifier.eq(identifier));
            in_scope!(scope, issues, query, |query| query
                .select(IssueRow::as_select())
                .first(conn)
                .optional())
        }
    }
}

fn lock(
    conn: &mut Connection,
    scope: Scope,
    issue: &IssueRef,
) -> QueryResult<Option<IssueRow>> {
    match issue {
        IssueRef::Id(id) => {
            let query = issues::table.filter(issues::id.eq(IdColumn(*id)));
            in_scope!(scope, issues, query, |query| held!(query.select(IssueRow::as_select()))
                .first(conn)
                .optional())
        }
        IssueRef::Identifier(identifier) => {
            let query = issues::table.filter(issues::identifier.eq(identifier));
            in_scope!(scope, issues, query, |query| held!(query.select(IssueRow::as_select()))
                .first(conn)
                .optional())
        }
    }
}

impl IssueReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, issue: &IssueRef) -> Result<Option<Issue>, StoreError> {
        one(find(self.conn, scope, issue).map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        filter: &IssueFilter,
        page: &PageRequest<IssueKey>,
    ) -> Result<Page<Issue, IssueKey>, StoreError> {
        issue_list::list(self.conn, company, filter, page)
    }

    fn ancestors(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Issue>, StoreError> {
        let rows: Vec<IssueRow> = sql_query(
            "WITH RECURSIVE chain (id, depth) AS (
                SELECT parent_id, 1 FROM issues WHERE company_id = $1 AND id = $2
                UNION ALL
                SELECT i.parent_id, chain.depth + 1
                FROM chain JOIN issues i ON i.company_id = $1 AND i.id = chain.id
                WHERE chain.depth < $3
            )
            SELECT i.*
            FROM chain JOIN issues i ON i.company_id = $1 AND i.id = chain.id
            ORDER BY chain.depth",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(issue))
        .bind::<Integer, _>(MAX_ANCESTORS)
        .load(self.conn)
        .map_err(failed)?;
        let mut seen = BTreeSet::from([issue]);
        // Whatever stands there twice closes a cycle.
        all(rows.into_iter().take_while(|row| seen.insert(row.id.0)).collect())
    }

    fn depth_below(&mut self, company: CompanyScope, issue: IssueId) -> Result<usize, StoreError> {
        let deepest: Depth = sql_query(
            "WITH RECURSIVE below (id, depth) AS (
                SELECT id, 0 FROM issues WHERE company_id = $1 AND id = $2
                UNION
                SELECT i.id, below.depth + 1
                FROM below JOIN issues i ON i.company_id = $1 AND i.parent_id = below.id
                WHERE below.depth < $3
            )
            SELECT CAST(COALESCE(MAX(depth), 0) AS BIGINT) AS depth FROM below",
        )
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(issue))
        .bind::<Integer, _>(i32::try_from(Issue::MAX_DEPTH).unwrap_or(i32::MAX))
        .get_result(self.conn)
        .map_err(failed)?;
        Ok(usize::try_from(deepest.depth).unwrap_or(0))
    }

    fn open_children(&mut self, company: CompanyScope, issue: IssueId) -> Result<i64, StoreError> {
        issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::parent_id.eq(IdColumn(issue)))
            .filter(issues::status.ne_all(ENDED.map(WordColumn)))
            .count()
            .get_result(self.conn)
            .map_err(failed)
    }

    fn lease(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<Lease>, StoreError> {
        Ok(leases::of_issues(self.conn, company, &[issue])?.pop())
    }

    fn leases(
        &mut self,
        company: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Vec<Lease>, StoreError> {
        leases::of_issues(self.conn, company, issues)
    }
}

/// The statuses of issues that have ended.
pub(super) const ENDED: [IssueStatus; 2] = [IssueStatus::Done, IssueStatus::Cancelled];

impl IssueWrites for Transaction<'_> {
    fn insert(&mut self, issue: Issue) -> Result<Held<Issue>, StoreError> {
        diesel::insert_into(issues::table)
            .values(IssueRow::from(&issue))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Held::locked(issue))
    }

    /// Whoever writes a lease locks its issue first, so the lock on the issue
    /// holds the lease too.
    fn lock(&mut self, scope: Scope, issue: &IssueRef) -> Result<Option<Held<Issue>>, StoreError> {
        Ok(one(lock(self.conn, scope, issue).map_err(failed)?)?.map(Held::locked))
    }

    fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError> {
        advisory_lock(self.conn, "issues", company.company().into()).map_err(failed)
    }

    fn save(&mut self, issue: &Held<Issue>) -> Result<(), StoreError> {
        diesel::update(issues::table)
            .filter(issues::company_id.eq(IdColumn(issue.company)))
            .filter(issues::id.eq(IdColumn(issue.id)))
            .set(IssueRow::from(&**issue))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    /// Comments, links to approvals and the lease go with it; runs, wakes and
    /// costs stay for the record, children become roots, and what waits to be
    /// run for it is cancelled.
    fn delete(&mut self, issue: Held<Issue>) -> Result<(), StoreError> {
        issue_deletion::delete(self.conn, &issue)
    }

    fn take_lease(&mut self, issue: &Held<Issue>, lease: Lease) -> Result<Lease, StoreError> {
        leases::take(self.conn, issue.company, issue.id, lease)
    }

    fn end_lease(&mut self, issue: &Held<Issue>) -> Result<(), StoreError> {
        leases::end(self.conn, issue)
    }

    fn lock_open_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Vec<Held<Issue>>, StoreError> {
        let query = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::assignee_agent_id.eq(IdColumn(agent)))
            .filter(issues::status.ne_all(ENDED.map(WordColumn)))
            .select(IssueRow::as_select())
            .order((issues::created_at, issues::id));
        let rows: Vec<IssueRow> = held!(query).load(self.conn).map_err(failed)?;
        Ok(all(rows)?.into_iter().map(Held::locked).collect())
    }

    fn end_leases_of_run(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError> {
        leases::end_of_run(self.conn, company, run)
    }
}
