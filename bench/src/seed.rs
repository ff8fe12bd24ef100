//! Issues, written straight into the tables: a hundred thousand requests would take minutes.

use anyhow::{Context as _, Result};
use workforce_domain::search::own_terms;

use crate::company::Company;
use crate::database::Database;
use crate::random::{Random, now};
use crate::statement::{Instant, Key, Statement, Value};

/// Rows per statement; below the limits of both databases on bound values.
const BATCH: usize = 50;

/// So many rows tell the planner what those after them are like; some batches.
const TELLING: usize = 20 * BATCH;

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// How many of a hundred issues stand where.
const STATUSES: [(&str, usize); 7] = [
    ("done", 50),
    ("todo", 20),
    ("backlog", 10),
    ("in_progress", 8),
    ("in_review", 5),
    ("blocked", 4),
    ("cancelled", 3),
];

/// How many of a hundred issues have the priority of that rank.
const PRIORITIES: [usize; 4] = [5, 20, 55, 20];

const WORDS: [&str; 16] = [
    "board", "cache", "deploy", "export", "filter", "invoice", "login", "mail", "order", "page",
    "queue", "report", "search", "test", "upload", "window",
];

/// The issues that were written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Issues {
    pub(crate) all: Vec<Key>,
    /// Those an agent may check out: to do, and assigned to nobody.
    pub(crate) free: Vec<Key>,
}

/// An issue whose values are drawn.
pub(crate) struct Issue {
    id: Key,
    number: i64,
    identifier: String,
    pub(crate) project: Option<Key>,
    pub(crate) goal: Option<Key>,
    parent: Option<Key>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) status: &'static str,
    /// The rank of it.
    pub(crate) priority: i16,
    pub(crate) assignee: Option<Key>,
    creator: Option<Key>,
    started_at: Option<Instant>,
    completed_at: Option<Instant>,
    cancelled_at: Option<Instant>,
    created_at: Instant,
    updated_at: Instant,
}

/// Writes `count` issues of `company`, all in one transaction.
pub(crate) fn issues(
    database: &mut impl Database,
    company: &Company,
    count: usize,
) -> Result<Issues> {
    let prefix = &company.prefix;
    let (mut random, first_created) = (Random::seeded(1), now() - 90 * DAY);
    let age = 89 * DAY / i64::try_from(count.max(1))?;
    let mut issues = Issues {
        all: Vec::with_capacity(count),
        free: Vec::new(),
    };
    database.begin()?;
    let mut parent = None;
    for start in (0..count).step_by(BATCH) {
        let batch: Vec<Issue> = (start..count.min(start + BATCH))
            .map(|index| {
                let number = i64::try_from(index)? + 1;
                let created_at = first_created + age * number;
                let mut issue = Issue::draw(&mut random, company, created_at);
                issue.number = number;
                issue.identifier = format!("{prefix}-{number}");
                // Of ten issues, one is the parent of the next three.
                match index % 10 {
                    0 => parent = Some(issue.id),
                    1..=3 => issue.parent = parent,
                    _ => {}
                }
                Ok(issue)
            })
            .collect::<Result<_>>()?;
        insert(database, company, &batch)?;
        for issue in &batch {
            let description = Some(issue.description.as_str());
            let id = company.id.0.into();
            let terms = own_terms(id, &issue.identifier, &issue.title, description);
            database.add_text(company.id, issue.id, None, &terms)?;
        }
        issues.all.extend(batch.iter().map(|issue| issue.id));
        let free = batch.iter().filter(|issue| issue.is_free());
        issues.free.extend(free.map(|issue| issue.id));
        if issues.all.len() == TELLING {
            database.tell_planner()?;
        }
    }
    let sql = "UPDATE company_counters SET issue_number = ? WHERE company_id = ?";
    let values = [Value::BigInt(i64::try_from(count)?), Value::Key(company.id)];
    database.run(Statement::new(sql, &values))?;
    database.commit()?;
    Ok(issues)
}

