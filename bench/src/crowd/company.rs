//! The companies of a crowd: made through the API, so that keys are real ones.

use std::net::SocketAddr;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value as Json, json};

use crate::client::{Client, post};

/// Agents of one company.
const AGENTS: usize = 100;
/// Companies that are founded side by side.
const AT_ONCE: usize = 8;

/// An agent with its key.
#[derive(Debug, Clone)]
pub(crate) struct CrowdAgent {
    pub(crate) company: String,
    pub(crate) id: String,
    pub(crate) key: String,
}

/// Founds as many companies as so many agents need.
pub(crate) fn found(address: SocketAddr, count: usize) -> Result<Vec<CrowdAgent>> {
    let sizes: Vec<usize> = (0..count)
        .step_by(AGENTS)
        .map(|begin| AGENTS.min(count - begin))
        .collect();
    let share = sizes.len().div_ceil(AT_ONCE).max(1);
    let founded: Vec<Result<Vec<CrowdAgent>>> = thread::scope(|scope| {
        let threads: Vec<_> = sizes
            .chunks(share)
            .map(|sizes| scope.spawn(move || companies(address, sizes)))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
        });
        joined.collect()
    });
    let mut agents = Vec::with_capacity(count);
    for founded in founded {
        agents.extend(founded?);
    }
    Ok(agents)
}

fn companies(address: SocketAddr, sizes: &[usize]) -> Result<Vec<CrowdAgent>> {
    let mut board = Client::connect(address)?;
    let mut create = |path: &str, body: &Json, field: &str| -> Result<String> {
        let answer = board.send(&post(path, None, &body.to_string()))?;
        answer
            .require_success()
            .with_context(|| format!("POST {path}"))?;
        let made: Json = serde_json::from_slice(answer.body)?;
        let value = made[field].as_str();
        Ok(value
            .with_context(|| format!("no {field} in {made}"))?
            .to_owned())
    };
    let mut agents = Vec::new();
    for size in sizes {
        let company = create("/api/companies", &json!({ "name": "Crowd" }), "id")?;
        for number in 0..*size {
            let agent = json!({
                "name": format!("Agent {number}"),
                "role": "engineer",
                "adapterType": "process",
                "adapterConfig": { "command": "true" },
                "runtimeConfig": { "heartbeat": { "enabled": false, "wakeOnDemand": false } },
            });
            let id = create(&format!("/api/companies/{company}/agents"), &agent, "id")?;
            let name = json!({ "name": "bench" });
            let key = create(&format!("/api/agents/{id}/keys"), &name, "key")?;
            agents.push(CrowdAgent {
                company: company.clone(),
                id,
                key,
            });
        }
    }
    Ok(agents)
}
