use alloc::string::String;
use alloc::vec::Vec;

use super::{Locked, Shared, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::agent::{Agent, AgentKey, ChainLink};
use crate::company::CompanyStatus;
use crate::id::{AgentId, AgentKeyId, RunId};
use crate::mention::Mentionable;
use crate::page::{CreationKey, Page, PageRequest};
use crate::run::{RunKind, RunStatus};
use crate::time::Timestamp;
use crate::timer::Timer;

/// The place of an agent in a list.
pub type AgentCursor = CreationKey<AgentId>;

/// Which agents of a company a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentFilter {
    /// Shows terminated agents too.
    pub include_terminated: bool,
}

/// Reads of agents.
pub trait AgentReads {
    /// The agent with this id.
    fn find(&mut self, scope: Scope, id: AgentId) -> Result<Option<Agent>, StoreError>;

    /// The agent with this short name.
    fn find_by_url_key(
        &mut self,
        company: CompanyScope,
        url_key: &str,
    ) -> Result<Option<Agent>, StoreError>;

    /// Agents of a company, oldest first.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: AgentFilter,
        page: &PageRequest<AgentCursor>,
    ) -> Result<Page<Agent, AgentCursor>, StoreError>;

    /// The managers above an agent, nearest first, at most
    /// [`crate::agent::CHAIN_LIMIT`]; ends by itself even in a cycle.
    fn chain_of_command(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Vec<ChainLink>, StoreError>;

    /// True when somebody who is not terminated reports to this agent.
    fn has_reports(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError>;

    /// Short names of the company that start with `stem`.
    fn url_keys(&mut self, company: CompanyScope, stem: &str) -> Result<Vec<String>, StoreError>;

    /// The names of all agents of the company that are not terminated; drafts too.
    fn names(&mut self, company: CompanyScope) -> Result<Vec<(AgentId, String)>, StoreError>;

    /// Everyone of the company who can be mentioned: neither drafts nor
    /// terminated agents.
    fn mentionable(&mut self, company: CompanyScope) -> Result<Vec<Mentionable>, StoreError>;

    /// Those of `agents` that have a live run.
    fn running(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
    ) -> Result<Vec<AgentId>, StoreError>;

    /// True when the agent ever did or was given something that would be lost
    /// or left without a name if it were removed: runs, wakes, costs, issues,
    /// comments, approvals, deeds.
    fn has_history(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError>;

    /// The timer of an agent.
    fn timer(&mut self, company: CompanyScope, agent: AgentId)
    -> Result<Option<Timer>, StoreError>;

    /// Whether something waits for an agent: an issue of its own in todo or
    /// in_progress, one in review of somebody who reports to it, or a pending
    /// wake.
    fn has_work(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError>;
}

/// Writes of agents.
pub trait AgentWrites {
    /// Locks the short names of a company's agents, so that of several that are
    /// made at once each finds another one free, and tells those that start
    /// with `stem`.
    fn lock_url_keys(
        &mut self,
        company: CompanyScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError>;

    /// Stores a new agent and holds it.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another took its short name meanwhile.
    fn insert(&mut self, agent: Agent) -> Result<Locked<Agent>, StoreError>;

    /// Locks an agent.
    fn lock(&mut self, scope: Scope, id: AgentId) -> Result<Option<Locked<Agent>>, StoreError>;

    /// Stores a locked agent.
    fn save(&mut self, agent: &Locked<Agent>) -> Result<(), StoreError>;

    /// Removes a locked agent with its keys. What names it as manager, lead or
    /// owner names nobody afterwards.
    fn delete(&mut self, agent: Locked<Agent>) -> Result<(), StoreError>;

    /// Holds an agent as it is, so that it can be given work.
    fn share(
        &mut self,
        company: CompanyScope,
        id: AgentId,
    ) -> Result<Option<Shared<Agent>>, StoreError>;

    /// Locks everyone who reports to a locked agent.
    fn lock_reports_of(
        &mut self,
        manager: &Locked<Agent>,
    ) -> Result<Vec<Locked<Agent>>, StoreError>;
}

/// What an agent key or a run token proves.
#[derive(Clone, Debug, PartialEq)]
pub struct CredentialHolder {
    /// The agent.
    pub agent: Agent,
    /// The status of its company.
    pub company_status: CompanyStatus,
}

/// A key that a caller presented.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentedKey {
    /// The key.
    pub key: AgentKey,
    /// Whom it authenticates.
    pub holder: CredentialHolder,
}

/// A run token that a caller presented.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentedRunToken {
    /// The run.
    pub run: RunId,
    /// What the run may do.
    pub kind: RunKind,
    /// Whom it authenticates.
    pub holder: CredentialHolder,
}

/// A run that a caller named in the run header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRun {
    /// The agent whose run it is.
    pub agent: AgentId,
    /// Where it stands.
    pub status: RunStatus,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// Reads of credentials. These look-ups carry no scope: they are what a scope
/// is made from.
pub trait CredentialReads {
    /// The key with this digest, revoked or not.
    fn key(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedKey>, StoreError>;

    /// The running run with this token digest.
    fn run_token(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedRunToken>, StoreError>;

    /// A run of the company by id.
    fn named_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<NamedRun>, StoreError>;

    /// The keys of an agent, oldest first, revoked ones too.
    fn keys(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        page: &PageRequest<CreationKey<AgentKeyId>>,
    ) -> Result<Page<AgentKey, CreationKey<AgentKeyId>>, StoreError>;
}

/// Writes of credentials.
pub trait CredentialWrites {
    /// Stores a new key of a locked agent.
    fn insert_key(&mut self, agent: &Locked<Agent>, key: &AgentKey) -> Result<(), StoreError>;

    /// Revokes a key of a locked agent; the key afterwards, or `None` when there is
    /// no such key. Revoking again keeps the first instant.
    fn revoke_key(
        &mut self,
        agent: &Locked<Agent>,
        key: AgentKeyId,
        now: Timestamp,
    ) -> Result<Option<AgentKey>, StoreError>;

    /// Revokes every key of a locked agent.
    fn revoke_keys(&mut self, agent: &Locked<Agent>, now: Timestamp) -> Result<(), StoreError>;

    /// Notes that keys were used. Needs no lock: the latest use wins, and
    /// nothing is decided by it.
    fn note_key_use(&mut self, uses: &[(AgentKeyId, Timestamp)]) -> Result<(), StoreError>;
}
