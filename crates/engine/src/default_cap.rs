//! How many runs a server has live at once unless its operator says it
//! (docs/operations.md#what-keeps-agents-in-check).

use std::fs;
use std::path::Path;

/// Agents wait for their model most of the time.
const PER_CORE: usize = 4;
/// Also a small computer waits for so many.
const FEWEST: usize = 8;
/// What an agent program takes at its peak, in bytes: between 120 MB (pi) and
/// 800 MB (Gemini CLI, opencode).
const PEAK: u64 = 512 << 20;
/// What is left to everything else, in bytes.
const SPARED: u64 = 512 << 20;

/// The cap that suits this computer, or the part of it that the server may use.
pub(crate) fn default_cap() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cap(cores, memory())
}

/// Enough runs to keep the cores busy, as far as they fit into the memory.
fn cap(cores: usize, memory: Option<u64>) -> usize {
    let wanted = cores.saturating_mul(PER_CORE).max(FEWEST);
    let Some(memory) = memory else {
        return wanted;
    };
    let fitting = memory.saturating_sub(SPARED) / PEAK;
    usize::try_from(fitting).map_or(wanted, |fitting| wanted.min(fitting.max(1)))
}

/// Bytes of memory that the server and its runs may use.
fn memory() -> Option<u64> {
    let of_computer = fs::read_to_string("/proc/meminfo").ok();
    let of_computer = of_computer.as_deref().and_then(total);
    of_computer.into_iter().chain(limit()).min()
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The limit of the server's control group, where there is one.
fn limit() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let file = Path::new("/sys/fs/cgroup").join(own).join("memory.max");
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn agents_that_wait_leave_the_cores_to_others() {
        assert_eq!(cap(1, Some(64 * GIB)), 8);
        assert_eq!(cap(2, None), 8);
        assert_eq!(cap(16, Some(64 * GIB)), 64);
    }

    #[test]
    fn a_small_memory_has_few_runs_and_at_least_one() {
        assert_eq!(cap(8, Some(2 * GIB)), 3);
        assert_eq!(cap(8, Some(4 * GIB)), 7);
        assert_eq!(cap(8, Some(GIB / 4)), 1);
    }

    #[test]
    fn the_memory_of_a_computer_is_told_in_kib() {
        let told = "MemTotal:       24567890 kB\nMemFree:  1 kB\n";
        assert_eq!(total(told), Some(24_567_890 * 1024));
        assert_eq!(total("MemTotal: many\n"), None);
        assert!(memory().is_some());
    }
}
