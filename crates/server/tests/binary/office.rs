//! A database to serve on, and a company with an agent whose runs succeed.

use serde_json::json;
use workforce_testkit::postgres::{TestDatabase, database, shared_cluster_url};

use crate::harness::Server;

/// Turns functions that take a `&Database` into tests on both.
macro_rules! on_both {
    ($(fn $name:ident($database:ident) $body:block)+) => {
        $(fn $name($database: &crate::office::Database) $body)+

        mod sqlite {
            $(#[test] fn $name() { super::$name(&crate::office::Database::Sqlite); })+
        }

        mod postgres {
            $(#[test] fn $name() {
                if let Some(database) = crate::office::Database::postgres() {
                    super::$name(&database);
                }
            })+
        }
    };
}

pub(crate) use on_both;

/// What a server keeps its records in.
pub(crate) enum Database {
    /// The file in its data folder.
    Sqlite,
    /// An empty database, removed with this value.
    Postgres(TestDatabase),
}

impl Database {
    /// `None` where no PostgreSQL server is installed.
    pub(crate) fn postgres() -> Option<Self> {
        Some(Self::Postgres(database(&shared_cluster_url()?)))
    }

    /// How many servers may share it.
    pub(crate) const fn servers(&self) -> usize {
        match self {
            Self::Sqlite => 1,
            Self::Postgres(_) => 2,
        }
    }

    /// The flags of a server on it.
    pub(crate) fn flags(&self) -> Vec<&str> {
        match self {
            Self::Sqlite => Vec::new(),
            Self::Postgres(database) => vec!["--database-url", database.url()],
        }
    }
}

/// A company with one agent and one issue.
pub(crate) struct Office {
    pub(crate) company: String,
    pub(crate) agent: String,
    pub(crate) issue: String,
}

impl Office {
    /// Opens one.
    pub(crate) fn open(server: &Server) -> Self {
        let text = |record: &serde_json::Value| record["id"].as_str().unwrap().to_owned();
        let company = text(&server.post("/api/companies", &json!({ "name": "Acme" })));
        let adapter = json!({ "command": "/bin/sh", "args": ["-c", "echo done"] });
        let agent = text(&server.post(
            &format!("/api/companies/{company}/agents"),
            &json!({ "name": "Ada", "allowSameName": true, "role": "engineer", "adapterConfig": adapter }),
        ));
        let issue = text(&server.post(
            &format!("/api/companies/{company}/issues"),
            &json!({ "title": "Work" }),
        ));
        Self {
            company,
            agent,
            issue,
        }
    }

    /// Asks for a run; its path.
    pub(crate) fn invoke(&self, server: &Server) -> String {
        let path = format!("/api/agents/{}/heartbeat/invoke", self.agent);
        let run = server.post(&path, &json!({}));
        format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap())
    }

    /// Waits until a run has succeeded.
    pub(crate) fn wait_for_success(&self, server: &Server, run: &str) {
        let ended = server.wait_for(run, |run| {
            run["status"] != "queued" && run["status"] != "running"
        });
        assert_eq!(ended["status"], "succeeded", "{ended}");
    }

    /// Makes sure that a run starts and ends.
    pub(crate) fn works(&self, server: &Server) {
        self.wait_for_success(server, &self.invoke(server));
    }
}
