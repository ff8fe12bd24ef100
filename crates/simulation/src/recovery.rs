//! How the end of a run is written down, and what a server does with what its predecessors left.
//! The order of the transactions is that of `crates/engine/src/{run_end,recovery}.rs`.

use workforce_app::costs::MeteredUse;
use workforce_app::runs;
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope};
use workforce_domain::id::RunId;
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
        uses: &[MeteredUse],
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
        self.write_end(at, ended, end.as_ref(), uses)?;
        if self.fault(8) {
            let task = Task::Settle(run, end, uses.to_vec());
            self.hosts[at].tasks.push_back(task);
            return Ok(());
        }
        if uses.is_empty() {
            self.hosts[at].live.remove(&run);
        } else {
            let task = Task::Book(ended.company, run, uses.to_vec());
            self.hosts[at].tasks.push_back(task);
        }
        Ok(())
    }

    /// Writes an end down, in one transaction.
    fn write_end(
        &mut self,
        at: usize,
        ended: EndedRun,
        end: Option<&RunEnd>,
        uses: &[MeteredUse],
    ) -> Result<(), Broken> {
        let left = Leavings::default();
        let is_booked = uses.is_empty();
        let was_written = self.world.engine(|tx, ctx| {
            steps::write_end(tx, ctx, ended, end.cloned(), Some(&left), is_booked)
        })?;
        self.note(|names| {
            let end = end.map(|end| end.outcome);
            format!(
                "{} writes the end of {} down as {end:?}: {was_written}",
                names.host(at),
                names.of(ended.run)
            )
        });
        if was_written {
            self.note_end(ended.run)?;
        }
        Ok(())
    }

    /// Books what a run used, again where no answer is heard.
    pub(crate) fn book(
        &mut self,
        at: usize,
        company: CompanyScope,
        run: RunId,
        uses: &[MeteredUse],
    ) -> Result<(), Broken> {
        self.world
            .engine(|tx, ctx| steps::book(tx, ctx, company, run, uses))?;
        self.note(|names| format!("{} books what {} used", names.host(at), names.of(run)));
        if let Some(run) = self.run(run)?
            && self.books.booked.insert(run.id)
        {
            for used in uses {
                self.note_spending(&Spending {
                    agent: run.agent,
                    run: None,
                    month: self.world.month(),
                    micros: used.cost.micros(),
                })?;
            }
        }
        if self.fault(8) {
            let task = Task::Book(company, run, uses.to_vec());
            self.hosts[at].tasks.push_back(task);
        } else {
            self.hosts[at].live.remove(&run);
        }
        Ok(())
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
            if let Some((end, uses)) = self.programs[program].report.clone() {
                self.programs.remove(program);
                let ended = EndedRun {
                    company: run.scope(),
                    run: run.id,
                    fence: run.fence,
                    had_process: true,
                };
                self.write_end(at, ended, Some(&end), &uses)?;
                if !uses.is_empty() {
                    self.book(at, run.scope(), run.id, &uses)?;
                }
                return Ok(());
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
            let was_ended = self.world.engine(|tx, ctx| {
                runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone())
            })?;
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