impl Issue {
    /// An issue as real companies have them, made at `created_at` (in microseconds since 1970).
    pub(crate) fn draw(random: &mut Random, company: &Company, created_at: i64) -> Self {
        let status = STATUSES[drawn(random, STATUSES.map(|(_, share)| share))].0;
        let priority = drawn(random, PRIORITIES);
        // Nobody has to hold what is not begun.
        let assigned = match status {
            "todo" => random.below(10) < 3,
            "backlog" | "cancelled" => false,
            _ => true,
        };
        let updated_at =
            Instant(created_at + i64::try_from(random.below(20)).unwrap_or(0) * DAY / 24);
        let begun = !matches!(status, "todo" | "backlog" | "cancelled");
        Self {
            id: random.key(created_at),
            number: 0,
            identifier: String::new(),
            project: (random.below(10) < 8 && !company.projects.is_empty())
                .then(|| *random.pick(&company.projects)),
            goal: if random.below(10) < 3 {
                company.goal
            } else {
                None
            },
            parent: None,
            title: text(random, 6),
            description: text(random, 50),
            status,
            priority: i16::try_from(priority).unwrap_or(0),
            assignee: assigned.then(|| random.pick(&company.agents).id),
            creator: (random.below(2) == 0).then(|| random.pick(&company.agents).id),
            started_at: begun.then_some(Instant(created_at)),
            completed_at: (status == "done").then_some(updated_at),
            cancelled_at: (status == "cancelled").then_some(updated_at),
            created_at: Instant(created_at),
            updated_at,
        }
    }

    /// Whether any agent may check it out.
    pub(crate) fn is_free(&self) -> bool {
        self.status == "todo" && self.assignee.is_none()
    }
}

/// The index of one of `shares`, each with its chance of a hundred.
fn drawn<const N: usize>(random: &mut Random, shares: [usize; N]) -> usize {
    let mut left = random.below(shares.iter().sum());
    for (index, share) in shares.into_iter().enumerate() {
        if left < share {
            return index;
        }
        left -= share;
    }
    0
}

fn text(random: &mut Random, words: usize) -> String {
    (0..words)
        .map(|_| *random.pick(&WORDS))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Columns whose value is drawn; those after them are the same in every row.
const COLUMNS: &str = "id, company_id, number, identifier, project_id, goal_id, parent_id, title, \
     description, status, priority, assignee_agent_id, created_by_agent_id, started_at, \
     last_started_at, completed_at, cancelled_at, created_at, updated_at, request_depth, \
     workflow_epoch";

fn insert(database: &mut impl Database, company: &Company, batch: &[Issue]) -> Result<()> {
    let mut sql = format!("INSERT INTO issues ({COLUMNS}) VALUES ");
    let mut values = Vec::new();
    for (index, issue) in batch.iter().enumerate() {
        if index > 0 {
            sql.push_str(", ");
        }
        sql.push_str("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)");
        values.extend([
            Value::Key(issue.id),
            Value::Key(company.id),
            Value::BigInt(issue.number),
            Value::Text(&issue.identifier),
            Value::MaybeKey(issue.project),
            Value::MaybeKey(issue.goal),
            Value::MaybeKey(issue.parent),
            Value::Text(&issue.title),
            Value::Text(&issue.description),
            Value::Text(issue.status),
            Value::SmallInt(issue.priority),
            Value::MaybeKey(issue.assignee),
            Value::MaybeKey(issue.creator),
            Value::MaybeInstant(issue.started_at),
            Value::MaybeInstant(issue.started_at),
            Value::MaybeInstant(issue.completed_at),
            Value::MaybeInstant(issue.cancelled_at),
            Value::Instant(issue.created_at),
            Value::Instant(issue.updated_at),
        ]);
    }
    database
        .run(Statement::new(&sql, &values))
        .with_context(|| format!("failed to write {} issues", batch.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Target;

    #[test]
    fn the_drawn_issues_are_spread_as_the_table_says() {
        let key = |n| Key(uuid::Uuid::from_u128(n));
        let company = Company {
            id: key(1),
            prefix: "MEA".to_owned(),
            target: Target::local(([127, 0, 0, 1], 1).into()),
            agents: vec![crate::company::Agent {
                id: key(2),
                key: String::new(),
            }],
            projects: vec![key(3)],
            goal: Some(key(4)),
        };
        let mut random = Random::seeded(3);
        let issues: Vec<Issue> = (0..10_000)
            .map(|_| Issue::draw(&mut random, &company, 0))
            .collect();
        for (status, share) in STATUSES {
            let count = issues.iter().filter(|issue| issue.status == status).count();
            assert!(
                count.abs_diff(share * 100) < 250,
                "{count} issues are {status}"
            );
        }
        for issue in &issues {
            assert_eq!(issue.completed_at.is_some(), issue.status == "done");
            assert!(issue.status != "in_progress" || issue.assignee.is_some());
            assert!(issue.updated_at.0 >= issue.created_at.0);
        }
    }
}
