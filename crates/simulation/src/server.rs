//! What the servers do, one transaction at a time. The transactions are those of the engine; what
//! lies between two of them may be any other step.

use workforce_app::{budgets, runs};
use workforce_domain::id::RunId;
use workforce_domain::port::{ClaimRequest, ClaimedRun, TokenKind, Tokens};
use workforce_domain::run::{ProcessRecord, RunErrorCode, RunOutcome, RunStart};
use workforce_engine::steps::{self, Halt, Standing};

use crate::host::{LEASE, Live, RENEW_EVERY, Task, bare_end, lost_end};
use crate::program::Program;
use crate::simulation::Simulation;
use crate::world::Broken;

/// At most so many runs are live on a server.
pub(crate) const INSTANCE_CAP: usize = 3;

impl Simulation {
    /// A server does something.
    pub(crate) fn server_step(&mut self, at: usize) -> Result<(), Broken> {
        let host = &self.hosts[at];
        if !host.is_recovered {
            return self.next_task(at);
        }
        if !host.tasks.is_empty() && self.random.chance(70) {
            return self.next_task(at);
        }
        match self.random.below(12) {
            0..=4 => self.claim(at).map(drop),
            5..=6 => self.renew(at),
            7 => self.look_for_expired(at),
            8 => self.look_at_timers(at),
            9 => self.cancel_obsolete_wakes(at),
            10 => self.look_at_month(at),
            _ => self.halt_or_notice(at),
        }
    }

    /// Goes on with something that was begun. What predecessors left is dealt with in order.
    pub(crate) fn next_task(&mut self, at: usize) -> Result<(), Broken> {
        let place = match self.hosts[at].is_recovered {
            true => self.random.below(self.hosts[at].tasks.len()),
            false => 0,
        };
        match self.hosts[at].tasks.remove(place) {
            None => Ok(()),
            Some(Task::Record(run, token)) => self.record(at, run, token),
            Some(Task::Settle(run, end, used)) => self.settle_run(at, run, end, used),
            Some(Task::TakeOver(run)) => self.take_over(at, &run),
            Some(Task::Beat(company, agent, clear_at)) => self.beat(at, company, agent, clear_at),
            Some(Task::Lift(stop, month)) => {
                self.note(|names| format!("{} lifts a stop", names.host(at)));
                self.world
                    .engine(|tx, ctx| budgets::lift(tx, ctx, stop, month))
            }
            Some(Task::Recover) => self.recover(at),
            Some(Task::TakeUp(process)) => self.take_up(at, &process),
            Some(Task::EndLeft) => self.end_left(at),
        }
    }

    /// Claims the next run; false when there is none.
    pub(crate) fn claim(&mut self, at: usize) -> Result<bool, Broken> {
        if self.hosts[at].live.len() >= INSTANCE_CAP {
            return Ok(false);
        }
        let token = self.world.seeded.mint(TokenKind::Run);
        let now = self.world.now();
        let request = ClaimRequest {
            instance: self.hosts[at].instance,
            now,
            lease_until: now.plus(LEASE),
            token_digest: token.digest,
            instance_cap: i64::try_from(INSTANCE_CAP).unwrap_or(i64::MAX),
        };
        let claimed = self
            .world
            .engine(|tx, ctx| runs::start(tx, ctx, &request))?;
        let Some(ClaimedRun {
            run,
            wake,
            agent,
            company,
        }) = claimed
        else {
            return Ok(false);
        };
        self.check_start(&run, &wake, &agent, &company)?;
        if self.fault(3) {
            self.books.orphans.insert(run.id);
            self.note(|names| {
                format!(
                    "{} claims {} and hears no answer",
                    names.host(at),
                    names.of(run.id)
                )
            });
            return Ok(true);
        }
        self.note(|names| {
            let issue = run.issue.map(|issue| names.of(issue)).unwrap_or_default();
            format!(
                "{} claims {} of {} for {} {issue}",
                names.host(at),
                names.of(run.id),
                names.of(run.agent),
                run.reason
            )
        });
        let host = &mut self.hosts[at];
        host.live.insert(run.id, Live::of(&run, now, false));
        host.tasks.push_back(Task::Record(run.id, token.token));
        Ok(true)
    }

