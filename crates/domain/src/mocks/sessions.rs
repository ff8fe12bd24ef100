//! Mocks of `port/sessions.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope};
use crate::agent::AdapterType;
use crate::id::AgentId;
use crate::port::{SessionReads, SessionWrites, StoreError};
use crate::session::{AgentSession, ProviderGate, TaskKey};
use crate::text::AccountKey;
use crate::time::Timestamp;

mock! {
    pub Sessions {}

    impl SessionReads for Sessions {
        fn find_session(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            adapter_type: AdapterType,
            task: TaskKey,
        ) -> Result<Option<AgentSession>, StoreError>;
        fn sessions_of(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            limit: usize,
        ) -> Result<Vec<AgentSession>, StoreError>;
        fn find_gate(
            &mut self,
            company: CompanyScope,
            account: &AccountKey,
        ) -> Result<Option<ProviderGate>, StoreError>;
    }

    impl SessionWrites for Sessions {
        fn save_session(&mut self, session: &AgentSession) -> Result<(), StoreError>;
        fn delete_sessions(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            task: Option<TaskKey>,
        ) -> Result<usize, StoreError>;
        fn note_gate(&mut self, gate: &ProviderGate) -> Result<(), StoreError>;
        fn delete_gate(
            &mut self,
            company: CompanyScope,
            account: &AccountKey,
        ) -> Result<bool, StoreError>;
        fn delete_expired_gates(
            &mut self,
            scope: InstanceScope,
            before: Timestamp,
            limit: usize,
        ) -> Result<usize, StoreError>;
    }
}
