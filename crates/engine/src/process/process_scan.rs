//! Who belongs to a run, found in the process table.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::child_environment::RunTag;
use super::identity::ProcessIdentity;
use super::last_pid::LastPid;
use super::stat::ProcStat;

/// For how long one scan follows those who are born meanwhile.
const FOLLOW_BOUND: Duration = Duration::from_millis(100);
/// A process has its id a moment before it is in the table.
const BIRTH_PAUSE: Duration = Duration::from_micros(200);
/// The hunt for newborn processes ends after the first time without a catch,
/// and after the second in any case.
const CATCH_PAUSE: Duration = Duration::from_millis(5);
const CATCH_BOUND: Duration = Duration::from_millis(500);
/// How far back, among the ids given out last, those of processes lie that run
/// right now, and those of processes that wait for a processor.
const RUNNING: i32 = 8;
const WAITING: i32 = 512;
/// How often the running ones are visited for each visit of the waiting ones.
const ROUNDS: u32 = 64;
/// How often, and how far apart, a process is visited while it changes its
/// program. Only one that waits for a lost disk takes longer.
const SETTLE_READS: u32 = 50;
const SETTLE_PAUSE: Duration = Duration::from_millis(1);

/// A process that executes as a part of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) start_ticks: i64,
    pub(super) in_group: bool,
}

/// Members that were told to stop, by process id and start.
pub(super) type Stopped = HashSet<(i32, i64)>;

/// What a scan of the process table showed.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) members: Vec<Member>,
    /// False when a member may have been missed.
    pub(super) is_complete: bool,
}

/// Goes through the process table for one group.
struct Search<'a> {
    leader: ProcessIdentity,
    tag: &'a RunTag,
    own: i32,
    /// With `Some`, every tagged member that is not listed here yet is told to stop
    /// and is added.
    stopped: Option<&'a mut Stopped>,
    /// Members of the leader's group or session.
    related: Vec<Member>,
    /// Tagged members of neither.
    escaped: Vec<Member>,
    /// Whether the group and session are still the run's: the kernel may have
    /// given the leader's id to another process.
    proven: bool,
}

/// Who belongs to the group of a leader. With `stopped`, tagged members that are not
/// in it are told to stop the moment they are seen, and are added to it.
///
/// The table is not read in one instant: a process that forks and exits without
/// pause may be missing each time a reader gets to its entry. So the scan also
/// looks at every process id given out since it began, until there is no new one.
/// What executes then was seen: it was in the table from the beginning, or was born
/// during the scan. Where the kernel does not tell the last id given out, one pass
/// counts as complete.
pub(super) fn scan(
    leader: ProcessIdentity,
    tag: &RunTag,
    stopped: Option<&mut Stopped>,
) -> io::Result<Scan> {
    let last_pid = LastPid::open();
    let before = last_pid.read();
    let mut search = Search {
        leader,
        tag,
        own: std::process::id().cast_signed(),
        stopped,
        related: Vec::new(),
        escaped: Vec::new(),
        proven: false,
    };
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            search.visit(pid);
        }
    }
    let is_complete = match before {
        Some(before) => search.follow(&last_pid, before),
        None => true,
    };
    Ok(Scan {
        members: search.members(),
        is_complete,
    })
}

/// Stops the processes that were born last, for as long as more are found: where
/// a process forks and ends without pause, only its newest child is still
/// there. Members are told to stop and are added to `stopped`.
pub(super) fn catch_newborn(tag: &RunTag, stopped: &mut Stopped) {
    let last_pid = LastPid::open();
    let begun = Instant::now();
    let mut caught_at = begun;
    while caught_at.elapsed() < CATCH_PAUSE && begun.elapsed() < CATCH_BOUND {
        // Those that wait for a processor lie further back.
        let mut is_caught = stop_youngest(tag, &last_pid, WAITING, stopped);
        for _ in 0..ROUNDS {
            is_caught |= stop_youngest(tag, &last_pid, RUNNING, stopped);
        }
        if is_caught {
            caught_at = Instant::now();
        }
    }
}

