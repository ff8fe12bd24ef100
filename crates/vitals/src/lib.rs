//! What tells whether a server can do its work: whether its long-lived tasks
//! run, whether there is room on its disks, what its log lost, and what became
//! of its runs. Readiness and metrics show it, and whoever begins something looks
//! at it first.
//!
//! The crate knows nothing of what the tasks do, and reads no disk itself.

mod disk_space;
mod families;
mod run_counts;
mod supervisor;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;

pub use disk_space::{DiskSpace, Shortage, StorageArea, is_full};
pub use families::Families;
pub use run_counts::RunCounts;
pub use supervisor::{Supervisor, TaskState};

/// The vital signs of one server. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct Vitals {
    /// Keeps the long-lived tasks running.
    pub supervisor: Supervisor,
    /// Whether there is room to write.
    pub disk_space: DiskSpace,
    /// Lines of the log that could not be written.
    pub lost_lines: LostLines,
    /// Runs that were started, and how runs ended.
    pub runs: RunCounts,
}

impl Vitals {
    /// Those of a server that wants so many bytes free wherever it writes; 0
    /// for no such limit.
    #[must_use]
    pub fn new(min_free_bytes: u64) -> Self {
        Self {
            disk_space: DiskSpace::new(min_free_bytes),
            ..Self::default()
        }
    }

    /// Has whoever asks for metrics told of the vital signs.
    pub fn register(&self, registry: &mut Registry) {
        self.runs.register(registry);
        registry.register_collector(Box::new(self.clone()));
    }
}

impl Collector for Vitals {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families::of(encoder);
        let tasks = self.supervisor.tasks();
        families.counters(
            "task_restarts",
            "Long-lived tasks that were started again.",
            "task",
            tasks.iter().map(|task| (task.name, task.restarts)),
        )?;
        families.gauges(
            "task_up",
            "Whether a long-lived task runs.",
            "task",
            tasks
                .iter()
                .map(|task| (task.name, u32::from(!task.is_down))),
        )?;
        families.counter(
            "log_lines_lost",
            "Lines of the log that could not be written.",
            self.lost_lines.count(),
        )?;
        self.disk_space.tell(&mut families)
    }
}

/// Counts lines of the log that could not be written.
#[derive(Clone, Debug, Default)]
pub struct LostLines(Arc<AtomicU64>);

impl LostLines {
    /// Counts further ones.
    pub fn add(&self, lines: u64) {
        self.0.fetch_add(lines, Ordering::Relaxed);
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn what_was_lost_and_what_is_short_is_told() {
        let vitals = Vitals::new(100);
        vitals.lost_lines.add(3);
        vitals.disk_space.see(StorageArea::Data, 7);
        vitals.runs.note_start();
        vitals.runs.note_end("failed", Some("wall_limit"));
        vitals.runs.note_end("succeeded", None);
        let mut registry = Registry::with_prefix("workforce");
        vitals.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "workforce_log_lines_lost_total 3\n",
            "workforce_storage_free_bytes{place=\"data\"} 7\n",
            "workforce_storage_short 1\n",
            "workforce_runs_started_total 1\n",
            "workforce_runs_finished_total{status=\"failed\",error_code=\"wall_limit\"} 1\n",
            "workforce_runs_finished_total{status=\"succeeded\",error_code=\"\"} 1\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
