use alloc::vec::Vec;

use super::StoreError;
use crate::actor::{CompanyScope, InstanceScope};
use crate::agent::AdapterType;
use crate::id::AgentId;
use crate::session::{AgentSession, ProviderGate, TaskKey};
use crate::text::AccountKey;
use crate::time::Timestamp;

/// Reads of sessions of agents, and of what keeps their accounts waiting.
pub trait SessionReads {
    /// The session of an agent about a task.
    fn find_session(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        adapter_type: AdapterType,
        task: TaskKey,
    ) -> Result<Option<AgentSession>, StoreError>;

    /// The sessions of an agent, the last used first, at most `limit`.
    fn sessions_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        limit: usize,
    ) -> Result<Vec<AgentSession>, StoreError>;

    /// Until when the provider refuses an account, and why; past or to come.
    fn find_gate(
        &mut self,
        company: CompanyScope,
        account: &AccountKey,
    ) -> Result<Option<ProviderGate>, StoreError>;
}

/// Writes of sessions of agents, and of what keeps their accounts waiting.
pub trait SessionWrites {
    /// Stores a session in the place of the one about the same task, if there
    /// is one. Whoever decides what to store holds the agent, and the issue
    /// exists.
    fn save_session(&mut self, session: &AgentSession) -> Result<(), StoreError>;

    /// Forgets the sessions of an agent about a task, or about all; how many
    /// there were.
    fn delete_sessions(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        task: Option<TaskKey>,
    ) -> Result<usize, StoreError>;

    /// Notes that a provider refuses an account. Of two that were noted the one
    /// that lasts longer stays.
    fn note_gate(&mut self, gate: &ProviderGate) -> Result<(), StoreError>;

    /// Forgets the gate of an account; whether there was one.
    fn delete_gate(
        &mut self,
        company: CompanyScope,
        account: &AccountKey,
    ) -> Result<bool, StoreError>;

    /// Forgets up to `limit` gates that ended `before` or just then; how many
    /// there were.
    fn delete_expired_gates(
        &mut self,
        scope: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;
}
