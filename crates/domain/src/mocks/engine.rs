//! Mocks of `port/engine.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope};
use crate::agent::Agent;
use crate::id::{AgentId, InstanceId, IssueId, RunId};
use crate::port::{
    Agenda, AgendaTerms, BudgetStop, ClaimRequest, ClaimedRun, EngineReads, EngineWrites, Locked,
    RenewedRun, StartConditionInputs, StoreError, StuckChanges,
};
use crate::run::{ProcessRecord, Run, RunStart};
use crate::time::{Month, Timestamp};
use crate::timer::TimerSetting;

mock! {
    pub Engine {}

    impl EngineReads for Engine {
        fn expired(
            &mut self,
            scope: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<Run>, StoreError>;
        fn running_elsewhere(
            &mut self,
            scope: InstanceScope,
            instance: InstanceId,
        ) -> Result<Vec<Run>, StoreError>;
        fn processes_elsewhere(
            &mut self,
            scope: InstanceScope,
            instance: InstanceId,
        ) -> Result<Vec<ProcessRecord>, StoreError>;
        fn last_retry_of(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            issue: Option<IssueId>,
        ) -> Result<Option<Timestamp>, StoreError>;
        fn has_obsolete_wakes(&mut self, scope: InstanceScope) -> Result<bool, StoreError>;
        fn agenda(
            &mut self,
            scope: InstanceScope,
            terms: &AgendaTerms,
        ) -> Result<Agenda, StoreError>;
        fn has_startable(
            &mut self,
            scope: InstanceScope,
            terms: &StartConditionInputs,
        ) -> Result<bool, StoreError>;
        fn timers_to_check(
            &mut self,
            scope: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<(CompanyScope, AgentId)>, StoreError>;
        fn change_counts(
            &mut self,
            scope: InstanceScope,
            now: Timestamp,
        ) -> Result<Vec<(CompanyScope, i64)>, StoreError>;
        fn to_note_stuck(
            &mut self,
            company: CompanyScope,
            now: Timestamp,
            after: Option<IssueId>,
            limit: usize,
        ) -> Result<StuckChanges, StoreError>;
        fn wrongly_stuck(
            &mut self,
            company: CompanyScope,
            limit: usize,
        ) -> Result<Vec<IssueId>, StoreError>;
        fn budget_stops_to_lift(
            &mut self,
            scope: InstanceScope,
            month: Month,
            limit: usize,
        ) -> Result<Vec<BudgetStop>, StoreError>;
    }

    impl EngineWrites for Engine {
        fn claim(
            &mut self,
            scope: InstanceScope,
            request: &ClaimRequest,
        ) -> Result<Option<ClaimedRun>, StoreError>;
        fn renew(
            &mut self,
            scope: InstanceScope,
            instance: InstanceId,
            runs: &[RunId],
            lease_until: Timestamp,
        ) -> Result<Vec<RenewedRun>, StoreError>;
        fn record_process(&mut self, process: &ProcessRecord) -> Result<(), StoreError>;
        fn note_run_start(
            &mut self,
            company: CompanyScope,
            run: RunId,
            fence: i64,
            start: &RunStart,
        ) -> Result<bool, StoreError>;
        fn take_up(
            &mut self,
            company: CompanyScope,
            process: &ProcessRecord,
            fence: i64,
            instance: InstanceId,
            lease_until: Timestamp,
        ) -> Result<bool, StoreError>;
        fn delete_process(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError>;
        fn cancel_obsolete_wakes(
            &mut self,
            scope: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<usize, StoreError>;
        fn set_timer(
            &mut self,
            agent: &Locked<Agent>,
            setting: &TimerSetting,
        ) -> Result<(), StoreError>;
        fn delete_events(
            &mut self,
            scope: InstanceScope,
            before: Timestamp,
            keep: i64,
            limit: usize,
        ) -> Result<usize, StoreError>;
        fn delete_wakes(
            &mut self,
            scope: InstanceScope,
            before: Timestamp,
            limit: usize,
        ) -> Result<usize, StoreError>;
    }
}
