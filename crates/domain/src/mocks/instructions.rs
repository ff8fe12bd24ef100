//! Mocks of `port/instructions.rs`.

use alloc::string::String;

use mockall::mock;

use crate::actor::CompanyScope;
use crate::agent::Agent;
use crate::id::AgentId;
use crate::instructions::{BundlePointer, Manifest};
use crate::port::{InstructionReads, InstructionWrites, Locked, StoreError};
use crate::time::Timestamp;

mock! {
    pub Instructions {}

    impl InstructionReads for Instructions {
        fn pointer(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<Option<BundlePointer>, StoreError>;
        fn manifest(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            version: i32,
        ) -> Result<Option<Manifest>, StoreError>;
        fn content(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            sha256: &str,
        ) -> Result<Option<String>, StoreError>;
    }

    impl InstructionWrites for Instructions {
        fn set_pointer(
            &mut self,
            agent: &Locked<Agent>,
            pointer: &BundlePointer,
            now: Timestamp,
        ) -> Result<(), StoreError>;
        fn add_version(
            &mut self,
            agent: &Locked<Agent>,
            manifest: &Manifest,
            now: Timestamp,
        ) -> Result<i32, StoreError>;
        fn keep_content(
            &mut self,
            agent: &Locked<Agent>,
            sha256: &str,
            content: &str,
        ) -> Result<(), StoreError>;
    }
}