/// Tells the members among the `count` youngest to stop; true when one of them
/// had not been told before.
fn stop_youngest(tag: &RunTag, last_pid: &LastPid, count: i32, stopped: &mut Stopped) -> bool {
    let Some(last) = last_pid.read() else {
        return false;
    };
    let known = stopped.len();
    for pid in (last.saturating_sub(count).max(1)..=last).rev() {
        if has_tag(tag, pid).is_some_and(|has| has)
            && let Ok(stat) = ProcStat::read(pid)
            && stopped.insert((pid, stat.start_ticks))
        {
            stop(pid);
        }
    }
    stopped.len() > known
}

fn stop(pid: i32) {
    // Gone is as good as stopped.
    let _ = kill(Pid::from_raw(pid), Signal::SIGSTOP);
}

impl Search<'_> {
    /// Visits every process born after `seen`; true when it caught up with them.
    fn follow(&mut self, last_pid: &LastPid, mut seen: i32) -> bool {
        let begun = Instant::now();
        let mut unseen = Vec::new();
        while begun.elapsed() < FOLLOW_BOUND {
            match last_pid.read() {
                Some(last) if last == seen && unseen.is_empty() => return true,
                Some(last) if last == seen => {
                    std::thread::sleep(BIRTH_PAUSE);
                    for pid in unseen.drain(..) {
                        self.visit(pid);
                    }
                }
                Some(last) if last > seen => {
                    unseen.extend((seen + 1..=last).filter(|&pid| !self.visit(pid)));
                    seen = last;
                }
                // The kernel began anew with low ids.
                Some(_) | None => return false,
            }
        }
        false
    }

    /// Visits the process with this id; true when there is one.
    fn visit(&mut self, pid: i32) -> bool {
        if pid == self.own {
            return true;
        }
        // A process that ended meanwhile is no member.
        let Ok(stat) = ProcStat::read(pid) else {
            return false;
        };
        let leader = self.leader;
        self.proven |= pid == leader.pid && stat.start_ticks == leader.start_ticks;
        // Whatever the leader started is not older than the leader.
        if !stat.is_live() || stat.start_ticks < leader.start_ticks {
            return true;
        }
        let member = Member {
            pid,
            start_ticks: stat.start_ticks,
            in_group: stat.group == leader.process_group,
        };
        if member.in_group || stat.session == leader.process_group {
            if !self.proven || self.stopped.is_some() {
                self.proven |= self.is_tagged(&member);
            }
            self.related.push(member);
        } else if self.is_tagged(&member) {
            self.escaped.push(member);
        }
        true
    }

    fn is_tagged(&mut self, member: &Member) -> bool {
        let is_tagged = is_tagged(self.tag, member.pid);
        if is_tagged
            && let Some(stopped) = &mut self.stopped
            && stopped.insert((member.pid, member.start_ticks))
        {
            stop(member.pid);
        }
        is_tagged
    }

    fn members(self) -> Vec<Member> {
        let mut members = self.escaped;
        if self.proven && self.leader.process_group > 1 {
            members.extend(self.related);
        }
        members
    }
}

fn is_tagged(tag: &RunTag, pid: i32) -> bool {
    let mut was_settled = false;
    for _ in 0..SETTLE_READS {
        if let Some(has_tag) = has_tag(tag, pid) {
            return has_tag;
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

/// Whether a process carries the run's tag; `None` for one without any
/// environment.
fn has_tag(tag: &RunTag, pid: i32) -> Option<bool> {
    match std::fs::read(format!("/proc/{pid}/environ")) {
        Ok(environ) if environ.is_empty() => None,
        Ok(environ) => Some(tag.marks(&environ)),
        // Of another user, or gone: neither is ours to find.
        Err(_) => Some(false),
    }
}
