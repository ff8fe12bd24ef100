#![expect(
    unsafe_code,
    reason = "the safe wrapper of `waitpid` refuses signals that it has no name for"
)]

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::errno::Errno;
use nix::libc;

use crate::protocol::Exit;

/// What became of the children of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collected {
    /// This child has ended, and its id is free.
    Child(i32, Exit),
    /// None has ended.
    Nothing,
    /// There is none.
    NoChild,
}

/// Collects a child that has ended, without waiting for one.
pub(crate) fn collect() -> Collected {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a place for one number, and nothing is kept of it.
        let collected = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        match collected {
            0 => return Collected::Nothing,
            pid if pid > 0 => return Collected::Child(pid, ExitStatus::from_raw(status).into()),
            _ if Errno::last() == Errno::EINTR => {}
            _ => return Collected::NoChild,
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
