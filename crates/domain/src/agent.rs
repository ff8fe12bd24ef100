//! Agents: the employees of a company, each run by an adapter.

mod backoff;
mod lifecycle;
mod provider_account;

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

pub use lifecycle::*;
pub use provider_account::ProviderAccount;

use crate::Document;
use crate::actor::company_owned;
use crate::id::{AgentId, AgentKeyId, CompanyId};
use crate::money::Budget;
use crate::number::whole;
use crate::string_enum;
use crate::text::{Description, Label, Name, Role};
use crate::time::{Month, Timestamp};

string_enum! {
    /// The kinds of adapter that can run an agent.
    pub enum AdapterType {
        /// A local command.
        Process = "process",
        /// A call to another service.
        Http = "http",
        /// The Claude command line.
        ClaudeLocal = "claude_local",
        /// The Codex command line.
        CodexLocal = "codex_local",
        /// The Cursor command line.
        Cursor = "cursor",
        /// The Gemini command line.
        GeminiLocal = "gemini_local",
        /// The OpenCode command line.
        OpencodeLocal = "opencode_local",
        /// The Pi command line.
        PiLocal = "pi_local",
    }
}

impl AdapterType {
    /// Whether what its program uses is read from the program's output.
    #[must_use]
    pub const fn is_metered(self) -> bool {
        match self {
            Self::ClaudeLocal
            | Self::CodexLocal
            | Self::GeminiLocal
            | Self::OpencodeLocal
            | Self::PiLocal => true,
            Self::Process | Self::Http | Self::Cursor => false,
        }
    }
}

string_enum! {
    /// An agent's status as callers see it. It is derived, never stored, so
    /// that it cannot go stale.
    pub enum AgentStatus {
        /// Enabled and never run.
        Active = "active",
        /// Stopped by the board or by its budget.
        Paused = "paused",
        /// Enabled with no live run.
        Idle = "idle",
        /// Has a live run.
        Running = "running",
        /// Its last runs failed.
        Error = "error",
        /// A draft that the board has not approved.
        PendingApproval = "pending_approval",
        /// Gone for good.
        Terminated = "terminated",
    }
}

