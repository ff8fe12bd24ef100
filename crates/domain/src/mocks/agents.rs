//! Mocks of `port/agents.rs`.

use alloc::string::String;
use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::agent::{Agent, AgentKey, ChainLink};
use crate::id::{AgentId, AgentKeyId, RunId};
use crate::mention::Mentionable;
use crate::page::{CreationKey, Page, PageRequest};
use crate::port::{
    AgentCursor, AgentFilter, AgentReads, AgentWrites, CredentialReads, CredentialWrites, Locked,
    NamedRun, PresentedKey, PresentedRunToken, Shared, StoreError,
};
use crate::time::Timestamp;
use crate::timer::Timer;

mock! {
    pub Agents {}

    impl AgentReads for Agents {
        fn find(&mut self, scope: Scope, id: AgentId) -> Result<Option<Agent>, StoreError>;
        fn find_by_url_key(
            &mut self,
            company: CompanyScope,
            url_key: &str,
        ) -> Result<Option<Agent>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            filter: AgentFilter,
            page: &PageRequest<AgentCursor>,
        ) -> Result<Page<Agent, AgentCursor>, StoreError>;
        fn chain_of_command(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<Vec<ChainLink>, StoreError>;
        fn has_reports(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<bool, StoreError>;
        fn url_keys(
            &mut self,
            company: CompanyScope,
            stem: &str,
        ) -> Result<Vec<String>, StoreError>;
        fn names(&mut self, company: CompanyScope) -> Result<Vec<(AgentId, String)>, StoreError>;
        fn mentionable(&mut self, company: CompanyScope) -> Result<Vec<Mentionable>, StoreError>;
        fn running(
            &mut self,
            company: CompanyScope,
            agents: &[AgentId],
        ) -> Result<Vec<AgentId>, StoreError>;
        fn has_history(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<bool, StoreError>;
        fn timer(&mut self, company: CompanyScope, agent: AgentId)
        -> Result<Option<Timer>, StoreError>;
        fn has_work(&mut self, company: CompanyScope, agent: AgentId) -> Result<bool, StoreError>;
    }

    impl AgentWrites for Agents {
        fn lock_url_keys(
            &mut self,
            company: CompanyScope,
            stem: &str,
        ) -> Result<Vec<String>, StoreError>;
        fn insert(&mut self, agent: Agent) -> Result<Locked<Agent>, StoreError>;
        fn lock(&mut self, scope: Scope, id: AgentId) -> Result<Option<Locked<Agent>>, StoreError>;
        fn save(&mut self, agent: &Locked<Agent>) -> Result<(), StoreError>;
        fn delete(&mut self, agent: Locked<Agent>) -> Result<(), StoreError>;
        fn share(
            &mut self,
            company: CompanyScope,
            id: AgentId,
        ) -> Result<Option<Shared<Agent>>, StoreError>;
        fn lock_reports_of(
            &mut self,
            manager: &Locked<Agent>,
        ) -> Result<Vec<Locked<Agent>>, StoreError>;
    }
}

mock! {
    pub Credentials {}

    impl CredentialReads for Credentials {
        fn key(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedKey>, StoreError>;
        fn run_token(&mut self, digest: &[u8; 32]) -> Result<Option<PresentedRunToken>, StoreError>;
        fn named_run(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Option<NamedRun>, StoreError>;
        fn keys(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            page: &PageRequest<CreationKey<AgentKeyId>>,
        ) -> Result<Page<AgentKey, CreationKey<AgentKeyId>>, StoreError>;
    }

    impl CredentialWrites for Credentials {
        fn insert_key(&mut self, agent: &Locked<Agent>, key: &AgentKey) -> Result<(), StoreError>;
        fn revoke_key(
            &mut self,
            agent: &Locked<Agent>,
            key: AgentKeyId,
            now: Timestamp,
        ) -> Result<Option<AgentKey>, StoreError>;
        fn revoke_keys(&mut self, agent: &Locked<Agent>, now: Timestamp) -> Result<(), StoreError>;
        fn note_key_use(&mut self, uses: &[(AgentKeyId, Timestamp)]) -> Result<(), StoreError>;
    }
}
