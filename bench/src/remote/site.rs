//! One running server, and what was made there.

use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value as Json, json};
use workforce_domain::issue::Priority;
use workforce_domain::string_enum::StringEnum as _;

use crate::board::Board;
use crate::client::{Refused, Target};
use crate::company::{Company, NAME};
use crate::figure::Figure;
use crate::load::{Pace, Sample};
use crate::random::{Random, now};
use crate::seed::{Issue, Issues};

/// Connections over which issues are made.
const CONNECTIONS: usize = 8;

/// A server with the company that was made there.
pub(super) struct Site {
    pub(super) url: String,
    /// What could not be made or measured, and why.
    pub(super) notes: Vec<String>,
    target: Target,
    company: Company,
    issues: Issues,
}

impl Site {
    /// Makes a company that has nothing yet.
    pub(super) fn open(url: &str, target: &Target) -> Result<Self> {
        let company = Company::register(&mut Board::of(target)?)?;
        println!("{url}: made the company `{NAME}` ({})", company.id.0);
        Ok(Self {
            url: url.to_owned(),
            notes: Vec::new(),
            target: target.clone(),
            company,
            issues: Issues::default(),
        })
    }

    /// Gives the company agents with keys, and as far as the server knows them goals, projects and
    /// `count` issues.
    pub(super) fn fill(&mut self, count: usize) -> Result<()> {
        let mut board = Board::of(&self.target)?;
        let planned = self.company.plan(&mut board);
        self.note_missing("without goals and projects", planned)?;
        self.company.hire(&mut board)?;
        println!("{}: making {count} issues", self.url);
        let began = Instant::now();
        let made = self.make_issues(count);
        let made = self.note_missing("without issues", made)?;
        self.issues = made.unwrap_or_default();
        let took = began.elapsed().as_secs_f64();
        println!(
            "{}: made {} issues in {took:.1} s",
            self.url,
            self.issues.all.len()
        );
        Ok(())
    }

    /// The server goes without what it does not know.
    fn note_missing<T>(&mut self, what: &str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(made) => Ok(Some(made)),
            Err(error) if is_missing_route(&error) => {
                self.note(format!("{what}: {error:#}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn make_issues(&self, count: usize) -> Result<Issues> {
        let connections = CONNECTIONS.min(count.max(1));
        let made: Vec<Result<Issues>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..connections)
                .map(|connection| {
                    let share = (count + connection) / connections;
                    scope.spawn(move || self.make_share(share, connection))
                })
                .collect();
            let joined = threads.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
            });
            joined.collect()
        });
        let mut issues = Issues::default();
        for made in made {
            let made = made?;
            issues.all.extend(made.all);
            issues.free.extend(made.free);
        }
        Ok(issues)
    }

    fn make_share(&self, count: usize, connection: usize) -> Result<Issues> {
        let mut board = Board::of(&self.target)?;
        let mut random = Random::seeded(1 + connection as u64);
        let path = self.company.below("issues");
        let mut issues = Issues::default();
        for _ in 0..count {
            let issue = Issue::draw(&mut random, &self.company, now());
            let id = board.create(&path, &described(&issue))?.id()?;
            issues.all.push(id);
            issues.free.extend(issue.is_free().then_some(id));
        }
        Ok(issues)
    }

    /// One round of a figure; `None` and a note where the server does not serve it.
    pub(super) fn measure(
        &mut self,
        pace: Pace,
        round: u32,
        figure: Figure,
        connections: usize,
    ) -> Option<Sample> {
        if figure.needs_issues() && self.issues.all.is_empty() {
            self.note(format!("{}: there are no issues", figure.title()));
            return None;
        }
        let address = self.target.address;
        let (company, issues) = (&self.company, &self.issues);
        let measured = figure.measure(pace, round, address, company, issues, connections);
        match measured {
            Ok(measured) => Some(measured),
            Err(error) => {
                let why = if is_missing_route(&error) {
                    "the server lacks this route"
                } else {
                    "not measured"
                };
                self.note(format!("{}: {why}: {error:#}", figure.title()));
                None
            }
        }
    }

    /// Removes what was made, and says what of it is left.
    pub(super) fn clean_up(&self) -> String {
        let Self { url, company, .. } = self;
        let id = company.id.0;
        match self.delete_company() {
            Ok(()) => format!("{url}: deleted the company {id} and all it had"),
            Err(error) => format!("{url}: left the company {id} (`{NAME}`): {error:#}"),
        }
    }

    fn delete_company(&self) -> Result<()> {
        let path = format!("/api/companies/{}", self.company.id.0);
        let mut board = Board::of(&self.target)?;
        // A server that archives may demand it before; one that does not may delete all the same.
        let archived = board.act(&format!("{path}/archive"));
        match (archived, board.delete(&path)) {
            (_, Ok(())) => Ok(()),
            (Ok(()), Err(error)) => Err(error).context("archived, not deleted"),
            (Err(error), Err(_)) => Err(error).context("neither archived nor deleted"),
        }
    }
}

/// What the server is told of an issue.
fn described(issue: &Issue) -> Json {
    let mut body = json!({
        "title": issue.title,
        "description": issue.description,
        "status": issue.status,
    });
    if let Some(priority) = Priority::from_rank(issue.priority) {
        body["priority"] = json!(priority.as_str());
    }
    for (field, key) in [
        ("projectId", issue.project),
        ("goalId", issue.goal),
        ("assigneeAgentId", issue.assignee),
    ] {
        if let Some(key) = key {
            body[field] = json!(key.0);
        }
    }
    body
}

fn is_missing_route(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<Refused>()
        .is_some_and(Refused::is_missing_route)
}
