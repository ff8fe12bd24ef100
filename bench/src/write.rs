//! The statements of each write, in the order in which the server runs them.
//!
//! They follow the use cases of `crates/app` and the queries of `crates/infra`: whoever changes
//! what one of these writes does changes it here as well, and is told so by
//! [`comparison`](crate::comparison). Columns that a write leaves empty are
//! not named, and those that an update stores as they were are assigned to themselves, which is
//! the same work for the indexes.

mod checkout;
mod lookups;
mod record;

use std::collections::VecDeque;

use anyhow::Result;
use serde_json::json;
use workforce_domain::search::{comment_terms, own_terms};
use workforce_domain::time::{Month, Timestamp};

use self::record::Deed;
pub(crate) use self::record::Record;
use crate::baseline::Session;
use crate::company::Company;
use crate::database::Database;
use crate::figure::{COMMENT, DESCRIPTION, Figure, MODEL, PROVIDER, Place, TITLE, own};
use crate::random::{Random, now};
use crate::seed::Issues;
use crate::sql;
use crate::statement::{Document, Instant, Key, Statement, Value};

/// 2 cents in the unit of the ledger.
const COST: i64 = 2_000_000;
/// The value of `LIMIT`.
pub(crate) const ONE: Value<'static> = Value::BigInt(1);

/// What one connection writes with.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
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
    /// Issues that it comments on.
    commented: &'a [Key],
    /// Issues that no other connection touches.
    own: Vec<Key>,
    turn: usize,
    /// Those that are checked out, and since when.
    held: VecDeque<(Key, i64)>,
    random: Random,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        database: &mut impl Database,
        company: &Company,
        issues: &'a Issues,
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
            prefix: company.prefix.clone(),
            actor: agent.id.0.to_string(),
            commented: &issues.free,
            own: own(&issues.free, place).collect(),
            turn: 0,
            held: VecDeque::new(),
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
            Figure::AgentMe
            | Figure::GetIssue
            | Figure::ListIssues
            | Figure::SearchIssues
            | Figure::HomePage
            | Figure::IssuesPage
            | Figure::IssuePage => Ok(()),
            Figure::PostComment => session.transact(|database| self.comment(database)),
            Figure::PostCost => session.transact(|database| self.report_cost(database)),
            Figure::PostIssue => session.transact(|database| self.create_issue(database)),
            Figure::CheckoutRelease => self.check_out_and_release(session),
        }
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
        let (issue, at) = (*self.random.pick(self.commented), now());
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
}
