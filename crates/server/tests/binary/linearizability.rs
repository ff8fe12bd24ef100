//! Many clients work on the same issues at the same time, and each issue's history could have been
//! made by one after the other.

mod keys;
mod runs;

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_testkit::random::Random;

use crate::client::{Client, Sender, was_not_taken};
use crate::harness::{Server, attachments_in, folder};
use crate::histories::{Answer, Caller, Deed, Histories, Record, answer_of, seen_in};
use crate::office::{Database, on_both};

pub(crate) use keys::{key_of, next};

/// What every server on a database opens sealed values with.
pub(crate) const MASTER_KEY: &str =
    "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
/// Deeds of each client on each issue: few enough that a history is checked soon.
const DEEDS: usize = 7;

/// A company that is served by every server that its database lets be there.
struct Firm {
    servers: Vec<Server>,
    company: String,
    histories: Histories,
    _folders: Vec<TempDir>,
}

impl Firm {
    fn open(database: &Database) -> Self {
        let folders: Vec<TempDir> = (0..database.servers()).map(|_| folder()).collect();
        let (name, place) = attachments_in(folders[0].path());
        let start = |folder: &TempDir| {
            let shared = [("WORKFORCE_MASTER_KEY", MASTER_KEY), (name, &place)];
            Server::start_with(folder.path(), &database.flags(), &shared)
        };
        let servers: Vec<Server> = folders.iter().map(start).collect();
        let company = json!({ "name": "Acme", "maxConcurrentRuns": 8 });
        let company = id_of(&servers[0].post("/api/companies", &company));
        Self {
            servers,
            company,
            histories: Histories::default(),
            _folders: folders,
        }
    }

    fn hire(&self, name: &str, heartbeat: &Value, program: &Path) -> String {
        let agent = json!({
            "name": name, "role": "engineer",
            "runtimeConfig": { "heartbeat": heartbeat },
            "adapterConfig": { "command": "/bin/sh", "args": [program], "graceSec": 1 },
        });
        id_of(&self.servers[0].post(&format!("/api/companies/{}/agents", self.company), &agent))
    }

    fn issue(&self) -> String {
        let issue = json!({ "title": "Work", "status": "todo" });
        id_of(&self.servers[0].post(&format!("/api/companies/{}/issues", self.company), &issue))
    }

    fn clients(&self) -> Vec<Client> {
        self.servers.iter().map(Server::client).collect()
    }

    /// No history may be without an explanation, and there must be something to explain.
    #[track_caller]
    fn assert_linearizable(&self, answers: &[&str]) {
        let counts = self.histories.answers();
        eprintln!("{:?} {counts:?}", self.histories.count());
        for answer in answers {
            assert!(
                counts.contains_key(*answer),
                "nothing was {answer}: {counts:?}"
            );
        }
        let inexplicable = self.histories.inexplicable();
        assert!(inexplicable.is_empty(), "{}", inexplicable.join("\n"));
    }
}

pub(crate) fn id_of(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

/// One who works on issues, through any server.
pub(crate) struct Contender<'a> {
    pub(crate) clients: Vec<Client>,
    pub(crate) histories: &'a Histories,
    pub(crate) random: Random,
}

impl Contender<'_> {
    /// Does something to an issue and notes it. Answers with the status, which is 0 when there was
    /// no answer; `None` when nobody was asked.
    pub(crate) fn act(&mut self, issue: &str, deed: Deed, token: Option<&str>) -> Option<u16> {
        let began = Instant::now();
        let outcome = self.ask(issue, &deed, token);
        let answered = match &outcome {
            Err(error) if was_not_taken(error) => return None,
            Err(_) => None,
            Ok((200, body)) if deed == Deed::Read => Some(seen_in(body)),
            Ok((status, body)) => match answer_of(*status, body) {
                Some(answer) => Some(answer),
                None if body["code"] == "outcome_unknown" => None,
                // Refused before anything was looked at.
                None => return Some(*status),
            },
        };
        if answered.is_none() && deed == Deed::Read {
            return None;
        }
        let answered = answered.map(|answer: Answer| (Instant::now(), answer));
        let record = Record {
            deed,
            began,
            answered,
        };
        self.histories.add(issue, record);
        Some(outcome.map_or(0, |(status, _)| status))
    }

    fn ask(
        &mut self,
        issue: &str,
        deed: &Deed,
        token: Option<&str>,
    ) -> Result<(u16, Value), ureq::Error> {
        let path = format!("/api/issues/{issue}");
        let (method, path, body) = match deed {
            Deed::CheckOut(Caller { agent, .. }) | Deed::CheckOutFor(agent) => (
                "POST",
                format!("{path}/checkout"),
                json!({ "agentId": agent }),
            ),
            Deed::Release(_) | Deed::ReleaseByBoard => {
                ("POST", format!("{path}/release"), json!({}))
            }
            Deed::Read | Deed::Claim(_) | Deed::Finish(_) => ("GET", path, Value::Null),
        };
        let client = &self.clients[self.random.below(self.clients.len())];
        client.send(
            method,
            &path,
            Sender {
                token,
                ..Sender::default()
            },
            &body,
        )
    }
}

on_both! {
    fn agents_with_keys_and_the_board(database) {
        keys::contend(&Firm::open(database));
    }

    fn runs_that_are_claimed_and_end(database) {
        runs::contend(&Firm::open(database));
    }
}
