//! What writes look up and save on their way.

use anyhow::Result;

use super::{ONE, Writer};
use crate::database::Database;
use crate::sql;
use crate::statement::{Instant, Key, Statement, Value};

impl Writer<'_> {
    pub(super) fn authenticate(&self, database: &mut impl Database) -> Result<()> {
        database.run(Statement::new(
            sql::CREDENTIAL,
            &[Value::Bytes(&self.digest), ONE],
        ))
    }

    pub(super) fn lock_issue(&self, database: &mut impl Database, issue: Key) -> Result<()> {
        let values = [Value::Key(issue), Value::Key(self.company), ONE];
        database.run(Statement::locking(sql::ISSUE, &values))
    }

    pub(super) fn look_up_lease(&self, database: &mut impl Database, issue: Key) -> Result<()> {
        let values = [Value::Key(self.company), Value::Key(issue)];
        database.run(Statement::new(sql::LEASE, &values))
    }

    pub(super) fn look_up_labels(&self, database: &mut impl Database, issue: Key) -> Result<()> {
        let values = [Value::Key(self.company), Value::Key(issue)];
        database.run(Statement::new(sql::LABELS, &values))
    }

    pub(super) fn look_up_company_spend(
        &self,
        database: &mut impl Database,
        month: i32,
    ) -> Result<()> {
        let company = Value::Key(self.company);
        let values = [
            company.clone(),
            company.clone(),
            company,
            Value::Integer(month),
        ];
        database.run(Statement::new(sql::COMPANY_SPEND, &values))
    }

    pub(super) fn look_up_agent_spend(
        &self,
        database: &mut impl Database,
        month: i32,
    ) -> Result<()> {
        let (company, agent) = (Value::Key(self.company), Value::Key(self.agent));
        let values = [
            company.clone(),
            agent.clone(),
            company,
            agent,
            Value::Integer(month),
        ];
        database.run(Statement::new(sql::AGENT_SPEND, &values))
    }

    pub(super) fn save_issue(
        &self,
        database: &mut impl Database,
        issue: Key,
        status: &str,
        assignee: Option<Key>,
        begun: i64,
        at: i64,
    ) -> Result<()> {
        let values = [
            Value::Text(status),
            Value::MaybeKey(assignee),
            Value::Instant(Instant(begun)),
            Value::Instant(Instant(begun)),
            Value::Instant(Instant(at)),
            Value::Key(self.company),
            Value::Key(issue),
        ];
        database.run(Statement::new(sql::SAVE_ISSUE, &values))
    }
}
