//! What the programs of agents keep from run to run.

use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::agent::AdapterType;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId};
use workforce_domain::port::{SessionReads, SessionWrites, StoreError};
use workforce_domain::session::{AgentSession, NoTaskKey, ProviderGate, TaskKey};
use workforce_domain::text::AccountKey;
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::page::row_limit;
use super::provider_gates;
use super::row::{Row, admit, all, length, one};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::agent_sessions;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = agent_sessions,
    primary_key(company_id, agent_id, adapter_type, task_key),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct SessionRow {
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    adapter_type: StringEnumColumn<AdapterType>,
    task_key: String,
    issue_id: Option<IdColumn<IssueId>>,
    session_id: String,
    directory: String,
    fingerprint: String,
    runs: i32,
    input_tokens: i64,
    usage_baseline: String,
    last_result: Option<String>,
    begun_at: InstantColumn,
    last_used_at: InstantColumn,
    last_run_id: Option<IdColumn<RunId>>,
}

impl Row for SessionRow {
    type Record = AgentSession;

    fn weight(&self) -> usize {
        length(self.last_result.as_ref())
    }

    fn restore(self) -> Result<AgentSession, Corrupt> {
        const KIND: &str = "session";
        let task: TaskKey = self
            .task_key
            .parse()
            .map_err(|error: NoTaskKey| Corrupt::new(KIND, error.to_string()))?;
        if task.issue() != self.issue_id.map(|id| id.0) {
            return Err(Corrupt::new(KIND, "its key is that of its issue"));
        }
        Ok(AgentSession {
            company: self.company_id.0,
            agent: self.agent_id.0,
            adapter_type: self.adapter_type.0,
            task,
            session: admit(KIND, self.session_id)?,
            directory: self.directory,
            fingerprint: self.fingerprint,
            runs: self.runs,
            input_tokens: self.input_tokens,
            usage_baseline: self.usage_baseline,
            last_result: self.last_result,
            begun_at: self.begun_at.0,
            last_used_at: self.last_used_at.0,
            last_run: self.last_run_id.map(|id| id.0),
        })
    }
}

impl From<&AgentSession> for SessionRow {
    fn from(session: &AgentSession) -> Self {
        Self {
            company_id: IdColumn(session.company),
            agent_id: IdColumn(session.agent),
            adapter_type: StringEnumColumn(session.adapter_type),
            task_key: session.task.into(),
            issue_id: session.task.issue().map(IdColumn),
            session_id: session.session.to_string(),
            directory: session.directory.clone(),
            fingerprint: session.fingerprint.clone(),
            runs: session.runs,
            input_tokens: session.input_tokens,
            usage_baseline: session.usage_baseline.clone(),
            last_result: session.last_result.clone(),
            begun_at: InstantColumn(session.begun_at),
            last_used_at: InstantColumn(session.last_used_at),
            last_run_id: session.last_run.map(IdColumn),
        }
    }
}

impl SessionReads for Transaction<'_> {
    fn find_session(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        adapter_type: AdapterType,
        task: TaskKey,
    ) -> Result<Option<AgentSession>, StoreError> {
        let key = (
            IdColumn(company.company()),
            IdColumn(agent),
            StringEnumColumn(adapter_type),
            String::from(task),
        );
        let row = agent_sessions::table
            .find(key)
            .select(SessionRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn sessions_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        limit: usize,
    ) -> Result<Vec<AgentSession>, StoreError> {
        let rows: Vec<SessionRow> = agent_sessions::table
            .filter(agent_sessions::company_id.eq(IdColumn(company.company())))
            .filter(agent_sessions::agent_id.eq(IdColumn(agent)))
            .order((
                agent_sessions::last_used_at.desc(),
                agent_sessions::task_key.desc(),
                agent_sessions::adapter_type.desc(),
            ))
            .limit(row_limit(limit))
            .select(SessionRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn find_gate(
        &mut self,
        company: CompanyScope,
        account: &AccountKey,
    ) -> Result<Option<ProviderGate>, StoreError> {
        provider_gates::find(self.conn, company, account)
    }
}

impl SessionWrites for Transaction<'_> {
    fn save_session(&mut self, session: &AgentSession) -> Result<(), StoreError> {
        let row = SessionRow::from(session);
        diesel::insert_into(agent_sessions::table)
            .values(&row)
            .on_conflict((
                agent_sessions::company_id,
                agent_sessions::agent_id,
                agent_sessions::adapter_type,
                agent_sessions::task_key,
            ))
            .do_update()
            .set(&row)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn delete_sessions(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        task: Option<TaskKey>,
    ) -> Result<usize, StoreError> {
        let mut delete = diesel::delete(agent_sessions::table)
            .filter(agent_sessions::company_id.eq(IdColumn(company.company())))
            .filter(agent_sessions::agent_id.eq(IdColumn(agent)))
            .into_boxed();
        if let Some(task) = task {
            delete = delete.filter(agent_sessions::task_key.eq(String::from(task)));
        }
        delete.execute(self.conn).map_err(failed)
    }

    fn note_gate(&mut self, gate: &ProviderGate) -> Result<(), StoreError> {
        provider_gates::note(self.conn, gate)
    }

    fn delete_gate(
        &mut self,
        company: CompanyScope,
        account: &AccountKey,
    ) -> Result<bool, StoreError> {
        provider_gates::delete(self.conn, company, account)
    }

    fn delete_expired_gates(
        &mut self,
        _scope: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        provider_gates::delete_expired(self.conn, before, limit)
    }
}
