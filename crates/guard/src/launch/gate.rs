//! The gate between a forked process and its program.
#![expect(
    unsafe_code,
    reason = "`fork` and `dup2` to a given number have no safe wrapper"
)]

use std::convert::Infallible;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, execve, getppid, setsid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::descriptors::close_all_but;
use super::error::LaunchError;
use super::signals::usual_signals;
use super::{ProgramImage, home, program};
use crate::cgroup::RunCgroup;
use crate::containment::{Rules, leave_session_keyring};
use crate::first_process::exit_with;
use crate::protocol::Start;
use crate::resource_limits::ProcessLimits;

const OPEN: u8 = 1;
/// The exit code of a process that never executed anything; nobody sees it.
const NOT_EXECUTED: i32 = 127;

/// Forks. The copy runs `body`, which does not return, and nothing else.
///
/// # Errors
///
/// The system makes no process.
pub(crate) fn fork(body: impl FnOnce() -> Infallible) -> io::Result<i32> {
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
    /// Waits until the process stands at the gate, and gives what it tells: nothing, or
    /// the [`Survey`](crate::survey::Survey) that it was asked for.
    ///
    /// # Errors
    ///
    /// Why it does not get there.
    pub(super) fn wait_until_ready<T: DeserializeOwned>(
        &mut self,
        start: &Start,
    ) -> Result<T, LaunchError> {
        let told = report(&mut self.reports);
        let told = told.map_err(|error| LaunchError::of_process(start, &error))?;
        let ended = || LaunchError::of_process(start, &io::ErrorKind::UnexpectedEof.into());
        told.unwrap_or_else(|| Err(ended()))
    }

    /// Opens the gate and waits until the process became its program, or ended.
    ///
    /// # Errors
    ///
    /// Why the program could not be executed.
    pub(super) fn open(mut self, start: &Start) -> Result<(), LaunchError> {
        // Fails only when the process is dead already, which its end will tell.
        let _ = self.key.write_all(&[OPEN]);
        let Self { key, mut reports } = self;
        drop(key);
        let told = report(&mut reports);
        let told = told.map_err(|error| LaunchError::of_process(start, &error))?;
        // The kernel closed it on executing the program.
        told.unwrap_or(Ok(()))
    }
}

/// The next report, which is one line; `None` when there is none any more.
fn report<T: DeserializeOwned>(
    reports: &mut PipeReader,
) -> io::Result<Option<Result<T, LaunchError>>> {
    let mut line = Vec::new();
    let mut read = [0; 4096];
    while line.last() != Some(&b'\n') {
        match reports.read(&mut read) {
            Ok(0) => return Ok(None),
            Ok(len) => line.extend_from_slice(&read[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

/// The process's side of a gate.
#[derive(Debug)]
pub(super) struct GateKey {
    gate: PipeReader,
    report: PipeWriter,
}

/// What a process at the gate becomes.
pub(super) struct Program<'a> {
    pub(super) start: &'a Start,
    /// The process that starts it, by the number that it has for the program.
    pub(super) parent: Pid,
    pub(super) streams: [BorrowedFd<'a>; 3],
    pub(super) image: &'a ProgramImage,
    pub(super) cgroup: Option<&'a RunCgroup>,
    pub(super) limits: ProcessLimits,
    /// Files to look for instead of becoming the program.
    pub(super) surveyed: Option<&'a [PathBuf]>,
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
    pub(super) fn refuse(&self, error: LaunchError) {
        self.tell::<()>(&Err(error));
    }

    fn tell<T: Serialize>(&self, told: &Result<T, LaunchError>) {
        let mut line = serde_json::to_vec(told).unwrap_or_default();
        line.push(b'\n');
        let _ = (&self.report).write_all(&line);
    }

    /// Waits at the gate and becomes the program.
    ///
    /// The process leads a session of its own, is killed when its parent ends, and
    /// keeps no file open but its three streams.
    pub(super) fn wait_and_execute(&self, program: &Program<'_>, is_root_here: bool) -> ! {
        let Err(refusal) = self.pass(program, is_root_here);
        self.refuse(refusal);
        exit_with(NOT_EXECUTED)
    }

    fn pass(&self, program: &Program<'_>, is_root_here: bool) -> Result<Infallible, LaunchError> {
        let Program { start, image, .. } = program;
        let failed = |error: io::Error| LaunchError::of_process(start, &error);
        let stays_root = is_root_here && start.containment.run_as.is_none();
        setsid().map_err(|error| failed(error.into()))?;
        program
            .cgroup
            .map_or(Ok(()), RunCgroup::enter)
            .map_err(failed)?;
        // Of paths that another user may not reach, too.
        let rules = Rules::of(&start.containment).map_err(failed)?;
        become_user(program).map_err(failed)?;
        if start.containment.is_any() {
            leave_session_keyring().map_err(|error| failed(error.into()))?;
        }
        // As whoever the program is, and with no more rights: its home is its own,
        // and links in there lead where they like.
        home::write(start)?;
        let restricted = rules.restrict(&start.containment, stays_root);
        restricted.map_err(failed)?;
        if let Some(files) = program.surveyed {
            self.tell(&Ok(program::survey(start, files)));
            exit_with(NOT_EXECUTED);
        }
        program::enter_directory(start)?;
        let file = program::find(start)?;
        program.limits.apply(stays_root).map_err(failed)?;
        use_streams(program.streams).map_err(|error| failed(error.into()))?;
        close_all_but(&[self.gate.as_raw_fd(), self.report.as_raw_fd()]);
        self.tell(&Ok(()));
        if !self.is_opened() {
            exit_with(NOT_EXECUTED);
        }
        let Err(error) = execve(&file, &image.arguments, &image.variables);
        Err(LaunchError::Exec {
            program: start.named(),
            cwd: start.cwd.clone(),
            cause: io::Error::from(error).to_string(),
        })
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

/// Becomes whoever the program is, as a process that ends with its parent.
fn become_user(program: &Program<'_>) -> io::Result<()> {
    usual_signals()?;
    if let Some(run_as) = &program.start.containment.run_as {
        run_as.become_user()?;
    }
    // A change of user would take it off.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The signal comes only for a death after it was asked for.
    if getppid() != program.parent {
        return Err(Errno::ESRCH.into());
    }
    Ok(())
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
