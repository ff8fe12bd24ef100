//! The company that is measured: made through the API, so that its credentials and its
//! configuration are real ones.

use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};

use crate::client::{Client, post};
use crate::database::Database;
use crate::server::Server;
use crate::statement::{Key, Statement, Value};

/// As many agents check issues out at once.
pub(crate) const AGENTS: usize = 16;
const PROJECTS: usize = 4;

/// A company with agents that are never run: what an engine does beside the requests would be
/// measured with them.
#[derive(Debug, Clone)]
pub(crate) struct Company {
    pub(crate) id: Key,
    pub(crate) agents: Vec<Agent>,
    pub(crate) projects: Vec<Key>,
    pub(crate) goal: Key,
}

#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) id: Key,
    pub(crate) key: String,
}

impl Company {
    /// Founds a company on a running server.
    pub(crate) fn found(server: &Server) -> Result<Self> {
        let mut board = Board(Client::connect(server.address())?);
        let id = board
            .create("/api/companies", &json!({ "name": "Measured" }))?
            .id()?;
        let below = |kind: &str| format!("/api/companies/{}/{kind}", id.0);
        let goal = json!({ "title": "Answer fast", "level": "company" });
        let goal = board.create(&below("goals"), &goal)?.id()?;
        let projects = (1..=PROJECTS)
            .map(|n| {
                let project = json!({ "name": format!("Project {n}") });
                board.create(&below("projects"), &project)?.id()
            })
            .collect::<Result<_>>()?;
        let agents = (1..=AGENTS)
            .map(|n| {
                let agent = json!({
                    "name": format!("Agent {n}"),
                    "role": "engineer",
                    "adapterType": "process",
                    "adapterConfig": { "command": "true" },
                    "runtimeConfig": { "heartbeat": { "enabled": false, "wakeOnDemand": false } },
                });
                let id = board.create(&below("agents"), &agent)?.id()?;
                let path = format!("/api/agents/{}/keys", id.0);
                let answer = board.create(&path, &json!({ "name": "bench" }))?;
                let key = answer.0["key"].as_str().context("a new key has no `key`")?;
                let key = key.to_owned();
                Ok(Agent { id, key })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            id,
            agents,
            projects,
            goal,
        })
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

    /// What the identifier of each issue begins with.
    pub(crate) fn issue_prefix(&self, database: &mut impl Database) -> Result<String> {
        let sql = "SELECT issue_prefix FROM companies WHERE id = ?";
        database.text(Statement::new(sql, &[Value::Key(self.id)]))
    }
}

/// The board, which needs no credential on a local server.
struct Board(Client);

/// What was created.
struct Created(Json);

impl Board {
    fn create(&mut self, path: &str, body: &Json) -> Result<Created> {
        let answer = self.0.send(&post(path, None, &body.to_string()))?;
        answer
            .require_success()
            .with_context(|| format!("POST {path}"))?;
        let body = serde_json::from_slice(answer.body).context("an answer is not JSON")?;
        Ok(Created(body))
    }
}

impl Created {
    fn id(&self) -> Result<Key> {
        let id = self.0["id"].as_str().and_then(|id| id.parse().ok());
        Ok(Key(id.with_context(|| format!("no id in {}", self.0))?))
    }
}
