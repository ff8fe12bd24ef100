use alloc::vec::Vec;

use super::StoreError;
use crate::actor::CompanyScope;
use crate::budget::{BudgetBasis, BudgetScope, Replay, RunSpend, Spend, Threshold};
use crate::cost::{BillingType, CostEvent, CostTotal, TokenUse, Window};
use crate::id::{AgentId, CostEventId, ProjectId, RunId};
use crate::money::Cents;
use crate::page::{CreationKey, Page, PageRequest};
use crate::text::Name;
use crate::time::{Day, Month, Timestamp};

/// Whose spend a running total counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spender {
    /// The whole company.
    Company,
    /// One agent.
    Agent(AgentId),
    /// Everybody who works on the issues of a project.
    Project(ProjectId),
}

impl Spender {
    /// The scope of the budget that bounds this spend.
    pub const fn budget_scope(self) -> BudgetScope {
        match self {
            Self::Company => BudgetScope::Company,
            Self::Agent(_) => BudgetScope::Agent,
            Self::Project(_) => BudgetScope::Project,
        }
    }
}

/// What one project cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCost {
    /// The project; `None` gathers what belongs to none, so that the rows add
    /// up to the total.
    pub project: Option<(ProjectId, Name)>,
    /// What it cost.
    pub total: CostTotal,
}

/// What one model cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCost {
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// What it cost.
    pub total: CostTotal,
}

/// What is metered of a run and one of its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredModel {
    /// How the provider bills it.
    pub billing: BillingType,
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// Tokens used.
    pub tokens: TokenUse,
    /// What is booked for them.
    pub cost: Cents,
    /// The same by list.
    pub estimated: Cents,
}

/// The place of a cost event in a list.
pub type CostEventCursor = CreationKey<CostEventId>;

/// Reads of the ledger.
pub trait LedgerReads {
    /// What was spent in a month, from the running total, and what live runs hold.
    fn spent(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
    ) -> Result<Spend, StoreError>;

    /// What was spent in all months, from the running totals, and what live runs hold.
    fn spent_ever(&mut self, company: CompanyScope, spender: Spender) -> Result<Spend, StoreError>;

    /// What a run has used and holds; `None` for one that never started.
    fn run_spend(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<RunSpend>, StoreError>;

    /// What is metered of a run, by model.
    fn metered(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Vec<MeteredModel>, StoreError>;

    /// What each of `agents` spent in a month; those who spent and hold nothing may
    /// be missing.
    fn spent_by(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
        month: Month,
    ) -> Result<Vec<(AgentId, Spend)>, StoreError>;

    /// What each of these companies spent in a month; those that spent nothing
    /// may be missing.
    fn spent_by_companies(
        &mut self,
        companies: &[CompanyScope],
        month: Month,
    ) -> Result<Vec<(CompanyScope, Spend)>, StoreError>;

    /// The sum over a company's counted events in a window.
    fn total(&mut self, company: CompanyScope, window: Window) -> Result<CostTotal, StoreError>;

    /// The sums per agent over a window; agents without events are missing.
    fn by_agent(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<(AgentId, CostTotal)>, StoreError>;

    /// The sums per project over a window.
    fn by_project(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<ProjectCost>, StoreError>;

    /// The sums per model over a window.
    fn by_model(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<ModelCost>, StoreError>;

    /// When the first counted event of a spender occurred; `None` when there is none.
    fn first_cost(
        &mut self,
        company: CompanyScope,
        spender: Spender,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// The sums per day in UTC over a window, in order; days without events are missing.
    fn by_day(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        window: Window,
    ) -> Result<Vec<(Day, CostTotal)>, StoreError>;

    /// When the spend of a window reached `limit`, in the order in which costs occurred,
    /// and what was spent after it. Costs of one instant count together.
    fn replay(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        window: Window,
        basis: BudgetBasis,
        limit: Cents,
    ) -> Result<Replay, StoreError>;

    /// The event an agent recorded under its own key before.
    fn find_by_key(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        key: &str,
    ) -> Result<Option<CostEvent>, StoreError>;

    /// Cost events of a company, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<CostEventCursor>,
    ) -> Result<Page<CostEvent, CostEventCursor>, StoreError>;

    /// The thresholds whose alert was raised in a month.
    fn alerts(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
    ) -> Result<Vec<Threshold>, StoreError>;
}

/// Writes of the ledger. Callers hold the company's and the agent's lock, so
/// that a budget cannot change beside a decision over it.
pub trait LedgerWrites {
    /// Records an event and adds it, when counted, to the running totals of
    /// its agent, its company and its project for the month it occurred in.
    ///
    /// # Errors
    /// When the store fails, or a total cannot be counted exactly any more.
    fn record(&mut self, event: &CostEvent) -> Result<(), StoreError>;

    /// Keeps what a run has used and `held`, what it holds of its budgets from now on.
    fn save_run_spend(
        &mut self,
        company: CompanyScope,
        run: RunId,
        spend: &RunSpend,
        held: Cents,
    ) -> Result<(), StoreError>;

    /// Lets go of what a run holds: it has ended.
    fn release(
        &mut self,
        company: CompanyScope,
        run: RunId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Notes that an alert was raised; false when it was noted before.
    fn raise_alert(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
        threshold: Threshold,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
