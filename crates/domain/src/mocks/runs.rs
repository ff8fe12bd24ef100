//! Mocks of `port/runs.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::id::{AgentId, IssueId, RunId, WakeId};
use crate::issue::Issue;
use crate::page::{Page, PageRequest};
use crate::port::{
    Locked, RunCursor, RunFilter, RunReads, RunWrites, StartConditionInputs, StopScope, StoreError,
    WakeableAgent,
};
use crate::run::{Completion, CompletionReport, Run, RunErrorCode, StartCondition};
use crate::time::Timestamp;
use crate::wake::Wake;

mock! {
    pub Runs {}

    impl RunReads for Runs {
        fn find(&mut self, scope: Scope, id: RunId) -> Result<Option<Run>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            filter: &RunFilter,
            page: &PageRequest<RunCursor>,
        ) -> Result<Page<Run, RunCursor>, StoreError>;
        fn live_of(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<Vec<Run>, StoreError>;
        fn pending_of(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            limit: usize,
        ) -> Result<Vec<Wake>, StoreError>;
        fn wake_of(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Option<Wake>, StoreError>;
        fn blocking_conditions(
            &mut self,
            company: CompanyScope,
            wake: WakeId,
            terms: &StartConditionInputs,
        ) -> Result<Option<Vec<StartCondition>>, StoreError>;
        fn completion(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Option<Completion>, StoreError>;
        fn completed(&mut self, scope: InstanceScope, runs: &[RunId])
        -> Result<Vec<RunId>, StoreError>;
    }

    impl RunWrites for Runs {
        fn share_wakeability(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<Option<WakeableAgent>, StoreError>;
        fn lock_pending_wake(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            issue: Option<IssueId>,
        ) -> Result<Option<Locked<Wake>>, StoreError>;
        fn queue<'a>(
            &mut self,
            agent: WakeableAgent,
            wake: &'a Wake,
            run: &'a Run,
        ) -> Result<(), StoreError>;
        fn save_wake(&mut self, wake: &Locked<Wake>) -> Result<(), StoreError>;
        fn follow_priority(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
        fn cancel_wake(&mut self, wake: Locked<Wake>, now: Timestamp) -> Result<(), StoreError>;
        fn lock(&mut self, scope: Scope, id: RunId) -> Result<Option<Locked<Run>>, StoreError>;
        fn save(&mut self, run: &Locked<Run>) -> Result<(), StoreError>;
        fn await_completion(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError>;
        fn save_completion(
            &mut self,
            run: &Locked<Run>,
            report: &CompletionReport,
            at: Timestamp,
        ) -> Result<(), StoreError>;
        fn cancel_pending(
            &mut self,
            company: CompanyScope,
            stop: StopScope,
            now: Timestamp,
        ) -> Result<Vec<RunId>, StoreError>;
        fn request_stop(
            &mut self,
            company: CompanyScope,
            stop: StopScope,
            spare: Option<RunId>,
            reason: RunErrorCode,
            now: Timestamp,
        ) -> Result<Vec<RunId>, StoreError>;
    }
}
