//! The board, which makes companies and what they have.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};

use crate::client::{Client, Target, asked, delete, post};
use crate::statement::Key;

/// One connection of the board of a server.
pub(crate) struct Board {
    client: Client,
    target: Target,
}

/// What was created.
pub(crate) struct Created(Json);

impl Board {
    pub(crate) fn of(target: &Target) -> Result<Self> {
        Ok(Self {
            client: Client::connect(target.address)?,
            target: target.clone(),
        })
    }

    /// The server.
    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Makes what `body` describes.
    pub(crate) fn create(&mut self, path: &str, body: &Json) -> Result<Created> {
        let request = post(path, self.target.board(), &body.to_string());
        let answer = self.send(&request)?;
        let made = serde_json::from_slice(&answer).context("an answer is not JSON")?;
        Ok(Created(made))
    }

    /// Hires an agent that is never run, and gives it a key.
    pub(crate) fn hire(&mut self, path: &str, name: &str) -> Result<(Key, String)> {
        let agent = json!({
            "name": name,
            "role": "engineer",
            "adapterType": "process",
            "adapterConfig": { "command": "true" },
            "runtimeConfig": { "heartbeat": { "enabled": false, "wakeOnDemand": false } },
        });
        let id = self.create(path, &agent)?.id()?;
        let path = format!("/api/agents/{}/keys", id.0);
        let made = self.create(&path, &json!({ "name": "bench" }))?;
        let key = made.0["key"].as_str().context("a new key has no `key`")?;
        Ok((id, key.to_owned()))
    }

    /// Has something done that takes no body.
    pub(crate) fn act(&mut self, path: &str) -> Result<()> {
        let request = post(path, self.target.board(), "{}");
        self.send(&request).map(drop)
    }

    /// Deletes what is at `path`, however long that takes.
    pub(crate) fn delete(&mut self, path: &str) -> Result<()> {
        self.client.wait_at_most(Duration::from_secs(600))?;
        let request = delete(path, self.target.board());
        self.send(&request).map(drop)
    }

    fn send(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        let context = || asked(request);
        let answer = self.client.send(request).with_context(context)?;
        answer.require_success().with_context(context)?;
        Ok(answer.body.to_vec())
    }
}

impl Created {
    pub(crate) fn text(&self, field: &str) -> Result<String> {
        let text = self.0[field].as_str();
        let text = text.with_context(|| format!("no {field} in {}", self.0))?;
        Ok(text.to_owned())
    }

    pub(crate) fn id(&self) -> Result<Key> {
        let id = self.0["id"].as_str().and_then(|id| id.parse().ok());
        Ok(Key(id.with_context(|| format!("no id in {}", self.0))?))
    }
}
