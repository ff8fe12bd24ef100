//! Issues checked out and released.

use anyhow::{Context as _, Result};
use serde_json::json;

use super::{ONE, Writer};
use crate::baseline::Session;
use crate::database::Database;
use crate::random::now;
use crate::sql;
use crate::statement::{Instant, Key, Statement, Value};

/// How long an agent without a run keeps an issue, in microseconds.
const LEASE: i64 = 15 * 60 * 1_000_000;
/// How far a chain of parents is followed.
const MAX_ANCESTORS: i32 = 50;

impl Writer<'_> {
    /// Checks an issue out and releases one. Clients that share commits have their answer after the
    /// commit of the checkout, so that the release is in a later one.
    pub(super) fn check_out_and_release<D: Database>(
        &mut self,
        session: &mut Session<D>,
    ) -> Result<()> {
        let (issue, at) = (self.next_issue()?, now());
        session.transact(|database| self.check_out(database, issue, at))?;
        self.held.push_back((issue, at));
        // An operation is two of the members of a commit.
        self.release_but(session.group() / 2, session)
    }

    /// Releases the issues that it holds, but for the latest so many.
    pub(crate) fn release_but<D: Database>(
        &mut self,
        kept: usize,
        session: &mut Session<D>,
    ) -> Result<()> {
        while self.held.len() > kept
            && let Some((issue, begun)) = self.held.pop_front()
        {
            session.transact(|database| self.release(database, issue, begun))?;
        }
        Ok(())
    }

    fn next_issue(&mut self) -> Result<Key> {
        let index = self.turn % self.own.len().max(1);
        self.turn += 1;
        self.own
            .get(index)
            .copied()
            .context("too few issues for every connection")
    }

    fn check_out(&mut self, database: &mut impl Database, issue: Key, at: i64) -> Result<()> {
        self.authenticate(database)?;
        // Locks go in one order: an agent before its issues.
        let seen = [Value::Key(issue), Value::Key(self.company), ONE];
        database.run(Statement::new(sql::ISSUE, &seen))?;
        let agent = [Value::Key(self.agent), Value::Key(self.company), ONE];
        database.run(Statement::new(sql::AGENT, &agent))?;
        self.lock_issue(database, issue)?;
        database.run(Statement::new(
            sql::COMPANY,
            &[Value::Key(self.company), ONE],
        ))?;
        self.look_up_lease(database, issue)?;
        let company = Value::Key(self.company);
        let approvals = [
            company.clone(),
            Value::Key(issue),
            company.clone(),
            Value::Integer(MAX_ANCESTORS),
            company.clone(),
            company.clone(),
            company,
        ];
        database.run(Statement::new(sql::UNDECIDED_APPROVAL, &approvals))?;
        self.save_issue(database, issue, "in_progress", Some(self.agent), at, at)?;
        let values = [Value::Key(self.company), Value::Key(issue)];
        let fence = database.count(sql::NEXT_FENCE, &values)?;
        let lease = [
            Value::Key(issue),
            Value::Key(self.company),
            Value::Key(self.agent),
            Value::BigInt(fence),
            Value::Instant(Instant(at + LEASE)),
        ];
        database.run(Statement::new(sql::PUT_LEASE, &lease))?;
        self.look_up_lease(database, issue)?;
        self.look_up_labels(database, issue)?;
        let details = json!({ "from": "todo", "agentId": self.agent.0, "identifier": "MEA-1" });
        self.record_issue(database, "issue.checked_out", issue, details, at)
    }

    fn release(&mut self, database: &mut impl Database, issue: Key, begun: i64) -> Result<()> {
        let at = now();
        self.authenticate(database)?;
        self.lock_issue(database, issue)?;
        self.look_up_lease(database, issue)?;
        let values = [Value::Key(self.company), Value::Key(issue)];
        database.run(Statement::new(sql::END_LEASE, &values))?;
        let coalesce_key = format!("issue:{}", issue.0);
        let wake = [
            Value::Key(self.company),
            Value::Key(self.agent),
            Value::Text(&coalesce_key),
            ONE,
        ];
        database.run(Statement::locking(sql::PENDING_WAKE, &wake))?;
        self.save_issue(database, issue, "todo", None, begun, at)?;
        self.look_up_labels(database, issue)?;
        let details = json!({ "status": "todo", "identifier": "MEA-1" });
        self.record_issue(database, "issue.released", issue, details, at)
    }
}
