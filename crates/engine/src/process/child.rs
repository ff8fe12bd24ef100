use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use tokio::sync::oneshot;

use super::child_environment::RunTag;
use super::group::ProcessGroup;
use super::identity::ProcessIdentity;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended itself with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(status.into_raw()),
        }
    }
}

/// How long to wait for the end of a killed child.
const DISCARD_BOUND: Duration = Duration::from_secs(10);

/// A child that executes its program. Dropping it kills its whole group.
///
/// While this value lives the leader is not reaped, so its process id, and
/// with it the id of its group, cannot come to name anything else.
#[derive(Debug)]
pub struct Child {
    group: ProcessGroup,
    pub(super) input: Option<Vec<u8>>,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    exited: Option<oneshot::Receiver<()>>,
    /// Gone unused, it tells the keeper to end the whole group.
    reap: Option<oneshot::Sender<()>>,
    status: oneshot::Receiver<io::Result<ExitStatus>>,
}

impl Child {
    /// The leader as it was recorded.
    #[must_use]
    pub const fn identity(&self) -> ProcessIdentity {
        self.group.identity()
    }

    /// The leader and everything it started.
    #[must_use]
    pub const fn group(&self) -> &ProcessGroup {
        &self.group
    }

    /// Waits until the leader has ended, for whatever cause.
    pub(super) async fn exited(&mut self) {
        if let Some(exited) = self.exited.as_mut() {
            // The keeper ends only after the leader.
            let _ = exited.await;
            self.exited = None;
        }
    }

    /// Collects the leader's status, which frees its process id. `None` when the
    /// leader does not end within the bound; it is then collected whenever it
    /// ends.
    pub(super) async fn reap(mut self, bound: Duration) -> Option<Exit> {
        if let Some(reap) = self.reap.take() {
            let _ = reap.send(());
        }
        match tokio::time::timeout(bound, &mut self.status).await {
            Ok(Ok(Ok(status))) => Some(status.into()),
            Ok(Ok(Err(error))) => {
                tracing::error!(%error, pid = self.identity().pid, "no status of an ended child");
                None
            }
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// Ends a child that executed nothing, and waits until it is reaped.
    pub(super) async fn discard(self) {
        // Unreaped, so the id is still its own.
        let _ = kill(Pid::from_raw(self.identity().pid), Signal::SIGKILL);
        self.reap(DISCARD_BOUND).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.reap.is_some() {
            // The rest is the keeper's, which cannot go on before the leader
            // ended. The leader is unreaped, so the id is still its own.
            let _ = killpg(
                Pid::from_raw(self.identity().process_group),
                Signal::SIGKILL,
            );
        }
    }
}

/// Starts a command with a gate and stays with the child until it is reaped.
/// To be run on a thread of its own that runs nothing else: the kernel kills
/// the child when the thread that forked it ends.
pub(super) fn keep(
    mut command: Command,
    tag: RunTag,
    input: Option<Vec<u8>>,
    started: oneshot::Sender<io::Result<Child>>,
) {
    let spawned = command.spawn();
    // It holds the child's ends of the gate's pipes.
    drop(command);
    let mut process = match spawned {
        Ok(process) => process,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let pid = process.id().cast_signed();
    let identity = match ProcessIdentity::of(pid) {
        Ok(identity) => identity,
        Err(error) => {
            let _ = process.kill();
            let _ = process.wait();
            let _ = started.send(Err(error));
            return;
        }
    };
    let (exited_sender, exited) = oneshot::channel();
    let (reap, reap_receiver) = oneshot::channel();
    let (status_sender, status) = oneshot::channel();
    let group = ProcessGroup::new(identity, tag);
    let child = Child {
        group: group.clone(),
        input,
        stdin: process.stdin.take(),
        stdout: process.stdout.take(),
        stderr: process.stderr.take(),
        exited: Some(exited),
        reap: Some(reap),
        status,
    };
    // If nobody waits for it any more, the child comes back, and dropping it
    // kills it.
    drop(started.send(Ok(child)));
    wait_unreaped(pid);
    let _ = exited_sender.send(());
    if reap_receiver.blocking_recv().is_err() {
        group.kill_blocking();
    }
    let _ = status_sender.send(process.wait());
}

/// Waits for the end of a child and leaves it as a zombie.
fn wait_unreaped(pid: i32) {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    // Any other error comes from a status that the wrapper has no name for
    // (a real-time signal): the child has ended all the same.
    while waitid(Id::Pid(Pid::from_raw(pid)), flags) == Err(Errno::EINTR) {}
}
