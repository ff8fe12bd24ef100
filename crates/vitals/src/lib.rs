//! What tells whether a server can do its work: whether its long-lived tasks
//! run, whether there is room on its disks, and what its log lost. Readiness
//! and counters show it, and whoever begins something looks at it first.
//!
//! The crate knows nothing of what the tasks do, and reads no disk itself.

mod disk_space;
mod supervisor;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use disk_space::{DiskSpace, Shortage, StorageArea, is_full};
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

    /// The vital signs in the text format of Prometheus.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::from(
            "# HELP workforce_task_restarts_total Long-lived tasks that were started again.\n\
             # TYPE workforce_task_restarts_total counter\n",
        );
        let tasks = self.supervisor.tasks();
        for TaskState { name, restarts, .. } in &tasks {
            let _infallible = writeln!(
                text,
                "workforce_task_restarts_total{{task=\"{name}\"}} {restarts}"
            );
        }
        text.push_str("# HELP workforce_task_up Whether a long-lived task runs.\n");
        text.push_str("# TYPE workforce_task_up gauge\n");
        for TaskState { name, is_down, .. } in &tasks {
            let up = u8::from(!is_down);
            let _infallible = writeln!(text, "workforce_task_up{{task=\"{name}\"}} {up}");
        }
        let _infallible = write!(
            text,
            "# HELP workforce_log_lines_lost_total Lines of the log that could not be written.\n\
             # TYPE workforce_log_lines_lost_total counter\n\
             workforce_log_lines_lost_total {}\n",
            self.lost_lines.count(),
        );
        text.push_str(&self.disk_space.render());
        text
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
    use super::*;

    #[test]
    fn what_was_lost_and_what_is_short_is_counted() {
        let vitals = Vitals::new(100);
        vitals.lost_lines.add(3);
        vitals.disk_space.see(StorageArea::Data, 7);
        let text = vitals.render();
        for line in [
            "workforce_log_lines_lost_total 3\n",
            "workforce_storage_free_bytes{place=\"data\"} 7\n",
            "workforce_storage_short 1\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
