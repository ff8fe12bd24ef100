//! Budgets: what a month's spend means. Four fifths of a limit raise an alert, all of it stops
//! whom it bounds.

mod forecast;
mod occurrence;
mod reservation;

use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::agent::{AgentLifecycle, AgentState};
use crate::company::PauseReason;
use crate::money::{Budget, Cents};
use crate::string_enum;

pub use forecast::{
    DAYS_LOOKED_AT, DaySpend, Forecast, ForecastStatus, LEAST_DAYS, LimitPeriod, Pace, Replay,
    forecast, full_days,
};
pub use occurrence::{
    MAX_AGE, MAX_AHEAD, OccurrenceError, check_occurrence, check_reported_by_agent,
};
pub use reservation::{LEAST_RESERVATION, RUNS_LOOKED_AT, RunSpend, expected_cost, reservation};

string_enum! {
    /// What counts as spent against the budgets of a company.
    pub enum BudgetBasis {
        /// What providers bill; nothing on a flat plan.
        Actual = "actual",
        /// What the tokens cost by list, also on a flat plan.
        Estimated = "estimated",
    }
}

/// What an agent, a company or a project spent in a month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spend {
    /// What was spent this month, as providers bill it.
    #[serde(rename = "spentMonthlyCents")]
    pub actual: Cents,
    /// What it was by list.
    #[serde(rename = "estimatedMonthlyCents")]
    pub estimated: Cents,
    /// What live runs hold of the budget beside that.
    #[serde(rename = "reservedCents")]
    pub held: Cents,
}

impl Spend {
    /// What counts against the budget.
    pub const fn counted(&self, basis: BudgetBasis) -> Cents {
        match basis {
            BudgetBasis::Actual => self.actual,
            BudgetBasis::Estimated => self.estimated,
        }
    }

    /// Whether nothing is left of a limit, with what is held.
    pub fn exhausts(&self, budget: Budget, basis: BudgetBasis) -> bool {
        let Some(limit) = budget.limit() else {
            return false;
        };
        let claimed = self.counted(basis).checked_add(self.held);
        claimed.is_none_or(|claimed| claimed >= limit)
    }
}

string_enum! {
    /// A part of the budget whose use has a consequence.
    pub enum Threshold {
        /// 80 %: an alert, once a month.
        Soft = "soft",
        /// 100 %: the hard stop, with an alert once a month.
        Hard = "hard",
    }
}

string_enum! {
    /// What a budget limits.
    pub enum BudgetScope {
        /// One agent.
        Agent = "agent",
        /// All agents of a company.
        Company = "company",
        /// All issues of a project.
        Project = "project",
    }
}

impl Threshold {
    /// The part of the budget, in percent.
    pub const fn percent(self) -> u8 {
        match self {
            Self::Soft => 80,
            Self::Hard => 100,
        }
    }
}

/// How a month's spend stands against the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUsage {
    /// What was spent this month.
    pub spent: Cents,
    /// The monthly limit.
    pub budget: Budget,
}

impl BudgetUsage {
    /// The highest threshold that the spend has reached; none without a limit.
    pub fn reached(self) -> Option<Threshold> {
        let limit = i128::from(self.budget.limit()?.micros());
        let spent = i128::from(self.spent.micros());
        [Threshold::Hard, Threshold::Soft]
            .into_iter()
            .find(|threshold| spent * 100 >= limit * i128::from(threshold.percent()))
    }

    /// True when the whole limit is used.
    pub fn exhausted(self) -> bool {
        self.reached() == Some(Threshold::Hard)
    }

    /// The part of the limit that is used; zero without a limit.
    pub fn utilization(self) -> Percent {
        Percent(self.utilization_percent_hundredths())
    }

    /// The part of the limit that is used, in hundredths of a percent, rounded
    /// down so that no threshold shows before it is reached; zero without a
    /// limit.
    pub fn utilization_percent_hundredths(self) -> i64 {
        let Some(limit) = self.budget.limit() else {
            return 0;
        };
        let hundredths = i128::from(self.spent.micros()) * 10_000 / i128::from(limit.micros());
        i64::try_from(hundredths).unwrap_or(i64::MAX)
    }

    /// What may still be spent; `None` without a limit.
    pub fn remaining(self) -> Option<Cents> {
        self.budget
            .limit()
            .map(|limit| limit.saturating_sub(self.spent))
    }
}

/// A percentage, exact to two decimals. Prints as a number with two decimals:
/// `79.99`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(i64);

impl Percent {
    /// The percentage in hundredths.
    pub const fn hundredths(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", magnitude / 100, magnitude % 100)
    }
}

/// Which alerts were raised this month already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaisedAlerts {
    /// The alert at 80 %.
    pub soft: bool,
    /// The alert at 100 %.
    pub hard: bool,
}

/// The alerts that are due now: each threshold that the spend has reached and
/// that was not raised this month, the soft one first. One large cost can
/// raise both.
pub fn alerts_due(usage: BudgetUsage, raised: RaisedAlerts) -> Vec<Threshold> {
    let reached = usage.reached();
    [
        (Threshold::Soft, raised.soft),
        (Threshold::Hard, raised.hard),
    ]
    .into_iter()
    .filter(|&(threshold, done)| !done && Some(threshold) <= reached)
    .map(|(threshold, _)| threshold)
    .collect()
}

/// Whether an agent may run, as far as budgets care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPause {
    /// It may run.
    Running,
    /// Somebody paused it; no budget ever resumes it.
    Manual,
    /// Its budget paused it.
    Budget,
    /// A draft, or terminated: it cannot run at all.
    Inactive,
}

impl From<AgentLifecycle> for AgentPause {
    fn from(lifecycle: AgentLifecycle) -> Self {
        match (lifecycle.pause_reason(), lifecycle.state()) {
            (Some(PauseReason::Budget), _) => Self::Budget,
            (Some(PauseReason::Manual | PauseReason::System), _) => Self::Manual,
            (None, AgentState::Enabled) => Self::Running,
            (None, _) => Self::Inactive,
        }
    }
}

/// What an agent's budget asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentBudgetDecision {
    /// Alerts to raise, in this order.
    pub alerts: Vec<Threshold>,
    /// Pause the agent with the reason budget and stop its live runs.
    pub pause: bool,
    /// Lift the pause.
    pub resume: bool,
}

/// What an agent's budget asks for, whenever its spend, its limit or the month
/// has changed.
pub fn decide_agent(
    usage: BudgetUsage,
    raised: RaisedAlerts,
    pause: AgentPause,
) -> AgentBudgetDecision {
    let exhausted = usage.exhausted();
    AgentBudgetDecision {
        alerts: alerts_due(usage, raised),
        pause: exhausted && pause == AgentPause::Running,
        resume: !exhausted && pause == AgentPause::Budget,
    }
}

/// What a company's budget asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompanyBudgetDecision {
    /// Alerts to raise, in this order.
    pub alerts: Vec<Threshold>,
    /// Set the company's pause reason to budget, which blocks starts and stops
    /// live runs of all its agents; its status stays.
    pub pause: bool,
    /// Clear the pause reason.
    pub resume: bool,
}

/// What a company's budget asks for, whenever its spend, its limit or the
/// month has changed. `pause` is the company's present pause reason.
pub fn decide_company(
    usage: BudgetUsage,
    raised: RaisedAlerts,
    pause: Option<PauseReason>,
) -> CompanyBudgetDecision {
    let exhausted = usage.exhausted();
    CompanyBudgetDecision {
        alerts: alerts_due(usage, raised),
        pause: exhausted && pause.is_none(),
        resume: !exhausted && pause == Some(PauseReason::Budget),
    }
}
