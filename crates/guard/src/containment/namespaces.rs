#![expect(unsafe_code, reason = "`clone` without a stack has no safe wrapper")]

use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;

/// The result of a fork.
pub(crate) enum Forked {
    /// In the process that forked: the id of the copy.
    Parent(i32),
    /// In the copy.
    Copy,
}

/// Forks into a PID namespace, a mount namespace and a UTS namespace of its own. The
/// copy is the first process there: when it ends, the kernel ends all others. Root needs
/// no user namespace for that; everybody else is root in a new one.
///
/// # Errors
///
/// The kernel does not allow it.
pub(crate) fn fork() -> io::Result<Forked> {
    let mut flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS;
    if !geteuid().is_root() {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    // SAFETY: without `CLONE_VM` and with no stack it is a fork. The guard has one
    // thread at this point, so the copy may run any code.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            i64::from(flags.bits() | libc::SIGCHLD),
            0,
            0,
            0,
            0,
        )
    };
    match Errno::result(pid)? {
        0 => Ok(Forked::Copy),
        pid => Ok(Forked::Parent(
            i32::try_from(pid).map_err(io::Error::other)?,
        )),
    }
}

/// Leaves the rights of root outside behind: in a user namespace and a mount
/// namespace of its own the mounts of the guard are locked, whoever is root there.
/// The maps are then to be written by the parent.
///
/// # Errors
///
/// The kernel does not allow it.
pub(crate) fn leave_mounts_locked() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    Ok(())
}
