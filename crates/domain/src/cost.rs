//! Cost events and what they add up to.

mod price;

use serde::Serialize;

pub use price::{Price, PriceTable, Rates};

use alloc::string::String;

use crate::actor::company_owned;
use crate::budget::BudgetBasis;
use crate::id::{AgentId, CompanyId, CostEventId, GoalId, IssueId, ProjectId, RunId};
use crate::money::Cents;
use crate::string_enum;
use crate::text::{Label, Name};
use crate::time::Timestamp;

string_enum! {
    /// Where a cost event comes from.
    pub enum CostSource {
        /// An agent or the board reported it.
        Reported = "reported",
        /// workforce read it from a run's output.
        Metered = "metered",
    }
}

string_enum! {
    /// How the provider bills.
    pub enum BillingType {
        /// By use.
        Api = "api",
        /// A flat plan.
        Subscription = "subscription",
    }
}

/// Tokens of one or many calls. Cache reads and writes stand apart, since
/// their prices differ more than tenfold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenUse {
    /// Tokens read by the model.
    #[serde(rename = "inputTokens")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub input: i64,
    /// Tokens written by the model.
    #[serde(rename = "outputTokens")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub output: i64,
    /// Tokens read from the provider's cache.
    #[serde(rename = "cachedInputTokens")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub cached_input: i64,
    /// Tokens written to the provider's cache.
    #[serde(rename = "cacheWriteTokens")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub cache_write: i64,
}

/// A cost: one entry of the ledger, never changed once written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CostEvent {
    /// Unique id.
    pub id: CostEventId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The agent that spent.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// The issue worked on.
    #[serde(rename = "issueId")]
    pub issue: Option<IssueId>,
    /// The project of that issue.
    #[serde(rename = "projectId")]
    pub project: Option<ProjectId>,
    /// The goal of that issue.
    #[serde(rename = "goalId")]
    pub goal: Option<GoalId>,
    /// The run that spent.
    #[serde(rename = "runId")]
    pub run: Option<RunId>,
    /// The billing code of that issue.
    pub billing_code: Option<Label>,
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// How the provider bills.
    pub billing_type: BillingType,
    /// Tokens used.
    #[serde(flatten)]
    pub tokens: TokenUse,
    /// What it cost.
    #[serde(rename = "costCents")]
    pub cost: Cents,
    /// What its tokens cost by list, also on a flat plan; `null` for a model without a
    /// price.
    #[serde(rename = "estimatedCostCents")]
    pub estimated: Option<Cents>,
    /// Who told.
    pub source: CostSource,
    /// False for a report of usage that was metered already: kept, not summed.
    pub counted: bool,
    /// The caller's own key against double counting.
    pub idempotency_key: Option<String>,
    /// When the cost arose; decides the month.
    pub occurred_at: Timestamp,
    /// When it was recorded.
    pub created_at: Timestamp,
}

company_owned!(CostEvent, company);

/// A span of time, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// First instant within.
    pub start: Timestamp,
    /// First instant after.
    pub end: Timestamp,
}

impl CostTotal {
    /// What counts against the budgets.
    pub const fn counted(&self, basis: BudgetBasis) -> Cents {
        match basis {
            BudgetBasis::Actual => self.cost,
            BudgetBasis::Estimated => self.estimated,
        }
    }
}

/// What a set of cost events adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostTotal {
    /// The money.
    pub cost: Cents,
    /// What it was by list, as far as that is known.
    pub estimated: Cents,
    /// The tokens.
    pub tokens: TokenUse,
    /// Distinct runs billed by use.
    pub api_runs: i64,
    /// Distinct runs on a flat plan.
    pub subscription_runs: i64,
    /// Tokens read on a flat plan.
    pub subscription_input: i64,
    /// Tokens written on a flat plan.
    pub subscription_output: i64,
    /// Costs of no known amount: billed by use, of a model without a price.
    pub unknown: i64,
}
