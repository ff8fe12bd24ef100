//! Mocks of `port/ledger.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::CompanyScope;
use crate::budget::{BudgetBasis, Replay, RunSpend, Spend, Threshold};
use crate::cost::{CostEvent, CostTotal, Window};
use crate::id::{AgentId, RunId};
use crate::money::Cents;
use crate::page::{Page, PageRequest};
use crate::port::{
    CostEventCursor, LedgerReads, LedgerWrites, MeteredModel, ModelCost, ProjectCost, Spender,
    StoreError,
};
use crate::time::{Day, Month, Timestamp};

mock! {
    pub Ledger {}

    impl LedgerReads for Ledger {
        fn spent(
            &mut self,
            company: CompanyScope,
            spender: Spender,
            month: Month,
        ) -> Result<Spend, StoreError>;
        fn spent_ever(
            &mut self,
            company: CompanyScope,
            spender: Spender,
        ) -> Result<Spend, StoreError>;
        fn run_spend(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Option<RunSpend>, StoreError>;
        fn metered(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Vec<MeteredModel>, StoreError>;
        fn spent_by(
            &mut self,
            company: CompanyScope,
            agents: &[AgentId],
            month: Month,
        ) -> Result<Vec<(AgentId, Spend)>, StoreError>;
        fn spent_by_companies(
            &mut self,
            companies: &[CompanyScope],
            month: Month,
        ) -> Result<Vec<(CompanyScope, Spend)>, StoreError>;
        fn total(&mut self, company: CompanyScope, window: Window) -> Result<CostTotal, StoreError>;
        fn by_agent(
            &mut self,
            company: CompanyScope,
            window: Window,
        ) -> Result<Vec<(AgentId, CostTotal)>, StoreError>;
        fn by_project(
            &mut self,
            company: CompanyScope,
            window: Window,
        ) -> Result<Vec<ProjectCost>, StoreError>;
        fn by_model(
            &mut self,
            company: CompanyScope,
            window: Window,
        ) -> Result<Vec<ModelCost>, StoreError>;
        fn first_cost(
            &mut self,
            company: CompanyScope,
            spender: Spender,
        ) -> Result<Option<Timestamp>, StoreError>;
        fn by_day(
            &mut self,
            company: CompanyScope,
            spender: Spender,
            window: Window,
        ) -> Result<Vec<(Day, CostTotal)>, StoreError>;
        fn replay(
            &mut self,
            company: CompanyScope,
            spender: Spender,
            window: Window,
            basis: BudgetBasis,
            limit: Cents,
        ) -> Result<Replay, StoreError>;
        fn find_by_key(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
            key: &str,
        ) -> Result<Option<CostEvent>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<CostEventCursor>,
        ) -> Result<Page<CostEvent, CostEventCursor>, StoreError>;
        fn alerts(
            &mut self,
            company: CompanyScope,
            spender: Spender,
            month: Month,
        ) -> Result<Vec<Threshold>, StoreError>;
    }

    impl LedgerWrites for Ledger {
        fn record(&mut self, event: &CostEvent) -> Result<(), StoreError>;
        fn save_run_spend(
            &mut self,
            company: CompanyScope,
            run: RunId,
            spend: &RunSpend,
            held: Cents,
        ) -> Result<(), StoreError>;
        fn release(
            &mut self,
            company: CompanyScope,
            run: RunId,
            now: Timestamp,
        ) -> Result<(), StoreError>;
        fn raise_alert(
            &mut self,
            company: CompanyScope,
            spender: Spender,
            month: Month,
            threshold: Threshold,
            now: Timestamp,
        ) -> Result<bool, StoreError>;
    }
}
