#![expect(
    unsafe_code,
    reason = "the safe wrapper of `waitpid` refuses signals that it has no name for"
)]

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::errno::Errno;
use nix::libc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::protocol::Exit;

/// What the guard knows of the processes of its run. It is the ancestor of all of
/// them: one whose parent ends becomes its child. So when it has no child, none of
/// them is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Family {
    /// How the program itself ended, once it has.
    pub(super) program: Option<Exit>,
    /// Whether nothing of the run is left.
    pub(super) is_gone: bool,
}

/// Collects the guard's children as they end.
#[derive(Debug)]
pub(super) struct Reaper {
    program: i32,
    ends: Signal,
    family: watch::Sender<Family>,
}

impl Reaper {
    /// A reaper of the program with this process id and of all that it starts.
    ///
    /// # Errors
    ///
    /// The ends of children cannot be waited for.
    pub(super) fn new(program: i32) -> std::io::Result<Self> {
        Ok(Self {
            program,
            ends: signal(SignalKind::child())?,
            family: watch::Sender::new(Family::default()),
        })
    }

    /// Tells of every end.
    pub(super) fn family(&self) -> watch::Receiver<Family> {
        self.family.subscribe()
    }

    /// Collects until none is left.
    pub(super) async fn run(mut self) {
        loop {
            let family = self.collect();
            self.family.send_replace(family);
            if family.is_gone {
                return;
            }
            self.ends.recv().await;
        }
    }

    /// Collects every child that has ended.
    fn collect(&self) -> Family {
        let mut family = *self.family.borrow();
        loop {
            let mut status = 0;
            // SAFETY: `status` is a place for one number, and nothing is kept of it.
            let collected = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            match collected {
                0 => return family,
                pid if pid > 0 => {
                    if pid == self.program {
                        family.program = Some(ExitStatus::from_raw(status).into());
                    }
                }
                _ if Errno::last() == Errno::EINTR => {}
                // There is no child.
                _ => {
                    family.is_gone = true;
                    return family;
                }
            }
        }
    }
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
