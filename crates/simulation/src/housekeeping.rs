//! What a server does beside starting runs: it takes over what expired, looks at timers, cancels
//! obsolete wakes, and lifts stops when the month turns.

use workforce_app::timers;
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope};
use workforce_domain::id::AgentId;
use workforce_domain::run::{Run, RunErrorCode};
use workforce_domain::time::{Month, Timestamp};
use workforce_engine::steps;

use crate::host::{Task, lost_end};
use crate::program::Program;
use crate::simulation::Simulation;
use crate::world::Broken;

/// Runs, timers and wakes are looked at so many at a time.
const AT_ONCE: usize = 100;

impl Simulation {
    pub(crate) fn look_for_expired(&mut self, at: usize) -> Result<(), Broken> {
        let now = self.world.now();
        let expired = self
            .world
            .read(|reads| reads.engine().expired(InstanceScope::SYSTEM, now, AT_ONCE))?;
        let host = &mut self.hosts[at];
        let foreign = expired
            .into_iter()
            .filter(|run| !host.live.contains_key(&run.id));
        host.tasks
            .extend(foreign.map(|run| Task::TakeOver(Box::new(run))));
        Ok(())
    }

    /// Takes a run over that was seen to have no server.
    pub(crate) fn take_over(&mut self, at: usize, run: &Run) -> Result<(), Broken> {
        // Programs on another host cannot be ended from here.
        let here = |program: &Program| program.run == run.id && program.host == at;
        let was_here = self.programs.iter().any(here);
        self.programs.retain(|program| !here(program));
        if was_here {
            let (company, id) = (run.scope(), run.id);
            self.world
                .engine(|tx, _| Ok(tx.engine_mut().delete_process(company, id)?))?;
        }
        let before = self.run(run.id)?;
        let end = lost_end(RunErrorCode::LeaseExpired);
        let written = self
            .world
            .engine(|tx, ctx| steps::take_over(tx, ctx, run, end.clone(), None))?;
        let was_taken = written.is_some();
        self.note(|names| {
            format!(
                "{} takes {} over: {was_taken}",
                names.host(at),
                names.of(run.id)
            )
        });
        if was_taken {
            self.check_take_over(before.as_ref())?;
            self.check_retry(run)?;
        }
        Ok(())
    }

    pub(crate) fn look_at_timers(&mut self, at: usize) -> Result<(), Broken> {
        let now = self.world.now();
        let due = self.world.read(|reads| {
            reads
                .engine()
                .timers_to_check(InstanceScope::SYSTEM, now, AT_ONCE)
        })?;
        let host = &mut self.hosts[at];
        // What was found by the look before is dealt with by now.
        if !host.tasks.iter().any(|task| matches!(task, Task::Beat(..))) {
            host.clear_at = host.looked_at;
        }
        host.looked_at = Some(now);
        let clear_at = host.clear_at;
        let beats = due
            .into_iter()
            .map(|(company, agent)| Task::Beat(company, agent, clear_at));
        host.tasks.extend(beats);
        Ok(())
    }

    pub(crate) fn beat(
        &mut self,
        at: usize,
        company: CompanyScope,
        agent: AgentId,
        clear_at: Option<Timestamp>,
    ) -> Result<(), Broken> {
        let before = self.beats(company, agent)?;
        self.world
            .engine(|tx, ctx| timers::check(tx, ctx, company, agent, clear_at))?;
        let after = self.beats(company, agent)?;
        self.note(|names| {
            format!(
                "{} looks at the timer of {}",
                names.host(at),
                names.of(agent)
            )
        });
        self.check_beat(agent, clear_at, (before, after))
    }

    pub(crate) fn cancel_obsolete_wakes(&mut self, at: usize) -> Result<(), Broken> {
        let scope = InstanceScope::SYSTEM;
        if self
            .world
            .read(|reads| reads.engine().has_obsolete_wakes(scope))?
        {
            self.world.engine(|tx, ctx| {
                Ok(tx
                    .engine_mut()
                    .cancel_obsolete_wakes(scope, ctx.now, AT_ONCE)?)
            })?;
            self.note(|names| format!("{} cancels obsolete wakes", names.host(at)));
        }
        Ok(())
    }

    pub(crate) fn look_at_month(&mut self, at: usize) -> Result<(), Broken> {
        let month = Month::of(self.world.now());
        if self.hosts[at].lifted_in == Some(month) {
            return Ok(());
        }
        let stops = self.world.read(|reads| {
            reads
                .engine()
                .budget_stops_to_lift(InstanceScope::SYSTEM, month, AT_ONCE)
        })?;
        let host = &mut self.hosts[at];
        host.lifted_in = Some(month);
        let lifts = stops.into_iter().map(|stop| Task::Lift(stop, month));
        host.tasks.extend(lifts);
        Ok(())
    }
}
