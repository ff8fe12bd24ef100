//! The gate between a forked process and its program.
#![expect(
    unsafe_code,
    reason = "`fork`, `dup2` to a given number and `_exit` have no safe wrapper"
)]

use std::convert::Infallible;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, chdir, execve, getpid, getppid, setsid};

use super::ProgramImage;
use super::descriptors::close_all_but;
use super::signals::usual_signals;

const OPEN: u8 = 1;
/// The exit code of a process that never executed anything; nobody sees it.
const NOT_EXECUTED: i32 = 127;
/// Programs of agents are ended before the servers when memory runs out.
const OOM_SCORE: &str = "500";

/// Forks. The copy runs `body`, which does not return, and nothing else.
///
/// # Errors
///
/// The system makes no process.
pub(super) fn fork(body: impl FnOnce() -> Infallible) -> io::Result<i32> {
    // SAFETY: the guard has one thread at this point, so the copy may run any
    // code: no lock can be held by a thread that it does not have.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child.as_raw()),
        ForkResult::Child => {
            // A panic must not unwind into the copy of the guard's own code.
            let _ = catch_unwind(AssertUnwindSafe(body));
            exit()
        }
    }
}

fn exit() -> ! {
    // SAFETY: ends the process without running anything else of the guard's.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

/// The guard's side of a gate. When it is dropped unopened, the process ends
/// without having executed anything.
#[derive(Debug)]
pub(super) struct Gate {
    key: PipeWriter,
    report: PipeReader,
}

impl Gate {
    /// Opens the gate and waits until the process became its program, or ended.
    ///
    /// # Errors
    ///
    /// Why the program could not be executed.
    pub(super) fn open(mut self) -> io::Result<()> {
        // Fails only when the process is dead already, which its end will tell.
        let _ = self.key.write_all(&[OPEN]);
        drop(self.key);
        let mut refusal = [0; size_of::<i32>()];
        match self.report.read_exact(&mut refusal) {
            Ok(()) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(refusal))),
            // The kernel closed it on executing the program.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The process's side of a gate.
#[derive(Debug)]
pub(super) struct GateKey {
    gate: PipeReader,
    report: PipeWriter,
    guard: Pid,
}

impl GateKey {
    /// Both sides of a new gate.
    pub(super) fn new() -> io::Result<(Gate, Self)> {
        let (gate, key) = io::pipe()?;
        let (report_reader, report) = io::pipe()?;
        let guard = getpid();
        let waiting = Self {
            gate,
            report,
            guard,
        };
        let gate = Gate {
            key,
            report: report_reader,
        };
        Ok((gate, waiting))
    }

    /// Waits at the gate and becomes the program.
    ///
    /// The process leads a session of its own, is killed when the guard ends, and
    /// keeps no file open but its three streams.
    pub(super) fn wait_and_execute(
        &self,
        cwd: &Path,
        streams: [BorrowedFd<'_>; 3],
        image: &ProgramImage,
    ) -> Infallible {
        let Err(refusal) = self.pass(cwd, streams, image);
        let _ = (&self.report).write_all(&(refusal as i32).to_ne_bytes());
        exit()
    }

    fn pass(
        &self,
        cwd: &Path,
        streams: [BorrowedFd<'_>; 3],
        image: &ProgramImage,
    ) -> Result<Infallible, Errno> {
        setsid()?;
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The signal comes only for a death after it was asked for.
        if getppid() != self.guard {
            return Err(Errno::ESRCH);
        }
        usual_signals()?;
        // Where it is not allowed, the kernel chooses without it.
        let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
        chdir(cwd)?;
        use_streams(streams)?;
        close_all_but(self.gate.as_raw_fd(), self.report.as_raw_fd());
        if !self.is_opened() {
            exit();
        }
        execve(&image.file, &image.arguments, &image.variables)
    }

    fn is_opened(&self) -> bool {
        let mut answer = [0];
        loop {
            match (&self.gate).read(&mut answer) {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                outcome => return matches!(outcome, Ok(1)) && answer == [OPEN],
            }
        }
    }
}

/// Puts the streams in their places.
fn use_streams(streams: [BorrowedFd<'_>; 3]) -> Result<(), Errno> {
    // The guard's own streams are open, so none of these has such a number.
    for (stream, number) in streams.iter().zip(0..) {
        // SAFETY: takes plain numbers; what was open under them is not used again.
        Errno::result(unsafe { libc::dup2(stream.as_raw_fd(), number) })?;
    }
    Ok(())
}
