//! The companies of a crowd: made through the API, so that keys are real ones.

use std::net::SocketAddr;
use std::thread;

use anyhow::{Result, anyhow};
use serde_json::json;

use crate::board::Board;
use crate::client::Target;

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
    let mut board = Board::of(&Target::local(address))?;
    let mut agents = Vec::new();
    for size in sizes {
        let company = board.create("/api/companies", &json!({ "name": "Crowd" }))?;
        let company = company.id()?.0.to_string();
        for number in 0..*size {
            let path = format!("/api/companies/{company}/agents");
            let (id, key) = board.hire(&path, &format!("Agent {number}"))?;
            agents.push(CrowdAgent {
                company: company.clone(),
                id: id.0.to_string(),
                key,
            });
        }
    }
    Ok(agents)
}
