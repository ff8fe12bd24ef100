use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep, timeout};

use super::identity::ProcessIdentity;
use super::mark::Mark;
use super::process_scan::{Member, Scan, Stopped, catch_newborn, scan};
use super::stat::ProcStat;
use crate::environment::RunTag;

const FIRST_POLL: Duration = Duration::from_millis(2);
const LONGEST_POLL: Duration = Duration::from_millis(50);
/// Processes that are left after this time sleep in the kernel or belong to
/// another user.
const KILL_BOUND: Duration = Duration::from_secs(10);
/// After this time the stopped processes are killed, although more are born.
const FREEZE_BOUND: Duration = Duration::from_secs(1);

/// The processes of a run.
///
/// For its guard these are its descendants. For a server whose guard is gone, they
/// are those of the program's group and session, and every process whose
/// environment carries the run's tag, wherever it went. Group and session count
/// only while they are proven to be the run's own: by the guard, or by a tagged
/// member. So a process that was given a used id later is never touched.
#[derive(Clone, Debug)]
pub struct ProcessGroup {
    identity: ProcessIdentity,
    mark: Mark,
}

impl ProcessGroup {
    /// The processes of a run that is on record.
    #[must_use]
    pub const fn new(identity: ProcessIdentity, tag: RunTag) -> Self {
        let mark = Mark::Tag(tag);
        Self { identity, mark }
    }

    /// What this process, the guard of a run, is the ancestor of.
    pub(crate) const fn of_guard(identity: ProcessIdentity) -> Self {
        let mark = Mark::Descent { from: identity.pid };
        Self { identity, mark }
    }

    /// The leader as it was recorded.
    #[must_use]
    pub const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Asks every member to end (`SIGTERM`).
    ///
    /// # Errors
    ///
    /// The process table cannot be read, or a member cannot be signalled.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::SIGTERM)
    }

    /// Stops every member, so that none can start another, and ends them all
    /// (`SIGKILL`).
    ///
    /// # Errors
    ///
    /// The process table cannot be read, or a member cannot be signalled.
    pub fn kill(&self) -> io::Result<()> {
        self.freeze()?;
        self.signal(Signal::SIGKILL)
    }

    /// True when no member executes any more, not even one that was born during
    /// the look. Zombies are no members.
    ///
    /// # Errors
    ///
    /// The process table cannot be read.
    pub fn is_empty(&self) -> io::Result<bool> {
        // The second scan is for kernels that do not tell of births.
        for _ in 0..2 {
            let scan = self.scan(None)?;
            if !scan.is_complete || !scan.members.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the group: `SIGTERM`, up to `grace` for the members to go, then
    /// `SIGKILL` again and again until none is left. Returns whether none is;
    /// that can only be `false` for members that the kernel does not let go or
    /// that belong to another user.
    pub async fn end(&self, grace: Duration) -> bool {
        if self.is_gone().await {
            return true;
        }
        if !grace.is_zero() {
            self.offload(Self::terminate).await;
            if timeout(grace, self.emptied(false)).await.is_ok() {
                return true;
            }
        }
        let gone = timeout(KILL_BOUND, self.emptied(true)).await.is_ok();
        if !gone {
            tracing::error!(
                pid = self.identity.pid,
                "processes of a run are still there after SIGKILL"
            );
        }
        gone
    }

    async fn emptied(&self, kill: bool) {
        let mut pause = FIRST_POLL;
        loop {
            if kill {
                self.offload(Self::kill).await;
            }
            let before = Instant::now();
            sleep(pause).await;
            if self.is_gone().await {
                return;
            }
            // A scan costs in proportion to the number of processes on the
            // system, so it takes at most a part of the time.
            pause = (pause * 2).min(LONGEST_POLL).max(before.elapsed() / 2);
        }
    }

    async fn is_gone(&self) -> bool {
        let group = self.clone();
        match tokio::task::spawn_blocking(move || group.is_empty()).await {
            Ok(Ok(empty)) => empty,
            Ok(Err(error)) => {
                tracing::error!(%error, "the process table cannot be read");
                false
            }
            Err(_) => false,
        }
    }

    async fn offload(&self, work: impl FnOnce(&Self) -> io::Result<()> + Send + 'static) {
        let group = self.clone();
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || work(&group)).await {
            tracing::warn!(%error, pid = self.identity.pid, "a process of a run was not signalled");
        }
    }

    /// Stops every member it sees (`SIGSTOP`), until none is left that runs. A
    /// process that forks and ends without pause would be gone before it could
    /// be killed.
    fn freeze(&self) -> io::Result<()> {
        let begun = std::time::Instant::now();
        let mut stopped = Stopped::new();
        while begun.elapsed() < FREEZE_BOUND {
            catch_newborn(&self.mark, &mut stopped);
            let known = stopped.len();
            let scan = self.scan(Some(&mut stopped))?;
            // A member that removed the tag is found only by its group or
            // session.
            let unmarked: Vec<Member> = scan
                .members
                .into_iter()
                .filter(|member| stopped.insert((member.pid, member.start_ticks)))
                .collect();
            self.signal_all(&unmarked, Signal::SIGSTOP)?;
            if scan.is_complete && stopped.len() == known {
                return Ok(());
            }
        }
        // Each member that is killed all the same is one less.
        Ok(())
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        self.signal_all(&self.scan(None)?.members, signal)
    }

    fn scan(&self, stopped: Option<&mut Stopped>) -> io::Result<Scan> {
        scan(self.identity, &self.mark, stopped)
    }

    fn signal_all(&self, members: &[Member], signal: Signal) -> io::Result<()> {
        let mut outcome = Ok(());
        let mut note = |result: Result<(), Errno>| match result {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => outcome = Err(error.into()),
        };
        if members.iter().any(|member| member.in_group) {
            note(killpg(Pid::from_raw(self.identity.process_group), signal));
        }
        for member in members.iter().filter(|member| !member.in_group) {
            // Between reading the table and now its id may have changed hands.
            if ProcStat::read(member.pid).is_ok_and(|stat| stat.start_ticks == member.start_ticks) {
                note(kill(Pid::from_raw(member.pid), signal));
            }
        }
        outcome
    }
}
