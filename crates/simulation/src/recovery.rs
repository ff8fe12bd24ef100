//! How the end of a run is written down, and what a server does with what its predecessors left.
//! The order of the transactions is that of `crates/engine/src/{run_end,recovery}.rs`.

use workforce_app::costs::RunUse;
use workforce_app::runs;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::id::RunId;
use workforce_domain::money::Cents;
use workforce_domain::run::{ProcessRecord, Run, RunEnd, RunErrorCode};
use workforce_engine::steps::{self, EndedRun, Halt, Leavings};

use crate::books::Spending;
use crate::host::{LEASE, Live, Task, lost_end};
use crate::simulation::Simulation;
use crate::world::Broken;

impl Simulation {
    /// Writes the end of a run down, again where no answer is heard.
    pub(crate) fn settle_run(
        &mut self,
        at: usize,
        run: RunId,
        end: Option<RunEnd>,
        used: Option<RunUse>,
    ) -> Result<(), Broken> {
        let Some(live) = self.hosts[at].live.get_mut(&run) else {
            return Ok(());
        };
        live.is_settling = true;
        let end = end.filter(|_| live.halt != Some(Halt::LeaseLost));
        if end.is_none() {
            self.books.orphans.insert(run);
        }
        if end.is_none() && !live.had_process {
            self.hosts[at].live.remove(&run);
            return Ok(());
        }
        let ended = live.ended(run);
        self.write_end(at, ended, end.as_ref(), used.clone())?;
        if self.fault(8) {
            let task = Task::Settle(run, end, used);
            self.hosts[at].tasks.push_back(task);
            return Ok(());
        }
        self.hosts[at].live.remove(&run);
        Ok(())
    }

    /// Writes an end down, in one transaction.
    fn write_end(
        &mut self,
        at: usize,
        ended: EndedRun,
        end: Option<&RunEnd>,
        used: Option<RunUse>,
    ) -> Result<(), Broken> {
        let left = Leavings {
            used,
            ..Leavings::default()
        };
        let written = self
            .world
            .engine(|tx, ctx| steps::write_end(tx, ctx, ended, end.cloned(), &left))?;
        let was_written = written.is_some();
        self.note(|names| {
            let end = end.map(|end| end.outcome);
            format!(
                "{} writes the end of {} down as {end:?}: {was_written}",
                names.host(at),
                names.of(ended.run)
            )
        });
        self.note_used(ended.run, left.used.as_ref())?;
        if was_written {
            self.note_end(ended.run)?;
        }
        Ok(())
    }

    /// Notes what a run used, once it is booked.
    fn note_used(&mut self, run: RunId, used: Option<&RunUse>) -> Result<(), Broken> {
        let Some(run) = self.run(run)?.filter(|run| !run.status.is_live()) else {
            return Ok(());
        };
        let costs = used.into_iter().flat_map(|used| &used.models);
        let costs: i64 = costs
            .filter_map(|model| model.cost)
            .map(Cents::micros)
            .sum();
        if costs == 0 || !self.books.booked.insert(run.id) {
            return Ok(());
        }
        let booked = self.books.metered.get(&run.id).copied().unwrap_or_default();
        self.note_spending(&Spending {
            agent: run.agent,
            run: None,
            month: self.world.month(),
            micros: costs - booked,
        })
    }

    /// Sees what predecessors left.
    pub(crate) fn recover(&mut self, at: usize) -> Result<(), Broken> {
        let instance = self.hosts[at].instance;
        let processes = self.world.read(|reads| {
            reads
                .engine()
                .processes_elsewhere(InstanceScope::SYSTEM, instance)
        })?;
        let host = &mut self.hosts[at];
        let left = processes
            .into_iter()
            .filter(|process| host.predecessors.contains(&process.instance));
        host.tasks.extend(left.map(Task::TakeUp));
        host.tasks.push_back(Task::EndLeft);
        Ok(())
    }

    /// Goes on with the program of a predecessor, writes down how it ended, or clears it away.
    pub(crate) fn take_up(&mut self, at: usize, process: &ProcessRecord) -> Result<(), Broken> {
        let found = self.run(process.run)?;
        let program = self
            .programs
            .iter()
            .position(|program| program.run == process.run && program.host == at);
        if let (Some(run), Some(program)) = (found, program) {
            if let Some((end, used)) = self.programs[program].report.clone() {
                self.programs.remove(program);
                let ended = EndedRun {
                    company: run.scope(),
                    run: run.id,
                    fence: run.fence,
                    had_process: true,
                };
                return self.write_end(at, ended, Some(&end), used);
            }
            if run.status.is_live() && self.adopt(at, &run, process)? {
                let mut live = Live::of(&run, self.world.now(), true);
                if let Some(reason) = run.stop_reason {
                    live.halt(Halt::Requested(reason));
                }
                self.hosts[at].live.insert(run.id, live);
                return Ok(());
            }
            self.programs.remove(program);
        }
        self.world.engine(|tx, _| {
            Ok(tx
                .engine_mut()
                .delete_process(process.scope(), process.run)?)
        })
    }

    fn adopt(&mut self, at: usize, run: &Run, process: &ProcessRecord) -> Result<bool, Broken> {
        let instance = self.hosts[at].instance;
        let until = self.world.now().plus(LEASE);
        let was_adopted = self.world.engine(|tx, _| {
            Ok(tx
                .engine_mut()
                .take_up(run.scope(), process, run.fence, instance, until)?)
        })?;
        self.note(|names| {
            format!(
                "{} takes {} up: {was_adopted}",
                names.host(at),
                names.of(run.id)
            )
        });
        Ok(was_adopted)
    }

    /// Ends the runs of predecessors of which no program is left.
    pub(crate) fn end_left(&mut self, at: usize) -> Result<(), Broken> {
        let instance = self.hosts[at].instance;
        let scope = InstanceScope::SYSTEM;
        let (processes, running) = self.world.read(|reads| {
            let processes = reads.engine().processes_elsewhere(scope, instance)?;
            Ok((
                processes,
                reads.engine().running_elsewhere(scope, instance)?,
            ))
        })?;
        let is_left = |run: &Run| {
            let is_predecessors = run
                .instance
                .is_some_and(|instance| self.hosts[at].predecessors.contains(&instance));
            is_predecessors && !processes.iter().any(|process| process.run == run.id)
        };
        let left: Vec<Run> = running.into_iter().filter(is_left).collect();
        for run in left {
            let end = lost_end(RunErrorCode::ProcessLost);
            let ending = self.world.engine(|tx, ctx| {
                runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
            })?;
            let was_ended = ending.is_some();
            self.note(|names| {
                format!(
                    "{} ends {} as lost: {was_ended}",
                    names.host(at),
                    names.of(run.id)
                )
            });
            if was_ended {
                self.note_end(run.id)?;
                self.check_retry(&run)?;
            }
        }
        self.hosts[at].is_recovered = true;
        Ok(())
    }
}
