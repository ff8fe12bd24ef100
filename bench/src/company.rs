//! The company that is measured: made through the API, so that its credentials and its
//! configuration are real ones.

use anyhow::Result;
use serde_json::json;

use crate::board::Board;
use crate::client::{Caller, Target};
use crate::database::Database;
use crate::statement::{Key, Statement, Value};

/// One for each of the most clients, as each connection of a baseline has one of its own: those
/// who share an agent wait for each other.
pub(crate) const AGENTS: usize = 64;
const PROJECTS: usize = 4;
/// Says to whoever finds it whose it is.
pub(crate) const NAME: &str = "Measured by the bench";

/// A company with agents that are never run: what an engine does beside the requests would be
/// measured with them.
#[derive(Debug, Clone)]
pub(crate) struct Company {
    pub(crate) id: Key,
    /// What its issues are named with.
    pub(crate) prefix: String,
    /// The server that it is at.
    pub(crate) target: Target,
    pub(crate) agents: Vec<Agent>,
    pub(crate) projects: Vec<Key>,
    pub(crate) goal: Option<Key>,
}

#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) id: Key,
    pub(crate) key: String,
}

impl Company {
    /// Founds a company that has everything it needs on a running server.
    pub(crate) fn found(target: &Target) -> Result<Self> {
        let mut board = Board::of(target)?;
        let mut company = Self::register(&mut board)?;
        company.plan(&mut board)?;
        company.hire(&mut board)?;
        Ok(company)
    }

    /// A company that has nothing yet.
    pub(crate) fn register(board: &mut Board) -> Result<Self> {
        let made = board.create("/api/companies", &json!({ "name": NAME }))?;
        Ok(Self {
            id: made.id()?,
            prefix: made.text("issuePrefix")?,
            target: board.target().clone(),
            agents: Vec::new(),
            projects: Vec::new(),
            goal: None,
        })
    }

    /// Gives it a goal and projects.
    pub(crate) fn plan(&mut self, board: &mut Board) -> Result<()> {
        let goal = json!({ "title": "Answer fast", "level": "company" });
        self.goal = Some(board.create(&self.below("goals"), &goal)?.id()?);
        for n in 1..=PROJECTS {
            let project = json!({ "name": format!("Project {n}") });
            let project = board.create(&self.below("projects"), &project)?.id()?;
            self.projects.push(project);
        }
        Ok(())
    }

    /// Hires its agents, each with a key.
    pub(crate) fn hire(&mut self, board: &mut Board) -> Result<()> {
        for n in 1..=AGENTS {
            let (id, key) = board.hire(&self.below("agents"), &format!("Agent {n}"))?;
            self.agents.push(Agent { id, key });
        }
        Ok(())
    }

    /// The path of what it has of a kind.
    pub(crate) fn below(&self, kind: &str) -> String {
        format!("/api/companies/{}/{kind}", self.id.0)
    }

    /// How the server is asked as one of its agents.
    pub(crate) fn caller<'a>(&'a self, agent: &'a Agent) -> Caller<'a> {
        Caller {
            host: &self.target.host,
            key: Some(&agent.key),
        }
    }

    /// Where a page of it is, for which `place` stands below its first one.
    pub(crate) fn page(&self, place: &str) -> String {
        format!("/c/{}{place}", self.prefix)
    }

    /// Somebody who looks at its pages.
    pub(crate) fn board(&self) -> Caller<'_> {
        self.target.board()
    }

    /// The agent that the connection with this number acts as.
    pub(crate) fn agent(&self, connection: usize) -> &Agent {
        &self.agents[connection % self.agents.len()]
    }

    /// The digest by which an agent's credential is found.
    pub(crate) fn digest(&self, database: &mut impl Database, agent: &Agent) -> Result<Vec<u8>> {
        let sql = "SELECT key_hash FROM agent_keys WHERE company_id = ? AND agent_id = ?";
        let values = [Value::Key(self.id), Value::Key(agent.id)];
        database.bytes(Statement::new(sql, &values))
    }
}
