//! The statements of each read, in the order in which the server runs them.
//!
//! They follow the use cases of `crates/app` and the queries of `crates/infra`, as those of
//! [`write`](mod@crate::write) do, and are compared with them in the same way.

use anyhow::{Context as _, Result, bail};
use workforce_domain::time::{Month, Timestamp};

use crate::company::Company;
use crate::database::Database;
use crate::figure::{Figure, LISTED, PAGE};
use crate::random::now;
use crate::sql;
use crate::statement::{Key, Keys, Statement, Value};
use crate::write::ONE;

/// The columns of an issue that name itself, its project, its goal and its parent.
const AROUND: [usize; 4] = [0, 4, 5, 6];
/// How far a chain of command or of parents is followed.
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
        let credential = [Value::Bytes(&self.digest), ONE];
        database.read(Statement::new(sql::CREDENTIAL, &credential), answer, &[])?;
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
        let chain = [
            company.clone(),
            agent.clone(),
            company.clone(),
            Value::Integer(MAX_CHAIN),
            company.clone(),
        ];
        let of_agent = [company.clone(), agent.clone()];
        let live = [
            company.clone(),
            Value::Keys([self.agent].into_iter().collect()),
        ];
        let spent = [
            company.clone(),
            agent.clone(),
            company,
            agent,
            Value::Integer(self.month),
        ];
        for (sql, values) in [
            (sql::AGENT, found.as_slice()),
            (sql::CHAIN_OF_COMMAND, &chain),
            (sql::LAST_REVISION, &of_agent),
            (sql::LIVE_RUNS, &live),
            (sql::AGENT_SPEND, &spent),
        ] {
            database.read(Statement::new(sql, values), answer, &[])?;
        }
        Ok(())
    }

    fn issue(&self, asked: Key, database: &mut impl Database, answer: &mut Vec<u8>) -> Result<()> {
        let (issue, company) = (Value::Key(asked), Value::Key(self.company));
        let found = [issue.clone(), company.clone(), ONE];
        let found = Statement::new(sql::ISSUE, &found);
        let mut around = database.read(found, answer, &AROUND)?;
        let of_issue = [company.clone(), issue.clone()];
        database.read(Statement::new(sql::LEASE, &of_issue), answer, &[])?;
        if around.last().is_some_and(Option::is_some) {
            let parents = [
                company.clone(),
                issue.clone(),
                company.clone(),
                Value::Integer(MAX_CHAIN),
                company.clone(),
            ];
            let parents = Statement::new(sql::PARENTS, &parents);
            around.extend(database.read(parents, answer, &AROUND)?);
        }
        // Each row has four of these.
        let column = |place: usize| around.iter().skip(place).step_by(AROUND.len()).flatten();
        let projects: Keys = column(1).copied().collect();
        if !projects.is_empty() {
            let projects = [company.clone(), Value::Keys(projects)];
            for sql in [sql::PROJECTS, sql::PROJECT_GOALS, sql::WORKSPACES] {
                database.read(Statement::new(sql, &projects), answer, &[])?;
            }
        }
        let goals: Keys = column(2).copied().collect();
        if !goals.is_empty() {
            let goals = [company.clone(), Value::Keys(goals)];
            database.read(Statement::new(sql::GOALS, &goals), answer, &[])?;
        }
        if around.len() > AROUND.len() {
            let issues = [company.clone(), Value::Keys(column(0).copied().collect())];
            database.read(Statement::new(sql::LABELS_OF_SEVERAL, &issues), answer, &[])?;
        } else {
            database.read(Statement::new(sql::LABELS, &of_issue), answer, &[])?;
        }
        let advance = [company, issue, ONE];
        database.read(Statement::new(sql::ADVANCE, &advance), answer, &[])?;
        Ok(())
    }

    fn page(&self, database: &mut impl Database, answer: &mut Vec<u8>) -> Result<()> {
        let company = Value::Key(self.company);
        let rows = i64::try_from(PAGE)?.saturating_add(1);
        let page = [company.clone(), Value::Text(LISTED), Value::BigInt(rows)];
        let page = Statement::new(sql::ISSUES_BY_STATUS, &page);
        let issues = database.read(page, answer, &[0])?;
        let issues = issues.into_iter().take(PAGE).flatten().collect();
        let of_issues = [company, Value::Keys(issues)];
        let leases = Statement::new(sql::LEASES, &of_issues[1..]);
        database.read(leases, answer, &[])?;
        let labels = Statement::new(sql::LABELS_OF_SEVERAL, &of_issues);
        database.read(labels, answer, &[])?;
        Ok(())
    }
}
