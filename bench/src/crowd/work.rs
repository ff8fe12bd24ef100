//! What each agent of a crowd does, step by step.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::Crowd;
use super::company::CrowdAgent;
use crate::client::{Caller, Client, get, patch, post};
use crate::figure::{COMMENT, DESCRIPTION, MODEL, PROVIDER, TITLE};

/// From then on a request counts as sent late: the machine has no more to give.
const LATE: Duration = Duration::from_secs(1);

/// One request of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    Me,
    OwnIssues,
    PostIssue,
    Checkout,
    Comment,
    Cost,
    Finish,
}

/// All steps, in their order.
pub(crate) const STEPS: [Step; 7] = [
    Step::Me,
    Step::OwnIssues,
    Step::PostIssue,
    Step::Checkout,
    Step::Comment,
    Step::Cost,
    Step::Finish,
];

impl Step {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Me => "me",
            Self::OwnIssues => "own issues",
            Self::PostIssue => "POST issue",
            Self::Checkout => "checkout",
            Self::Comment => "POST comment",
            Self::Cost => "POST cost event",
            Self::Finish => "finish",
        }
    }

    /// The request of an agent; `issue` is the one that it made.
    fn request(self, agent: &CrowdAgent, issue: &str) -> Vec<u8> {
        let caller = Caller::agent(&agent.key);
        let below = |kind: &str| format!("/api/companies/{}/{kind}", agent.company);
        let of_issue = |action: &str| format!("/api/issues/{issue}{action}");
        match self {
            Self::Me => get("/api/agents/me", caller),
            Self::OwnIssues => {
                let list = "issues?assigneeAgentId=me&status=todo,in_progress&limit=50";
                get(&below(list), caller)
            }
            Self::PostIssue => {
                let body = json!({ "title": TITLE, "description": DESCRIPTION, "status": "todo" });
                post(&below("issues"), caller, &body.to_string())
            }
            Self::Checkout => {
                let body = json!({ "agentId": agent.id, "expectedStatuses": ["todo"] });
                post(&of_issue("/checkout"), caller, &body.to_string())
            }
            Self::Comment => {
                let body = json!({ "body": COMMENT });
                post(&of_issue("/comments"), caller, &body.to_string())
            }
            Self::Cost => {
                let body = json!({
                    "agentId": agent.id,
                    "provider": PROVIDER,
                    "model": MODEL,
                    "inputTokens": 1200,
                    "outputTokens": 340,
                    "costCents": 2,
                });
                post(&below("cost-events"), caller, &body.to_string())
            }
            Self::Finish => {
                let body = json!({ "status": "done" });
                patch(&of_issue(""), caller, &body.to_string())
            }
        }
    }
}

/// How long each request took, by step.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    pub(crate) of_steps: [Vec<Duration>; STEPS.len()],
    pub(crate) late: usize,
}

impl Latencies {
    pub(crate) fn count(&self) -> usize {
        self.of_steps.iter().map(Vec::len).sum()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.late += other.late;
        for (all, others) in self.of_steps.iter_mut().zip(other.of_steps) {
            all.extend(others);
        }
    }
}

/// Has `agents` work over one connection from `began` on, evenly spread over each cycle. A request
/// whose time has passed is sent at once, and its latency counts from its time on: what waits for
/// a slow server waits as real agents would.
pub(super) fn work(
    crowd: Crowd,
    address: SocketAddr,
    agents: &[CrowdAgent],
    began: Instant,
    failed: &AtomicBool,
) -> Result<Latencies> {
    let mut client = Client::connect(address)?;
    let mut latencies = Latencies::default();
    let count = u32::try_from(agents.len() * STEPS.len())?;
    let pause = crowd.cycle / count;
    let mut due = began;
    for agent in agents.iter().cycle() {
        let mut issue = String::new();
        for (step, of_step) in STEPS.into_iter().zip(&mut latencies.of_steps) {
            sleep(due.saturating_duration_since(Instant::now()));
            if failed.load(Ordering::Relaxed) || due.duration_since(began) > crowd.duration {
                return Ok(latencies);
            }
            latencies.late += usize::from(due.elapsed() > LATE);
            let answer = client.send(&step.request(agent, &issue))?;
            answer
                .require_success()
                .with_context(|| format!("the step `{}`", step.title()))?;
            if step == Step::PostIssue {
                let made: Json = serde_json::from_slice(answer.body)?;
                made["id"].as_str().context("no id")?.clone_into(&mut issue);
            }
            of_step.push(due.elapsed());
            due += pause;
        }
    }
    Ok(latencies)
}
