//! Tries seeds.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use workforce_domain::port::Vault;
use workforce_infra::store::{MemoryStore, OpenError};

use crate::simulation::Simulation;
use crate::trace::Trace;
use crate::world::Broken;

/// After so many failures no further seed is tried: the shortest of them tells enough.
const ENOUGH: usize = 5;

/// Tries one seed after the other on a store of its own.
pub struct Runner {
    store: Arc<MemoryStore>,
    vault: Arc<dyn Vault>,
}

/// What must hold does not with a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The seed.
    pub seed: u64,
    /// What does not hold.
    pub broken: Broken,
    /// What happened until then.
    pub trace: Vec<String>,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.trace {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "seed {}: {}", self.seed, self.broken)?;
        write!(f, "again: cargo xtask simulate --seed {}", self.seed)
    }
}

/// What came of many seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// So many seeds were tried.
    pub seeds: u64,
    /// In this time.
    pub time: Duration,
    /// The failure with the fewest steps.
    pub failed: Option<Failed>,
    /// Every seed that failed.
    pub failing: Vec<u64>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seeds,
            time,
            failed,
            failing,
        } = self;
        if let Some(failed) = failed {
            writeln!(f, "{failed}")?;
            writeln!(f, "failed: {failing:?}")?;
        }
        let millis = time.as_millis().max(1);
        let rate = u128::from(*seeds) * 1000 / millis;
        write!(
            f,
            "{seeds} seeds in {:.1} s, {rate} in a second",
            time.as_secs_f64()
        )
    }
}

impl Runner {
    /// With an empty store.
    ///
    /// # Errors
    /// When there is none to be had.
    pub fn new() -> Result<Self, OpenError> {
        Ok(Self {
            store: MemoryStore::open()?,
            vault: workforce_testkit::ports::vault(),
        })
    }

    /// Tries a seed.
    ///
    /// # Errors
    /// What does not hold, with what happened until then.
    pub fn try_seed(&self, seed: u64) -> Result<(), Box<Failed>> {
        // What happened is written down only where it is wanted: a seed comes about again.
        match self.simulate(seed, Trace::default()) {
            (Ok(()), _) => Ok(()),
            (Err(broken), _) => {
                let (_, trace) = self.simulate(seed, Trace::kept());
                Err(Box::new(Failed {
                    seed,
                    broken,
                    trace,
                }))
            }
        }
    }

    /// What happens with a seed.
    pub fn trace_of(&self, seed: u64) -> Vec<String> {
        self.simulate(seed, Trace::kept()).1
    }

    fn simulate(&self, seed: u64, trace: Trace) -> (Result<(), Broken>, Vec<String>) {
        match Simulation::new(&self.store, &self.vault, seed, trace) {
            Ok(mut simulation) => {
                let outcome = simulation.run_to_end();
                (outcome, simulation.trace.into_lines())
            }
            Err(broken) => (Err(broken), Vec::new()),
        }
    }
}

/// Tries these seeds, or until some have failed.
///
/// # Errors
/// When there is no store to be had.
pub fn try_all(seeds: Range<u64>) -> Result<Tally, OpenError> {
    let runner = Runner::new()?;
    let begun = Instant::now();
    let (mut tried, mut failures) = (0, Vec::new());
    for seed in seeds {
        tried += 1;
        failures.extend(runner.try_seed(seed).err());
        if failures.len() == ENOUGH {
            break;
        }
    }
    let failing = failures.iter().map(|failed| failed.seed).collect();
    let shortest = failures.into_iter().min_by_key(|failed| failed.trace.len());
    Ok(Tally {
        seeds: tried,
        time: begun.elapsed(),
        failed: shortest.map(|failed| *failed),
        failing,
    })
}

/// Tries so many seeds, a part of them on each core.
///
/// # Errors
/// When there is no store to be had.
pub fn try_on_all_cores(from: u64, seeds: u64) -> Result<Tally, OpenError> {
    let begun = Instant::now();
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let share = seeds.div_ceil(cores);
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|core| {
                let first = from + (core * share).min(seeds);
                let end = from + ((core + 1) * share).min(seeds);
                scope.spawn(move || try_all(first..end))
            })
            .collect();
        let joined = threads.into_iter().map(|thread| {
            let outcome = thread.join();
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect::<Result<Vec<Tally>, _>>()
    })?;
    let failed = parts.iter().filter_map(|part| part.failed.clone());
    Ok(Tally {
        seeds: parts.iter().map(|part| part.seeds).sum(),
        time: begun.elapsed(),
        failed: failed.min_by_key(|failed| failed.trace.len()),
        failing: parts
            .iter()
            .flat_map(|part| &part.failing)
            .copied()
            .collect(),
    })
}
