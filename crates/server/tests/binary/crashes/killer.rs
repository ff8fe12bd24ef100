//! Picks who is killed, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use workforce_testkit::guards::guarded_runs;
use workforce_testkit::random::Random;

use super::processes::{self, RunProcessKind};
use super::scene::Scene;
use crate::harness::PATIENCE;
use crate::office::Database;

/// Longer than the lease of a server, so that the other one ends its runs.
const LONG: Duration = Duration::from_secs(75);
/// So many kills are worth waiting that long for.
const MANY: usize = 50;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    Server,
    Guard,
    Program,
    Backend,
}

/// What was killed so far.
pub(super) struct Killer {
    random: Random,
    killed: BTreeMap<Victim, usize>,
    /// The runs whose guards or programs were killed.
    pub(super) runs: BTreeSet<String>,
    /// Whether a server was away for longer than its leases last.
    pub(super) let_leases_expire: bool,
}

impl Killer {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            killed: BTreeMap::new(),
            runs: BTreeSet::new(),
            let_leases_expire: false,
        }
    }

    /// How often each was killed.
    pub(super) const fn killed(&self) -> &BTreeMap<Victim, usize> {
        &self.killed
    }

    /// Kills so many times.
    pub(super) fn kill(&mut self, scene: &mut Scene, kills: usize) {
        let victims = match scene.database {
            Database::Sqlite => &[Victim::Server, Victim::Guard, Victim::Program][..],
            Database::Postgres(_) => &[
                Victim::Server,
                Victim::Guard,
                Victim::Program,
                Victim::Backend,
            ],
        };
        for number in 0..kills {
            self.pause(scene);
            let is_long = kills >= MANY
                && scene.places.len() > 1
                && [kills / 4, kills * 3 / 4].contains(&number);
            // The first ones in turn, so that few kills have victims of every kind.
            let victim = match victims.get(number) {
                Some(victim) => *victim,
                None => self.random.pick(victims).unwrap(),
            };
            let victim = if is_long { Victim::Server } else { victim };
            let begun = Instant::now();
            while !self.strike(scene, victim, is_long) {
                assert!(
                    begun.elapsed() < LONG + PATIENCE,
                    "there is no {victim:?} to kill"
                );
                scene.start_due();
                thread::sleep(Duration::from_millis(20));
            }
            *self.killed.entry(victim).or_default() += 1;
        }
    }

    /// Lets a random time pass; servers that are due start meanwhile.
    fn pause(&mut self, scene: &mut Scene) {
        let millis = 400 + self.random.below(2600);
        let until = Instant::now() + Duration::from_millis(u64::try_from(millis).unwrap());
        while Instant::now() < until {
            scene.start_due();
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn strike(&mut self, scene: &mut Scene, victim: Victim, is_long: bool) -> bool {
        match victim {
            Victim::Server => {
                let down_for = match (is_long, self.random.chance(50)) {
                    (true, _) => LONG,
                    (false, true) => Duration::ZERO,
                    (false, false) => {
                        let millis = self.random.below(3000);
                        Duration::from_millis(u64::try_from(millis).unwrap())
                    }
                };
                let place = self.random.below(scene.places.len());
                let is_killed = scene.kill_server(place, down_for);
                self.let_leases_expire |= is_killed && is_long;
                is_killed
            }
            Victim::Guard => self.strike_run(scene, RunProcessKind::Guard),
            Victim::Program => self.strike_run(scene, RunProcessKind::Program),
            Victim::Backend => {
                let Database::Postgres(database) = &scene.database else {
                    return false;
                };
                let name = database.url().rsplit('/').next().unwrap();
                let backend = self.random.pick(&processes::backends(name));
                backend.is_some_and(processes::kill_now)
            }
        }
    }

    fn strike_run(&mut self, scene: &Scene, kind: RunProcessKind) -> bool {
        let runs: Vec<String> = scene.folders().flat_map(|it| guarded_runs(it)).collect();
        let mut candidates = processes::of_runs(&runs);
        candidates.retain(|process| process.kind == kind);
        let Some(process) = self.random.pick(&candidates) else {
            return false;
        };
        // Before: whoever looks at the run must know why it ended.
        self.runs.insert(process.run);
        processes::kill_now(process.pid)
    }
}
