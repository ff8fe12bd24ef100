//! The statements of each write, in the order in which the server runs them.
//!
//! They follow the use cases of `crates/app` and the queries of `crates/infra`: whoever changes
//! what one of these writes does changes it here as well, and is told so by
//! [`comparison`](crate::comparison). Columns that a write leaves empty are
//! not named, and those that an update stores as they were are assigned to themselves, which is
//! the same work for the indexes.

mod lookups;
mod record;

use anyhow::{Context as _, Result};
use serde_json::json;
use workforce_domain::search::{comment_terms, own_terms};
use workforce_domain::time::{Month, Timestamp};

use self::record::Deed;
use crate::baseline::Session;
use crate::company::Company;
use crate::database::Database;
use crate::figure::{COMMENT, DESCRIPTION, Figure, MODEL, PROVIDER, Place, TITLE, own};
use crate::random::{Random, now};
use crate::seed::Issues;
use crate::sql;
use crate::statement::{Document, Instant, Key, Statement, Value};

/// How long an agent without a run keeps an issue, in microseconds.
const LEASE: i64 = 15 * 60 * 1_000_000;
/// How far a chain of parents is followed.
const MAX_ANCESTORS: i32 = 50;
/// 2 cents in the unit of the ledger.
const COST: i64 = 2_000_000;
/// The value of `LIMIT`.
pub(crate) const ONE: Value<'static> = Value::BigInt(1);

/// What one connection writes with.
#[derive(Debug)]
pub(crate) struct Writer {
    company: Key,
    agent: Key,
    digest: Vec<u8>,
    project: Key,
    prefix: String,
    /// The agent's id as rows about what happened name it.
    actor: String,
    /// The terms of a new issue and of a comment. Finding them is no part of the baseline.
    issue_terms: String,
    comment_terms: String,
    /// Issues that no other connection touches.
    issues: Vec<Key>,
    turn: usize,
    random: Random,
}

impl Writer {
    pub(crate) fn new(
        database: &mut impl Database,
        company: &Company,
        issues: &Issues,
        place: Place,
    ) -> Result<Self> {
        let connection = place.connection;
        let agent = company.agent(connection);
        let id = company.id.0.into();
        Ok(Self {
            issue_terms: own_terms(id, "MEA-1", TITLE, Some(DESCRIPTION)),
            comment_terms: comment_terms(id, COMMENT),
            company: company.id,
            agent: agent.id,
            digest: company.digest(database, agent)?,
            project: company.projects[connection % company.projects.len()],
            prefix: company.issue_prefix(database)?,
            actor: agent.id.0.to_string(),
            issues: own(&issues.free, place).collect(),
            turn: 0,
            // Not the numbers of any other connection, nor of an earlier figure.
            random: Random::seeded(now().unsigned_abs().wrapping_mul(31) + connection as u64),
        })
    }

    /// One operation of `figure`. A figure that only reads has no baseline and does nothing here.
    pub(crate) fn write<D: Database>(
        &mut self,
        figure: Figure,
        session: &mut Session<D>,
    ) -> Result<()> {
        match figure {
            Figure::AgentMe | Figure::GetIssue | Figure::ListIssues | Figure::SearchIssues => {
                Ok(())
            }
            Figure::PostComment => session.transact(|database| self.comment(database)),
            Figure::PostCost => session.transact(|database| self.report_cost(database)),
            Figure::PostIssue => session.transact(|database| self.create_issue(database)),
            Figure::CheckoutRelease => {
                let (issue, at) = (self.next_issue()?, now());
                session.transact(|database| self.check_out(database, issue, at))?;
                session.transact(|database| self.release(database, issue, at))
            }
        }
    }

    fn next_issue(&mut self) -> Result<Key> {
        let index = self.turn % self.issues.len().max(1);
        self.turn += 1;
        self.issues
            .get(index)
            .copied()
            .context("too few issues for every connection")
    }

