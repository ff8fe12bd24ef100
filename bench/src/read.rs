//! The statements of each read, in the order in which the server runs them.
//!
//! They follow the use cases of `crates/app` and the queries of `crates/infra`, as those of
//! [`write`](crate::write) do, and are compared with them in the same way.

use anyhow::{Context as _, Result, bail};
use workforce_domain::time::{Month, Timestamp};

use crate::company::Company;
use crate::database::Database;
use crate::figure::{Figure, LISTED, PAGE};
use crate::random::now;
use crate::sql;
use crate::statement::{Key, Statement, Value};
use crate::write::ONE;

/// How far a chain of command is followed.
const MAX_CHAIN: i32 = 50;

/// What reads are made with.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    company: Key,
    agent: Key,
    digest: Vec<u8>,
    month: i32,
}

impl Reader {
    pub(crate) fn new(database: &mut impl Database, company: &Company) -> Result<Self> {
        let agent = company.agent(0);
        Ok(Self {
            company: company.id,
            agent: agent.id,
            digest: company.digest(database, agent)?,
            month: Month::of(Timestamp::from_micros(now())).number(),
        })
    }

    /// One operation of `figure`, on the issue that is asked for where one is. Every value of
    /// every row is added to `answer`.
    pub(crate) fn read<D: Database>(
        &self,
        figure: Figure,
        asked: Option<Key>,
        database: &mut D,
        answer: &mut Vec<u8>,
    ) -> Result<()> {
        database.begin_read()?;
        database.read(
            Statement::new(sql::CREDENTIAL, &[Value::Bytes(&self.digest), ONE]),
            answer,
            None,
        )?;
        match figure {
            Figure::AgentMe => self.agent(database, answer)?,
            Figure::GetIssue => self.issue(asked.context("no issue")?, database, answer)?,
            Figure::ListIssues => self.page(database, answer)?,
            _ => bail!("{} has no limit", figure.title()),
        }
        database.end_read()
    }

    fn agent(&self, database: &mut impl Database, answer: &mut Vec<u8>) -> Result<()> {
        let (company, agent) = (Value::Key(self.company), Value::Key(self.agent));
        let found = [agent.clone(), company.clone(), ONE];
        database.read(Statement::new(sql::AGENT, &found), answer, None)?;
        let chain = [
            agent.clone(),
            company.clone(),
            company.clone(),
            Value::Integer(MAX_CHAIN),
            company.clone(),
        ];
        database.read(Statement::new(sql::CHAIN_OF_COMMAND, &chain), answer, None)?;
        let of_agent = [company.clone(), agent.clone()];
        database.read(Statement::new(sql::LAST_REVISION, &of_agent), answer, None)?;
        database.read(Statement::new(sql::LIVE_RUNS, &of_agent), answer, None)?;
        let spent = [
            company.clone(),
            agent.clone(),
            company,
            agent,
            Value::Integer(self.month),
        ];
        database.read(Statement::new(sql::AGENT_SPEND, &spent), answer, None)
    }

    fn issue(&self, issue: Key, database: &mut impl Database, answer: &mut Vec<u8>) -> Result<()> {
        let (issue, company) = (Value::Key(issue), Value::Key(self.company));
        let found = [issue.clone(), company.clone(), ONE];
        database.read(Statement::new(sql::ISSUE, &found), answer, None)?;
        let of_issue = [company, issue];
        database.read(Statement::new(sql::LEASE, &of_issue), answer, None)?;
        database.read(Statement::new(sql::LABELS, &of_issue), answer, None)?;
        let [company, issue] = of_issue;
        let advance = [company, issue, ONE];
        database.read(Statement::new(sql::ADVANCE, &advance), answer, None)
    }

    fn page(&self, database: &mut impl Database, answer: &mut Vec<u8>) -> Result<()> {
        let company = Value::Key(self.company);
        let rows = i64::try_from(PAGE)?.saturating_add(1);
        let page = [company.clone(), Value::Text(LISTED), Value::BigInt(rows)];
        let mut issues = Vec::with_capacity(PAGE + 1);
        let found = Statement::new(sql::ISSUES_BY_STATUS, &page);
        database.read(found, answer, Some(&mut issues))?;
        let mut of_issues = vec![company];
        of_issues.extend(issues.into_iter().take(PAGE).map(Value::Key));
        for sql in [&*sql::LEASES_OF_PAGE, &*sql::LABELS_OF_PAGE] {
            database.read(Statement::new(sql, &of_issues), answer, None)?;
        }
        Ok(())
    }
}