/// An agent: an employee of one company.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AgentRecord))]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Unique id.
    pub id: AgentId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its name; others may share it.
    pub name: Name,
    /// Short name, unique in the company.
    pub url_key: String,
    /// Its role; only `ceo` carries a privilege.
    pub role: Role,
    /// Its job title.
    pub title: Option<Label>,
    /// An icon's name.
    pub icon: Option<Label>,
    /// What it can do.
    pub capabilities: Option<Description>,
    /// Its manager.
    pub reports_to: Option<AgentId>,
    /// What the board or a budget decided, and since when.
    #[serde(skip)]
    pub lifecycle: AgentLifecycle,
    /// Failed runs since the last success; `error` shows from
    /// [`Agent::FAILURES_SHOWN_AS_ERROR`] on.
    #[serde(skip)]
    pub consecutive_failures: i32,
    /// Until when only the board makes it run, since its last runs failed.
    #[serde(skip)]
    pub backoff_until: Option<Timestamp>,
    /// How it is run.
    pub adapter_type: AdapterType,
    /// Configuration of the adapter.
    #[serde(skip)]
    pub adapter_config: Document,
    /// Configuration of its heartbeats.
    #[serde(skip)]
    pub runtime_config: Document,
    /// May hire without being ceo.
    #[serde(skip)]
    pub can_create_agents: bool,
    /// Anything the board keeps with it.
    pub metadata: Document,
    /// Monthly limit.
    #[serde(rename = "budgetMonthlyCents")]
    pub budget: Budget,
    /// The month in which the board lets it work although its budget is used up.
    /// Ends with the month, and with every change of the budget.
    #[serde(skip)]
    pub budget_override: Option<Month>,
    /// When its last run ended.
    pub last_heartbeat_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Agent {
    /// One failure must not make an agent look broken.
    pub const FAILURES_SHOWN_AS_ERROR: i32 = 3;

    /// The status callers see.
    pub const fn status(&self, has_live_run: bool) -> AgentStatus {
        match self.lifecycle.state() {
            AgentState::Terminated => AgentStatus::Terminated,
            AgentState::PendingApproval => AgentStatus::PendingApproval,
            // Whoever paused it wants to see that, also while its last run is
            // still being stopped.
            AgentState::Paused => AgentStatus::Paused,
            AgentState::Enabled if has_live_run => AgentStatus::Running,
            AgentState::Enabled => {
                if self.consecutive_failures >= Self::FAILURES_SHOWN_AS_ERROR {
                    AgentStatus::Error
                } else if self.last_heartbeat_at.is_none() {
                    AgentStatus::Active
                } else {
                    AgentStatus::Idle
                }
            }
        }
    }

    /// True when it may still be given work: neither a draft nor terminated.
    pub const fn is_employed(&self) -> bool {
        matches!(
            self.lifecycle.state(),
            AgentState::Enabled | AgentState::Paused
        )
    }

    /// Sets its monthly limit. A new limit is meant to hold, so that it ends what was allowed
    /// beyond the former one.
    pub fn set_budget(&mut self, budget: Budget) {
        if budget != self.budget {
            self.budget = budget;
            self.budget_override = None;
        }
    }

    /// True when no budget of its own stops it in `month`.
    pub fn may_overspend(&self, month: Month) -> bool {
        self.budget_override == Some(month)
    }

    /// What `runtimeConfig.heartbeat` says under a key.
    fn heartbeat(&self, key: &str) -> Option<&serde_json::Value> {
        self.runtime_config.get("heartbeat")?.get(key)
    }

    /// Seconds between two beats of its timer, at most ten years; `None` for an
    /// agent without one: `runtimeConfig.heartbeat.intervalSec` is 0 or unsaid,
    /// `enabled` is false, or the agent may not run at all.
    pub fn heartbeat_interval_sec(&self) -> Option<i32> {
        const LONGEST: f64 = 10.0 * 365.0 * 86_400.0;
        let switched_off = self.heartbeat("enabled").and_then(|on| on.as_bool()) == Some(false);
        if switched_off || self.lifecycle.state() != AgentState::Enabled {
            return None;
        }
        let seconds = self.heartbeat("intervalSec")?.as_f64()?;
        #[expect(clippy::cast_possible_truncation, reason = "it is within ten years")]
        let whole = seconds.clamp(0.0, LONGEST) as i32;
        (whole > 0).then_some(whole)
    }

    /// Whether anything but its timer may wake it:
    /// `runtimeConfig.heartbeat.wakeOnDemand` or one of its other names, true
    /// when unsaid.
    pub fn wakes_on_demand(&self) -> bool {
        let names = [
            "wakeOnDemand",
            "wakeOnAssignment",
            "wakeOnOnDemand",
            "wakeOnAutomation",
        ];
        names
            .iter()
            .find_map(|name| self.heartbeat(name).and_then(|on| on.as_bool()))
            .unwrap_or(true)
    }

    /// Whether its timer wakes it although nothing waits for it:
    /// `runtimeConfig.heartbeat.alwaysRun`, unless said otherwise true for a
    /// ceo, who looks for work.
    pub fn always_runs(&self) -> bool {
        self.heartbeat("alwaysRun")
            .and_then(|on| on.as_bool())
            .unwrap_or(self.role.as_str() == "ceo")
    }

    /// Runs it may have live at once: `runtimeConfig.heartbeat.maxConcurrentRuns`,
    /// 1 to 10, 1 when unsaid.
    pub fn max_concurrent_runs(&self) -> i32 {
        self.heartbeat("maxConcurrentRuns")
            .and_then(serde_json::Value::as_number)
            .and_then(whole)
            .and_then(|runs| i32::try_from(runs).ok())
            .map_or(1, |runs| runs.clamp(1, 10))
    }
}

company_owned!(Agent, company);

/// One manager in a chain of command, nearest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Manager))]
#[serde(rename_all = "camelCase")]
pub struct ChainLink {
    /// The manager.
    pub id: AgentId,
    /// Its name.
    pub name: Name,
    /// Its role.
    pub role: Role,
    /// Its job title.
    pub title: Option<Label>,
}

/// A chain of command shows at most so many managers.
pub const CHAIN_LIMIT: usize = 50;

/// A long-lived API key of an agent. The key itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentKey {
    /// Unique id.
    pub id: AgentKeyId,
    /// The company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The agent it authenticates.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// What it is for.
    pub name: Name,
    /// How the value begins.
    pub prefix: String,
    /// SHA-256 of the whole key.
    #[serde(skip)]
    pub digest: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

company_owned!(AgentKey, company);

/// The short name for an agent's name: lower-case letters and digits with
/// single hyphens; `agent` where nothing is left.
pub fn url_key_stem(name: &str) -> String {
    let mut key = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() {
            key.extend(c.to_lowercase());
        } else if !key.is_empty() && !key.ends_with('-') {
            key.push('-');
        }
    }
    let stem: String = key.trim_end_matches('-').chars().take(60).collect();
    if stem.is_empty() {
        "agent".into()
    } else {
        stem
    }
}

/// The first of `stem`, `stem2`, `stem3`, ... that is not taken, with
/// `separator` before the number.
pub fn first_free(stem: &str, separator: &str, taken: &[String]) -> String {
    let taken: alloc::collections::BTreeSet<&str> = taken.iter().map(String::as_str).collect();
    if !taken.contains(stem) {
        return stem.into();
    }
    let mut number: u64 = 2;
    loop {
        let candidate = alloc::format!("{stem}{separator}{number}");
        if !taken.contains(candidate.as_str()) {
            return candidate;
        }
        number += 1;
    }
}

/// A node of the organisation's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrgNode<T> {
    /// What stands at the node.
    pub item: T,
    /// Those who report to it.
    pub reports: Vec<OrgNode<T>>,
}
