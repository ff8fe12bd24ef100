use std::time::Duration;

use super::stat::ProcStat;
use crate::environment::RunTag;

/// How often, and how far apart, a process is visited while it changes its
/// program. Only one that waits for a lost disk takes longer.
const SETTLE_READS: u32 = 50;
const SETTLE_PAUSE: Duration = Duration::from_millis(1);
/// Longer lines of descent are not followed.
const GENERATIONS: usize = 4096;

/// By what a process is known to be of a run.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// It descends from the run's guard, which is this process. Nothing can take
    /// that off.
    Descent {
        /// The guard.
        from: i32,
    },
    /// Its environment carries the run's tag.
    Tag(RunTag),
}

impl Mark {
    /// Whether a process carries the mark; one that is changing its program is
    /// waited for.
    pub(super) fn is_on(&self, pid: i32) -> bool {
        let mut was_settled = false;
        for _ in 0..SETTLE_READS {
            if let Some(is_on) = self.is_seen_on(pid) {
                return is_on;
            }
            match ProcStat::read(pid) {
                Ok(stat) if stat.is_between_programs() => std::thread::sleep(SETTLE_PAUSE),
                // It may have settled after its environment was read.
                Ok(_) if !was_settled => was_settled = true,
                Ok(_) | Err(_) => return false,
            }
        }
        false
    }

    /// The same at one look; `None` for a process that cannot be judged now.
    pub(super) fn is_seen_on(&self, pid: i32) -> Option<bool> {
        match self {
            Self::Descent { from } => Some(descends(pid, *from)),
            Self::Tag(tag) => has_tag(tag, pid),
        }
    }
}

/// Whether a process descends from another one that adopts orphans.
fn descends(pid: i32, from: i32) -> bool {
    let mut at = pid;
    for _ in 0..GENERATIONS {
        if at <= 1 {
            return false;
        }
        let Ok(stat) = ProcStat::read(at) else {
            // An ancestor ended meanwhile: its child has another parent now.
            match at == pid {
                true => return false,
                false => at = pid,
            }
            continue;
        };
        if stat.parent == from {
            return true;
        }
        at = stat.parent;
    }
    false
}

/// Whether a process carries a run's tag; `None` for one without any
/// environment.
fn has_tag(tag: &RunTag, pid: i32) -> Option<bool> {
    match std::fs::read(format!("/proc/{pid}/environ")) {
        Ok(environ) if environ.is_empty() => None,
        Ok(environ) => Some(tag.marks(&environ)),
        // Of another user, or gone: neither is ours to find.
        Err(_) => Some(false),
    }
}
