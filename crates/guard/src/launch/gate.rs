//! The gate between a forked process and its program.
#![expect(
    unsafe_code,
    reason = "`fork` and `dup2` to a given number have no safe wrapper"
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
use nix::unistd::{ForkResult, Pid, chdir, execve, getppid, setsid};

use super::ProgramImage;
use super::descriptors::close_all_but;
use super::signals::usual_signals;
use crate::containment::{Containment, restrict};
use crate::first_process::exit_with;

const OPEN: u8 = 1;
/// No error has this number.
const READY: i32 = 0;
/// The exit code of a process that never executed anything; nobody sees it.
const NOT_EXECUTED: i32 = 127;

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
            exit_with(NOT_EXECUTED)
        }
    }
}

/// The guard's side of a gate. When it is dropped unopened, the process ends
/// without having executed anything.
#[derive(Debug)]
pub(super) struct Gate {
    key: PipeWriter,
    reports: PipeReader,
}

impl Gate {
    /// Waits until the process stands at the gate.
    ///
    /// # Errors
    ///
    /// Why it does not get there.
    pub(super) fn wait_until_ready(&mut self) -> io::Result<()> {
        report(&mut self.reports)
    }

    /// Opens the gate and waits until the process became its program, or ended.
    ///
    /// # Errors
    ///
    /// Why the program could not be executed.
    pub(super) fn open(mut self) -> io::Result<()> {
        // Fails only when the process is dead already, which its end will tell.
        let _ = self.key.write_all(&[OPEN]);
        let Self { key, mut reports } = self;
        drop(key);
        match report(&mut reports) {
            // The kernel closed it on executing the program.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            told => told,
        }
    }
}

fn report(reports: &mut PipeReader) -> io::Result<()> {
    let mut code = [0; size_of::<i32>()];
    reports.read_exact(&mut code)?;
    match i32::from_ne_bytes(code) {
        READY => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// The process's side of a gate.
#[derive(Debug)]
pub(super) struct GateKey {
    gate: PipeReader,
    report: PipeWriter,
}

/// What a process at the gate becomes.
pub(super) struct Program<'a> {
    /// The process that starts it, by the number that it has for the program.
    pub(super) parent: Pid,
    pub(super) cwd: &'a Path,
    pub(super) streams: [BorrowedFd<'a>; 3],
    pub(super) image: &'a ProgramImage,
    pub(super) containment: &'a Containment,
}

impl GateKey {
    /// Both sides of a new gate.
    pub(super) fn new() -> io::Result<(Gate, Self)> {
        let (gate, key) = io::pipe()?;
        let (report_reader, report) = io::pipe()?;
        let waiting = Self { gate, report };
        let gate = Gate {
            key,
            reports: report_reader,
        };
        Ok((gate, waiting))
    }

    /// Tells why the process does not become the program.
    pub(super) fn refuse(&self, error: &io::Error) {
        self.tell(error.raw_os_error().unwrap_or(libc::EPERM));
    }

    fn tell(&self, code: i32) {
        let _ = (&self.report).write_all(&code.to_ne_bytes());
    }

    /// Waits at the gate and becomes the program.
    ///
    /// The process leads a session of its own, is killed when its parent ends, and
    /// keeps no file open but its three streams.
    pub(super) fn wait_and_execute(&self, program: &Program<'_>, is_root_here: bool) -> ! {
        let Err(refusal) = self.pass(program, is_root_here);
        self.refuse(&refusal);
        exit_with(NOT_EXECUTED)
    }

    fn pass(&self, program: &Program<'_>, is_root_here: bool) -> io::Result<Infallible> {
        setsid()?;
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The signal comes only for a death after it was asked for.
        if getppid() != program.parent {
            return Err(Errno::ESRCH.into());
        }
        usual_signals()?;
        chdir(program.cwd)?;
        restrict(program.containment, is_root_here)?;
        use_streams(program.streams)?;
        close_all_but(&[self.gate.as_raw_fd(), self.report.as_raw_fd()]);
        self.tell(READY);
        if !self.is_opened() {
            exit_with(NOT_EXECUTED);
        }
        let image = program.image;
        Ok(execve(&image.file, &image.arguments, &image.variables)?)
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
