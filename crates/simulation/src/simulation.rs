//! One simulation: a company, its agents, the board and two servers, in an order that a seed
//! determines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::agents::{self, CreateAgent};
use workforce_app::companies;
use workforce_app::issues::{self, CreateIssue};
use workforce_domain::id::{AgentId, ApprovalId, CompanyId, InstanceId, IssueId};
use workforce_domain::issue::{IssueStatus, Lease};
use workforce_domain::money::Budget;
use workforce_domain::port::{Ids, Vault};
use workforce_domain::time::Timestamp;
use workforce_infra::store::MemoryStore;
use workforce_testkit::random::Random;
use workforce_testkit::world::{new_agent, new_company, new_issue};

use crate::books::Books;
use crate::host::{Health, Host, RENEW_EVERY};
use crate::program::Program;
use crate::trace::{Names, Trace};
use crate::world::{Broken, World};

/// Steps of one simulation before everybody finishes.
const STEPS: usize = 45;
/// The store's own invariants are asked for after so many steps.
const STORE_EVERY: usize = 30;
/// Noon of 10 March 2026, and two minutes before the month turns to April.
const STARTS: [i64; 2] = [1_773_144_000_000_000, 1_774_915_080_000_000];
/// While runs are live, time goes on by so much at once, so that every server heeds it.
const PACE: Duration = Duration::from_secs(5);

/// One simulation.
pub(crate) struct Simulation {
    pub(crate) world: World,
    pub(crate) random: Random,
    pub(crate) trace: Trace,
    pub(crate) company: CompanyId,
    pub(crate) agents: Vec<AgentId>,
    /// How many runs of each agent may be live at once.
    pub(crate) caps: BTreeMap<AgentId, usize>,
    pub(crate) issues: Vec<IssueId>,
    pub(crate) plans: Vec<ApprovalId>,
    pub(crate) hosts: [Host; 2],
    pub(crate) programs: Vec<Program>,
    pub(crate) books: Books,
    /// The leases after the last step.
    pub(crate) leases: BTreeMap<IssueId, Lease>,
    /// Whether anything goes wrong by chance.
    pub(crate) faults: bool,
    /// Whether servers break down all the time.
    is_unlucky: bool,
}

impl Simulation {
    /// A company with three agents and three issues, on two servers that have just started.
    pub(crate) fn new(
        store: &Arc<MemoryStore>,
        vault: &Arc<dyn Vault>,
        seed: u64,
        trace: Trace,
    ) -> Result<Self, Broken> {
        let mut random = Random::new(seed);
        let start = if random.chance(25) {
            STARTS[1]
        } else {
            STARTS[0]
        };
        let world = World::new(store, vault, seed, Timestamp::from_micros(start))?;
        let firm = made(
            world
                .board(|tx, ctx| companies::create(tx, ctx, new_company("Acme")))?
                .done(),
        )?;
        let now = world.now();
        let host = || Host::starting(InstanceId::from(world.seeded.next()), Vec::new(), now);
        let mut simulation = Self {
            hosts: [host(), host()],
            company: firm.company.id,
            world,
            random,
            trace,
            agents: Vec::new(),
            caps: BTreeMap::new(),
            issues: Vec::new(),
            plans: Vec::new(),
            programs: Vec::new(),
            books: Books::default(),
            leases: BTreeMap::new(),
            faults: true,
            is_unlucky: seed % 5 == 4,
        };
        simulation.hire()?;
        simulation.hand_out()?;
        simulation.check_runs()?;
        Ok(simulation)
    }

    fn hire(&mut self) -> Result<(), Broken> {
        for called in ["Ada", "Bob", "Cleo"] {
            let cap = 1 + self.random.below(3);
            let interval = [0, 30, 300][self.random.below(3)];
            let heartbeat = json!({ "heartbeat": {
                "intervalSec": interval, "maxConcurrentRuns": cap, "alwaysRun": true,
            }});
            let cents = [0, 30, 60][self.random.below(3)];
            let command = CreateAgent {
                runtime_config: document(heartbeat),
                budget: Budget::from_cents(cents).map_or_else(
                    |_| Default::default(),
                    workforce_domain::change::Change::Set,
                ),
                ..new_agent(called)
            };
            let company = self.company;
            let hired = self
                .world
                .board(|tx, ctx| agents::create(tx, ctx, company, command.clone()))?;
            let agent = made(hired.done())?.view.agent.id;
            self.trace.call(agent, called);
            self.caps.insert(agent, cap);
            self.agents.push(agent);
        }
        Ok(())
    }

    fn hand_out(&mut self) -> Result<(), Broken> {
        for titled in ["Build", "Sell", "Mend"] {
            let command = CreateIssue {
                status: Some(IssueStatus::Todo),
                assignee_agent_id: self.random.pick(&self.agents),
                parent_id: self
                    .issues
                    .first()
                    .filter(|_| titled == "Mend")
                    .map(|it| (*it).into()),
                ..new_issue(titled)
            };
            let company = self.company;
            let created = self
                .world
                .board(|tx, ctx| issues::create(tx, ctx, company, command.clone()))?;
            let issue = made(created.done())?.view.issue.id;
            self.trace.call(issue, titled);
            self.issues.push(issue);
        }
        Ok(())
    }

    /// Runs to its end.
    pub(crate) fn run_to_end(&mut self) -> Result<(), Broken> {
        for step in 1..=STEPS {
            self.step()?;
            self.check_runs()?;
            if step % STORE_EVERY == 0 {
                self.world.check_store()?;
                self.check_totals()?;
            }
        }
        self.settle()
    }

