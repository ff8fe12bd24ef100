//! Closed loops on several threads, and what they measured.
//!
//! A machine is seldom the same for long: others use it, and it gets slower as it gets warmer. So
//! what is compared is measured in turn, for several short rounds instead of a long one each.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};

/// Rounds of each figure.
pub(crate) const ROUNDS: u32 = 5;

/// How long each figure is measured.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// Not counted, in each round: caches fill, connections open, statements are prepared.
    pub(crate) warm_up: Duration,
    /// Counted, in all rounds together.
    pub(crate) duration: Duration,
}

/// What one or more rounds counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    latencies: Vec<Duration>,
    elapsed: Duration,
}

impl Sample {
    pub(crate) fn add(&mut self, round: Self) {
        self.latencies.extend(round.latencies);
        self.elapsed += round.elapsed;
    }

    /// # Errors
    ///
    /// When nothing ended in time.
    pub(crate) fn measurement(self) -> Result<Measurement> {
        Measurement::of(self.latencies, self.elapsed)
    }
}

/// What was measured of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) operations: usize,
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

impl Measurement {
    pub(crate) fn of(mut latencies: Vec<Duration>, elapsed: Duration) -> Result<Self> {
        latencies.sort_unstable();
        let Some(longest) = latencies.last() else {
            bail!("not one operation ended in time");
        };
        Ok(Self {
            operations: latencies.len(),
            per_second: latencies.len() as f64 / elapsed.as_secs_f64(),
            p50_ms: milliseconds(percentile(&latencies, 50)),
            p99_ms: milliseconds(percentile(&latencies, 99)),
            max_ms: milliseconds(*longest),
        })
    }
}

/// The smallest of `sorted` that is not exceeded by `percent` of them (nearest rank, exact).
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// One round: runs each of `workers` in a loop on a thread of its own. One call is one operation.
///
/// # Errors
///
/// The first failure of any worker, which ends all of them.
pub(crate) fn measure<W>(pace: Pace, workers: Vec<W>) -> Result<Sample>
where
    W: FnMut() -> Result<()> + Send,
{
    let barrier = Barrier::new(workers.len());
    let failed = AtomicBool::new(false);
    let outcomes: Vec<Result<Sample>> = thread::scope(|scope| {
        let threads: Vec<_> = workers
            .into_iter()
            .map(|worker| {
                scope.spawn(|| {
                    barrier.wait();
                    let outcome = run(pace, &failed, worker);
                    if outcome.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    outcome
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
            })
            .collect()
    });
    let mut all = Sample::default();
    let workers = u32::try_from(outcomes.len())?;
    for outcome in outcomes {
        all.add(outcome?);
    }
    // They end one after the other, and those that have ended wait for nothing.
    all.elapsed /= workers.max(1);
    Ok(all)
}

fn run(pace: Pace, failed: &AtomicBool, mut worker: impl FnMut() -> Result<()>) -> Result<Sample> {
    let duration = pace.duration / ROUNDS;
    let warm = Instant::now() + pace.warm_up;
    while Instant::now() < warm && !failed.load(Ordering::Relaxed) {
        worker()?;
    }
    let mut latencies = Vec::with_capacity(1 << 16);
    let start = Instant::now();
    let mut before = start;
    while before - start < duration && !failed.load(Ordering::Relaxed) {
        worker()?;
        let after = Instant::now();
        latencies.push(after - before);
        before = after;
    }
    Ok(Sample {
        latencies,
        elapsed: before - start,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Pace = Pace {
        warm_up: Duration::ZERO,
        duration: Duration::from_millis(50 * ROUNDS as u64),
    };

    #[test]
    fn percentiles_are_exact() {
        let millis = |range: std::ops::RangeInclusive<u64>| {
            range.map(Duration::from_millis).collect::<Vec<_>>()
        };
        for (latencies, p50, p99) in [
            (millis(1..=1), 1, 1),
            (millis(1..=2), 1, 2),
            (millis(1..=100), 50, 99),
            (millis(1..=1000), 500, 990),
        ] {
            let percentiles = (percentile(&latencies, 50), percentile(&latencies, 99));
            let expected = (Duration::from_millis(p50), Duration::from_millis(p99));
            assert_eq!(percentiles, expected, "{} latencies", latencies.len());
        }
    }

    #[test]
    fn the_throughput_counts_all_workers() {
        let sleep = || {
            thread::sleep(Duration::from_millis(5));
            Ok(())
        };
        let mut rounds = measure(SHORT, vec![sleep; 4]).unwrap();
        rounds.add(measure(SHORT, vec![sleep; 4]).unwrap());
        assert!(rounds.elapsed >= 2 * SHORT.duration / ROUNDS);
        let measured = rounds.measurement().unwrap();
        assert!(measured.operations >= 8, "{measured:?}");
        assert!(measured.per_second <= 4.0 * 200.0, "{measured:?}");
        assert!(measured.p50_ms >= 5.0, "{measured:?}");
        assert!(measured.max_ms >= measured.p99_ms, "{measured:?}");
    }

    #[test]
    fn a_failure_ends_the_measurement() {
        let mut calls = 0;
        let worker = || {
            calls += 1;
            if calls > 3 { bail!("broken") } else { Ok(()) }
        };
        let message = measure(SHORT, vec![worker]).unwrap_err().to_string();
        assert_eq!(message, "broken");
    }
}
