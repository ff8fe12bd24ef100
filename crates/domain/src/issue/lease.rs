//! The lease of an issue: who works on it right now.

use serde::Serialize;

use core::time::Duration;

use crate::fields;
use crate::id::{AgentId, CompanyId, IssueId, RunId};
use crate::time::Timestamp;

/// How long a lease lasts that no run holds, counted from the holder's last
/// change.
pub const AGENT_LEASE: Duration = Duration::from_secs(15 * 60);

/// Who holds a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A run of an agent. Another run of the same agent is another holder.
    Run {
        /// The agent.
        agent: AgentId,
        /// Its run.
        run: RunId,
    },
    /// An agent that acts with a long-lived key and outside of any run.
    Agent(AgentId),
}

impl Holder {
    /// The holder that an agent is, acting in `run` or outside of any.
    pub const fn of(agent: AgentId, run: Option<RunId>) -> Self {
        match run {
            Some(run) => Self::Run { agent, run },
            None => Self::Agent(agent),
        }
    }

    /// The agent.
    pub const fn agent(self) -> AgentId {
        match self {
            Self::Run { agent, .. } | Self::Agent(agent) => agent,
        }
    }

    /// The run, when a run holds.
    pub const fn run(self) -> Option<RunId> {
        match self {
            Self::Run { run, .. } => Some(run),
            Self::Agent(_) => None,
        }
    }

    /// When a lease taken or renewed at `now` expires: with its run (`None`),
    /// or [`AGENT_LEASE`] later where no run holds it.
    pub const fn expiry(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Run { .. } => None,
            Self::Agent(_) => Some(now.plus(AGENT_LEASE)),
        }
    }
}

/// The one lease of an issue. It is deleted together with whatever ends it, so
/// it never outlives its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// The issue.
    #[serde(skip)]
    pub issue: IssueId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Who works on it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::HeldBy, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::HeldBy))]
    pub holder: Holder,
    /// Grows with every lease of the issue, so that a late writer is refused.
    #[serde(skip)]
    pub fence: i64,
    /// When it ends by itself; never for a run, which ends it.
    pub expires_at: Option<Timestamp>,
}

impl Lease {
    /// True while it has not expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// True when the agent, acting in `run` or outside of any, is the holder.
    pub fn held_by(&self, agent: AgentId, run: Option<RunId>) -> bool {
        self.holder == Holder::of(agent, run)
    }

    /// The same lease, to last from `now` on.
    #[must_use]
    pub fn renewed(&self, now: Timestamp) -> Self {
        Self {
            expires_at: self.holder.expiry(now),
            ..self.clone()
        }
    }
}