    fn step(&mut self) -> Result<(), Broken> {
        let signalled = self.world.take_signal();
        match self.random.below(100) {
            0..=27 => {
                let executing: Vec<usize> = (0..self.programs.len())
                    .filter(|at| self.programs[*at].executes())
                    .collect();
                match self.random.pick(&executing) {
                    Some(at) => self.program_step(at),
                    None => self.board_step(),
                }
            }
            28..=37 => self.board_step(),
            38..=47 => self.pass_some_time(),
            48..=54 => self.break_or_mend(),
            55..=57 => self.write_late(),
            58..=69 if self.is_unlucky => match self.random.chance(60) {
                true => self.break_or_mend(),
                false => self.pass(Duration::from_secs(65)),
            },
            _ => {
                let at = self.random.below(self.hosts.len());
                if !self.hosts[at].is_well() {
                    return Ok(());
                }
                if signalled && self.hosts[at].is_recovered && self.random.chance(50) {
                    return self.claim(at).map(drop);
                }
                self.server_step(at)
            }
        }
    }

    /// Something goes wrong, so often in a hundred.
    pub(crate) fn fault(&mut self, percent: usize) -> bool {
        self.faults && self.random.chance(percent)
    }

    fn pass_some_time(&mut self) -> Result<(), Broken> {
        let is_quiet = self.programs.is_empty() && self.running()?.is_empty();
        let seconds = [1, 5, 5, 20, 65, 65, 900][self.random.below(if is_quiet { 7 } else { 6 })];
        self.note(|_| format!("{seconds} s pass"));
        self.pass(Duration::from_secs(seconds))
    }

    /// Lets time go on. Servers that can renew do so on time, and give up what they cannot renew.
    pub(crate) fn pass(&mut self, time: Duration) -> Result<(), Broken> {
        let until = self.world.now().plus(time);
        let is_idle = self.hosts.iter().all(|host| host.live.is_empty());
        while self.world.now() < until {
            let left = until.since(self.world.now());
            let pace = if is_idle { left } else { left.min(PACE) };
            let now = self.world.now().plus(pace);
            self.world.seeded.set(now);
            for at in 0..self.hosts.len() {
                let host = &mut self.hosts[at];
                if !host.is_well() {
                    host.ailed_at = Some(now);
                }
                if host.heeds_time() {
                    self.heed_time(at);
                }
                let host = &self.hosts[at];
                let is_due = now.since(host.renewed_at) >= RENEW_EVERY && !host.live.is_empty();
                if host.is_well() && is_due {
                    self.renew(at)?;
                }
            }
        }
        for agent in self.agents.clone() {
            self.note_used_up(agent)?;
        }
        Ok(())
    }

    /// A server breaks down, or comes back.
    fn break_or_mend(&mut self) -> Result<(), Broken> {
        let at = self.random.below(self.hosts.len());
        let health = match self.hosts[at].health {
            Health::Down => return self.start_host(at),
            Health::CutOff | Health::Frozen => return self.mend(at),
            Health::Well => [Health::CutOff, Health::Frozen, Health::Down][self.random.below(3)],
        };
        let now = self.world.now();
        let host = &mut self.hosts[at];
        host.health = health;
        host.ailed_at = Some(now);
        self.note(|names| format!("{} is {health:?}", names.host(at)));
        if health == Health::Down {
            let host = &mut self.hosts[at];
            host.live.clear();
            host.tasks.clear();
            host.is_recovered = false;
            if self.random.chance(50) {
                self.programs.retain(|program| program.host != at);
                self.note(|names| format!("and with {} its programs", names.host(at)));
            }
        }
        Ok(())
    }

    /// A server is well again, and may renew at once what it has missed.
    fn mend(&mut self, at: usize) -> Result<(), Broken> {
        let host = &mut self.hosts[at];
        host.health = Health::Well;
        host.ailed_at = Some(self.world.now());
        self.note(|names| format!("{} is well again", names.host(at)));
        if self.random.chance(50) {
            self.renew(at)?;
        }
        // The clocks of a server that stood still go off before it does anything else.
        self.heed_time(at);
        Ok(())
    }

    /// A server starts again where one was before.
    pub(crate) fn start_host(&mut self, at: usize) -> Result<(), Broken> {
        let host = &mut self.hosts[at];
        let mut predecessors = core::mem::take(&mut host.predecessors);
        predecessors.push(host.instance);
        let instance = InstanceId::from(self.world.seeded.next());
        *host = Host::starting(instance, predecessors, self.world.now());
        host.ailed_at = Some(self.world.now());
        self.note(|names| format!("{} starts again", names.host(at)));
        Ok(())
    }

    /// One line of the trace.
    pub(crate) fn note(&mut self, line: impl FnOnce(&mut Names) -> String) {
        self.trace.note(self.world.now(), line);
    }

    /// Looks at everything that a server looks at from time to time.
    pub(crate) fn look_around(&mut self, at: usize) -> Result<(), Broken> {
        while !self.hosts[at].is_recovered {
            self.next_task(at)?;
        }
        self.look_for_expired(at)?;
        self.look_at_timers(at)?;
        self.look_at_month(at)?;
        self.cancel_obsolete_wakes(at)?;
        let programs = self.programs.len();
        for _ in 0..=programs {
            self.halt_or_notice(at)?;
        }
        Ok(())
    }
}

/// What the board makes at the beginning.
fn made<T>(done: Option<T>) -> Result<T, Broken> {
    done.ok_or_else(|| Broken {
        name: "the board can make what it begins with",
        seen: "it was refused".to_owned(),
    })
}
