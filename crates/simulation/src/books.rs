//! What the simulation itself remembers, to compare the store with.

use std::collections::{BTreeMap, BTreeSet};

use workforce_domain::cost::CostEvent;
use workforce_domain::id::{AgentId, IssueId, RunId, WakeId};
use workforce_domain::time::{Month, Timestamp};

/// A wake that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) wake: WakeId,
    pub(crate) agent: AgentId,
    pub(crate) issue: Option<IssueId>,
}

/// Something that was spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spending {
    pub(crate) agent: AgentId,
    /// The run that reported it while it was running.
    pub(crate) run: Option<RunId>,
    pub(crate) month: Month,
    pub(crate) micros: i64,
}

impl Spending {
    /// What a report says.
    pub(crate) fn of(event: &CostEvent) -> Self {
        Self {
            agent: event.agent,
            run: event.run,
            month: Month::of(event.occurred_at),
            micros: if event.counted {
                event.cost.micros()
            } else {
                0
            },
        }
    }
}

/// What must fit to what the store holds.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// What each agent spent in each month, by the reports that were taken.
    pub(crate) spent: BTreeMap<(AgentId, i32), i64>,
    /// Since when the budget of an agent is used up, in the present month.
    pub(crate) used_up: BTreeMap<AgentId, Timestamp>,
    /// Runs whose metered use was booked.
    pub(crate) booked: BTreeSet<RunId>,
    /// What was booked of live runs, in millionths of a cent.
    pub(crate) metered: BTreeMap<RunId, i64>,
    /// Runs that their server does not know of, or has given up.
    pub(crate) orphans: BTreeSet<RunId>,
    /// The wakes that waited after the last step, by the run that is to answer.
    pub(crate) waiting: BTreeMap<RunId, Waiting>,
    /// When each run ended.
    pub(crate) ended: BTreeMap<RunId, Timestamp>,
    /// When the work of an agent on an issue was last queued again because it was lost.
    pub(crate) retried: BTreeMap<(AgentId, Option<IssueId>), Timestamp>,
    /// When the timer of an agent last woke it.
    pub(crate) beaten: BTreeMap<AgentId, Timestamp>,
    /// A run that the board cancelled in this step.
    pub(crate) cancelled: Option<RunId>,
}

impl Books {
    /// What an agent spent in a month.
    pub(crate) fn spent_by(&self, agent: AgentId, month: Month) -> i64 {
        let key = (agent, month.number());
        self.spent.get(&key).copied().unwrap_or_default()
    }

    /// What all agents spent in a month.
    pub(crate) fn spent_in(&self, month: Month) -> i64 {
        let of_month =
            |(key, micros): (&(AgentId, i32), &i64)| (key.1 == month.number()).then_some(*micros);
        self.spent.iter().filter_map(of_month).sum()
    }
}
