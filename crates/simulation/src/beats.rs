//! What must hold of timers.

use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::id::AgentId;
use workforce_domain::time::Timestamp;
use workforce_domain::timer::Timer;

use crate::simulation::Simulation;
use crate::world::{Broken, demand};

/// The timer of an agent, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beats {
    /// As it is stored.
    timer: Timer,
    /// Beats that came to nothing, as anybody is told.
    suppressed: i64,
    /// How often it woke its agent, as far as that waits.
    woken: i64,
    /// Whether something waits for its agent.
    has_work: bool,
}

impl Simulation {
    /// The timer of an agent, and what came of it so far.
    pub(crate) fn beats(&self, company: CompanyScope, agent: AgentId) -> Result<Beats, Broken> {
        let now = self.world.now();
        self.world.read(|reads| {
            let timer = reads.agents().timer(company, agent)?.unwrap_or_default();
            let found = reads.agents().find(company.into(), agent)?;
            let always = found.is_some_and(|agent| agent.always_runs());
            let pending = reads.runs().pending_of(company, agent, 100)?;
            let general = pending.iter().filter(|wake| wake.issue.is_none());
            Ok(Beats {
                timer,
                suppressed: timer.seen_at(now).suppressed,
                woken: general.map(|wake| i64::from(wake.count)).sum(),
                has_work: always || reads.agents().has_work(company, agent)?,
            })
        })
    }

    /// A timer beats when it is due, and not again before the better part of its interval is
    /// over. It rests only while nothing waits for its agent.
    pub(crate) fn check_beat(
        &mut self,
        agent: AgentId,
        clear_at: Option<Timestamp>,
        (before, after): (Beats, Beats),
    ) -> Result<(), Broken> {
        let now = self.world.now();
        let told = || format!("{agent}: {before:?}, then {after:?}, clear at {clear_at:?}");
        demand(
            !(before.has_work && after.timer.rests),
            "a timer rests only while nothing waits for its agent",
            told,
        )?;
        let was_due = before.timer.next_tick().is_some_and(|due| due <= now);
        let suppressed = after.suppressed - before.suppressed;
        demand(
            suppressed == 0 || suppressed == 1 && was_due && !before.timer.rests,
            "a beat that comes to nothing is counted once",
            told,
        )?;
        let woken = after.woken - before.woken;
        if woken == 0 {
            return Ok(());
        }
        // The beats of its rest are those that its count has.
        let counted = |at: Timestamp| before.timer.seen_at(at).suppressed;
        let of_rest = counted(now) > clear_at.map_or(before.timer.suppressed, counted);
        demand(
            woken == 1 && suppressed == 0 && was_due && (!before.timer.rests || of_rest),
            "a timer beats when it is due",
            told,
        )?;
        let interval = after.timer.interval_sec.unwrap_or_default();
        let interval = u128::from(interval.unsigned_abs());
        let last = self.books.beaten.insert(agent, now);
        let spacing = last.map(|last| now.since(last).as_millis());
        demand(
            spacing.is_none_or(|spacing| spacing >= interval * 900),
            "a timer that is due beats once",
            || format!("{agent}: {spacing:?} ms after the last beat, every {interval} s"),
        )
    }

    /// Once everything is done, no timer is to be looked at.
    pub(crate) fn check_timers(&self) -> Result<(), Broken> {
        let now = self.world.now();
        let left = self.world.read(|reads| {
            reads
                .engine()
                .timers_to_check(InstanceScope::SYSTEM, now, 10)
        })?;
        demand(
            left.is_empty(),
            "every timer is looked at when it is due",
            || format!("{left:?}"),
        )
    }
}
