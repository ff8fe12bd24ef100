//! The first process of a PID namespace, in which a run lives. When it ends, the
//! kernel ends everything in there at once, also what forks without pause.
#![expect(unsafe_code, reason = "`_exit` and `fork` have no safe wrapper")]

use std::convert::Infallible;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{ForkResult, Pid, setsid};

use crate::containment::{
    Containment, Forked, fork_in_namespaces, leave_mounts_locked, map_all, map_own, own_ids,
    prepare_mounts,
};
use crate::launch::close_all_but;
use crate::process::{Collected, collect};
use crate::protocol::Exit;

/// Makes all others end politely.
pub(crate) const TERMINATE: u8 = b'T';
/// The exit code of a first process that could not do its work.
const FAILED: i32 = 1;

/// What the guard and a first process say to each other.
pub(crate) struct Pipes {
    /// Orders come from here. When its other end is closed, the process ends.
    pub(crate) orders: PipeReader,
    /// How the program ended is told here.
    pub(crate) status: PipeWriter,
}

/// Starts the first process of new namespaces. It starts `body`, and ends when no
/// other process is left. Gives its process id.
///
/// `body` gets whether it is root in its user namespace, or, in the first process
/// itself, why it is not started. The process ends when it returns.
///
/// # Errors
///
/// The kernel does not allow such namespaces.
pub(crate) fn start(
    containment: &Containment,
    pipes: Option<&Pipes>,
    body: impl Fn(io::Result<bool>),
) -> io::Result<i32> {
    let ids = own_ids();
    match fork_in_namespaces()? {
        Forked::Parent(pid) => Ok(pid),
        Forked::Copy => {
            // A panic must not unwind into the copy of the guard's own code.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let Err(error) = stay(containment, ids, pipes, &body);
                body(Err(error));
            }));
            exit_with(FAILED)
        }
    }
}

/// Ends this process and runs nothing else of the guard's.
pub(crate) fn exit_with(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

fn stay(
    containment: &Containment,
    (user, group): (u32, u32),
    pipes: Option<&Pipes>,
    body: &impl Fn(io::Result<bool>),
) -> io::Result<Infallible> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let is_root_outside = user == 0;
    if !is_root_outside {
        map_own(user, group)?;
    }
    // Nobody in here may look into this process, or trace it.
    prctl::set_dumpable(false)?;
    setsid()?;
    prepare_mounts(containment)?;
    let mut ends = SigSet::empty();
    ends.add(Signal::SIGCHLD);
    ends.thread_block()?;
    let ends = SignalFd::with_flags(&ends, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    let program = start_program(is_root_outside, body)?;
    let mut kept = vec![ends.as_fd().as_raw_fd()];
    if let Some(Pipes { orders, status }) = pipes {
        kept.extend([orders.as_raw_fd(), status.as_raw_fd()]);
    }
    // The program alone holds its streams and its gate.
    close_all_but(&kept);
    watch(program, &ends, pipes)
}

/// Starts `body`. Where the guard is root, the program is root in a namespace of
/// its own only.
fn start_program(is_root_outside: bool, body: &impl Fn(io::Result<bool>)) -> io::Result<i32> {
    let (mut entered, mut has_entered) = io::pipe()?;
    let (mut mapped, mut is_mapped) = io::pipe()?;
    // SAFETY: this process has one thread, so the copy may run any code.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => {
            drop((has_entered, mapped));
            if is_root_outside {
                entered.read_exact(&mut [0])?;
                map_all(child.as_raw())?;
                is_mapped.write_all(&[1])?;
            }
            Ok(child.as_raw())
        }
        ForkResult::Child => {
            drop((entered, is_mapped));
            if is_root_outside {
                leave_mounts_locked()?;
                has_entered.write_all(&[1])?;
                mapped.read_exact(&mut [0])?;
            }
            drop((has_entered, mapped));
            body(Ok(true));
            exit_with(FAILED)
        }
    }
}

fn watch(program: i32, ends: &SignalFd, pipes: Option<&Pipes>) -> io::Result<Infallible> {
    let mut code = 0;
    loop {
        loop {
            match collect() {
                Collected::Child(pid, exit) if pid == program => {
                    code = i32::from(exit != Exit::Code(0));
                    if let Some(Pipes { status, .. }) = pipes {
                        let told = serde_json::to_vec(&exit)?;
                        let _ = (&mut &*status).write_all(&[&told[..], b"\n"].concat());
                    }
                }
                Collected::Child(..) => {}
                Collected::Nothing => break,
                Collected::NoChild => exit_with(code),
            }
        }
        let mut waited = vec![PollFd::new(ends.as_fd(), PollFlags::POLLIN)];
        if let Some(Pipes { orders, .. }) = pipes {
            waited.push(PollFd::new(orders.as_fd(), PollFlags::POLLIN));
        }
        let has_order = match poll(&mut waited, PollTimeout::NONE) {
            Ok(_) => waited
                .get(1)
                .is_some_and(|orders| orders.any() == Some(true)),
            Err(nix::errno::Errno::EINTR) => false,
            Err(error) => return Err(error.into()),
        };
        while let Ok(Some(_)) = ends.read_signal() {}
        if has_order {
            obey(pipes)?;
        }
    }
}

fn obey(pipes: Option<&Pipes>) -> io::Result<()> {
    let mut order = [0];
    let Some(Pipes { orders, .. }) = pipes else {
        return Ok(());
    };
    match (&mut &*orders).read(&mut order)? {
        // The guard is gone.
        0 => exit_with(FAILED),
        _ if order == [TERMINATE] => {
            // All processes in here but this one; none is as good as told.
            let _ = kill(Pid::from_raw(-1), Signal::SIGTERM);
            Ok(())
        }
        _ => Ok(()),
    }
}