    fn create_issue(&mut self, database: &mut impl Database) -> Result<()> {
        let at = now();
        self.authenticate(database)?;
        database.run(Statement::new(
            sql::COMPANY,
            &[Value::Key(self.company), ONE],
        ))?;
        let place = [Value::Key(self.project), Value::Key(self.company), ONE];
        database.run(Statement::new(sql::PROJECT, &place))?;
        let counter = [Value::Key(self.company)];
        let number = database.count(sql::NEXT_ISSUE_NUMBER, &counter)?;
        let id = self.random.key(at);
        let identifier = format!("{}-{number}", self.prefix);
        let values = [
            Value::Key(id),
            Value::Key(self.company),
            Value::BigInt(number),
            Value::Text(&identifier),
            Value::Key(self.project),
            Value::Text(TITLE),
            Value::Text(DESCRIPTION),
            Value::Text("todo"),
            Value::SmallInt(2),
            Value::Key(self.agent),
            Value::Integer(0),
            Value::Integer(0),
            Value::Instant(Instant(at)),
            Value::Instant(Instant(at)),
        ];
        database.run(Statement::new(sql::INSERT_ISSUE, &values))?;
        database.add_text(self.company, id, None, &self.issue_terms)?;
        let details = json!({ "title": TITLE, "status": "todo", "identifier": identifier });
        self.record_issue(database, "issue.created", id, details, at)
    }

    fn comment(&mut self, database: &mut impl Database) -> Result<()> {
        let (issue, at) = (self.next_issue()?, now());
        self.authenticate(database)?;
        self.lock_issue(database, issue)?;
        self.look_up_lease(database, issue)?;
        let id = self.random.key(at);
        let values = [
            Value::Key(id),
            Value::Key(self.company),
            Value::Key(issue),
            Value::Key(self.agent),
            Value::Text(COMMENT),
            Value::Document(Document("[]")),
            Value::Instant(Instant(at)),
        ];
        database.run(Statement::new(sql::INSERT_COMMENT, &values))?;
        database.add_text(self.company, issue, Some(id), &self.comment_terms)?;
        let identifier = format!("{}-1", self.prefix);
        let details = json!({ "commentId": id.0, "mentions": [], "identifier": identifier });
        self.record_issue(database, "issue.comment_added", issue, details, at)
    }

    fn report_cost(&mut self, database: &mut impl Database) -> Result<()> {
        let at = now();
        let month = Month::of(Timestamp::from_micros(at)).number();
        self.authenticate(database)?;
        database.run(Statement::locking(
            sql::COMPANY,
            &[Value::Key(self.company), ONE],
        ))?;
        let agent = [Value::Key(self.agent), Value::Key(self.company), ONE];
        database.run(Statement::locking(sql::AGENT, &agent))?;
        self.look_up_company_spend(database, month)?;
        let id = self.random.key(at);
        let values = [
            Value::Key(id),
            Value::Key(self.company),
            Value::Key(self.agent),
            Value::Text(PROVIDER),
            Value::Text(MODEL),
            Value::Text("api"),
            Value::BigInt(1200),
            Value::BigInt(340),
            Value::BigInt(0),
            Value::BigInt(0),
            Value::BigInt(COST),
            Value::Text("reported"),
            Value::Bool(true),
            Value::Instant(Instant(at)),
            Value::Instant(Instant(at)),
        ];
        database.run(Statement::new(sql::INSERT_COST_EVENT, &values))?;
        for (scope, spender) in [("company", self.company), ("agent", self.agent)] {
            let values = [
                Value::Key(self.company),
                Value::Text(scope),
                Value::Key(spender),
                Value::Integer(month),
                Value::BigInt(COST),
            ];
            database.run(Statement::new(sql::ADD_TO_TOTAL, &values))?;
        }
        self.look_up_agent_spend(database, month)?;
        self.look_up_company_spend(database, month)?;
        let deed = Deed {
            action: "cost.reported",
            entity: "cost_event",
            id,
            details: json!({
                "agentId": self.agent.0,
                "provider": PROVIDER,
                "model": MODEL,
                "costCents": "2",
            }),
            event: None,
            at,
        };
        self.record(database, &deed)
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