    /// Starts the program of a claimed run.
    fn record(&mut self, at: usize, id: RunId, token: String) -> Result<(), Broken> {
        let Some(live) = self.hosts[at].live.get(&id).cloned() else {
            return Ok(());
        };
        if let Some(halt) = live.halt {
            return self.ends(at, id, halt.outcome());
        }
        let process = ProcessRecord {
            run: id,
            company: live.company,
            instance: self.hosts[at].instance,
            pid: 1,
            process_group: 1,
            start_ticks: 1,
        };
        let told = RunStart {
            containment: Some(String::new()),
            ..RunStart::default()
        };
        let standing = self
            .world
            .engine(|tx, ctx| steps::record_process(tx, ctx, &process, live.fence, &told, LEASE))?;
        self.note(|names| format!("{} starts {}: {standing:?}", names.host(at), names.of(id)));
        let (hears_nothing, now) = (self.fault(2), self.world.now());
        let Some(known) = self.hosts[at].live.get_mut(&id) else {
            return Ok(());
        };
        match standing {
            Standing::Ours if hears_nothing => {
                known.had_process = true;
                let outcome = RunOutcome::Failed(RunErrorCode::SpawnFailed);
                self.ends(at, id, Some(outcome))
            }
            Standing::Ours => {
                known.had_process = true;
                known.renewed_at = now;
                if let Some(run) = self.run(id)? {
                    self.programs.push(Program::of(&run, token, at));
                }
                Ok(())
            }
            Standing::ToStop(reason) => {
                known.halt(Halt::Requested(reason));
                self.ends(at, id, Halt::Requested(reason).outcome())
            }
            Standing::Lost => {
                known.halt(Halt::LeaseLost);
                self.ends(at, id, None)
            }
        }
    }

    /// Nothing of a run executes any more: its end is to be written down.
    fn ends(&mut self, at: usize, run: RunId, outcome: Option<RunOutcome>) -> Result<(), Broken> {
        let task = Task::Settle(run, outcome.map(bare_end), None);
        self.hosts[at].tasks.push_back(task);
        Ok(())
    }

    /// Renews the leases of what is live.
    pub(crate) fn renew(&mut self, at: usize) -> Result<(), Broken> {
        let now = self.world.now();
        let host = &mut self.hosts[at];
        host.renewed_at = now;
        let instance = host.instance;
        let live: Vec<RunId> = host.live.keys().copied().collect();
        if live.is_empty() {
            return Ok(());
        }
        let renewal = self
            .world
            .engine(|tx, ctx| steps::renew(tx, ctx, instance, &live, LEASE))?;
        if self.fault(5) {
            self.note(|names| format!("{} renews and hears no answer", names.host(at)));
            return Ok(());
        }
        self.note(|names| format!("{} renews {} runs", names.host(at), live.len()));
        for (id, live) in &mut self.hosts[at].live {
            match renewal.standing(*id, live.fence) {
                Standing::Lost => live.mark_lost(),
                Standing::Ours => live.renewed_at = now,
                Standing::ToStop(reason) => {
                    live.renewed_at = now;
                    live.halt(Halt::Requested(reason));
                }
            }
        }
        self.heed_time(at);
        Ok(())
    }

    /// Gives up the runs whose lease was not renewed for too long. Their programs end at once.
    pub(crate) fn heed_time(&mut self, at: usize) {
        let (now, patience) = (self.world.now(), steps::patience(LEASE, RENEW_EVERY));
        let host = &mut self.hosts[at];
        for live in host.live.values_mut() {
            if now.since(live.renewed_at) >= patience {
                live.halt(Halt::LeaseLost);
            }
        }
        let lost: Vec<RunId> = host
            .live
            .iter()
            .filter(|(_, live)| live.halt == Some(Halt::LeaseLost) && !live.is_settling)
            .map(|(run, _)| *run)
            .collect();
        for run in lost {
            self.stop(at, run, Halt::LeaseLost);
        }
    }

    /// Ends the program of a run that is to stop.
    fn stop(&mut self, at: usize, run: RunId, halt: Halt) {
        let program = self.programs.iter().position(|program| program.run == run);
        let Some(program) = program else {
            return;
        };
        self.programs.remove(program);
        self.note(|names| {
            format!(
                "{} ends the program of {}: {halt:?}",
                names.host(at),
                names.of(run)
            )
        });
        let Some(live) = self.hosts[at].live.get_mut(&run) else {
            return;
        };
        live.is_settling = true;
        let end = halt.outcome().map(bare_end);
        self.hosts[at].tasks.push_back(Task::Settle(run, end, None));
    }

    /// Notices a program that ended, or stops one that is to stop.
    pub(crate) fn halt_or_notice(&mut self, at: usize) -> Result<(), Broken> {
        let host = &self.hosts[at];
        let halted = host.live.iter().find_map(|(run, live)| {
            let has_program = self.programs.iter().any(|program| program.run == *run);
            live.halt.filter(|_| has_program).map(|halt| (*run, halt))
        });
        if let Some((run, halt)) = halted {
            self.stop(at, run, halt);
            return Ok(());
        }
        let ended = self
            .programs
            .iter()
            .position(|program| !program.executes() && host.live.contains_key(&program.run));
        if let Some(ended) = ended {
            let program = self.programs.remove(ended);
            let (end, used) = program
                .report
                .unwrap_or((lost_end(RunErrorCode::Internal), None));
            if let Some(live) = self.hosts[at].live.get_mut(&program.run) {
                live.is_settling = true;
            }
            let task = Task::Settle(program.run, Some(end), used);
            self.hosts[at].tasks.push_back(task);
        }
        Ok(())
    }
}
