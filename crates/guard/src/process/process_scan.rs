//! Who belongs to a run, found in the process table.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::identity::ProcessIdentity;
use super::last_pid::LastPid;
use super::mark::Mark;
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
    mark: &'a Mark,
    own: i32,
    /// With `Some`, every marked member that is not listed here yet is told to stop
    /// and is added.
    stopped: Option<&'a mut Stopped>,
    /// Members of the leader's group or session, where the mark may be missing.
    related: Vec<Member>,
    /// Marked members, beside those.
    marked: Vec<Member>,
    /// Whether the group and session are still the run's: the kernel may have
    /// given the leader's id to another process.
    proven: bool,
}

/// Who belongs to the group of a leader. With `stopped`, marked members that are not
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
    mark: &Mark,
    stopped: Option<&mut Stopped>,
) -> io::Result<Scan> {
    let last_pid = LastPid::open();
    let before = last_pid.read();
    let mut search = Search {
        leader,
        mark,
        own: std::process::id().cast_signed(),
        stopped,
        related: Vec::new(),
        marked: Vec::new(),
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
pub(super) fn catch_newborn(mark: &Mark, stopped: &mut Stopped) {
    let last_pid = LastPid::open();
    let begun = Instant::now();
    let mut caught_at = begun;
    while caught_at.elapsed() < CATCH_PAUSE && begun.elapsed() < CATCH_BOUND {
        // Those that wait for a processor lie further back.
        let mut is_caught = stop_youngest(mark, &last_pid, WAITING, stopped);
        for _ in 0..ROUNDS {
            is_caught |= stop_youngest(mark, &last_pid, RUNNING, stopped);
        }
        if is_caught {
            caught_at = Instant::now();
        }
    }
}

/// Tells the members among the `count` youngest to stop; true when one of them
/// had not been told before.
fn stop_youngest(mark: &Mark, last_pid: &LastPid, count: i32, stopped: &mut Stopped) -> bool {
    let Some(last) = last_pid.read() else {
        return false;
    };
    let known = stopped.len();
    for pid in (last.saturating_sub(count).max(1)..=last).rev() {
        if mark.is_seen_on(pid).is_some_and(|is_on| is_on)
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
        let is_related = member.in_group || stat.session == leader.process_group;
        if is_related && matches!(self.mark, Mark::Tag(_)) {
            if !self.proven || self.stopped.is_some() {
                self.proven |= self.is_marked(&member);
            }
            self.related.push(member);
        } else if self.is_marked(&member) {
            self.marked.push(member);
        }
        true
    }

    fn is_marked(&mut self, member: &Member) -> bool {
        let is_marked = self.mark.is_on(member.pid);
        if is_marked
            && let Some(stopped) = &mut self.stopped
            && stopped.insert((member.pid, member.start_ticks))
        {
            stop(member.pid);
        }
        is_marked
    }

    fn members(self) -> Vec<Member> {
        let mut members = self.marked;
        if self.proven && self.leader.process_group > 1 {
            members.extend(self.related);
        }
        members
    }
}
