//! The gate between a forked child and its program.
#![expect(
    unsafe_code,
    reason = "holding a child between fork and exec needs `pre_exec` and system calls that have \
              no safe wrapper or one that allocates"
)]

use std::convert::Infallible;
use std::ffi::{CString, NulError, c_char};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid, getppid, setsid};

const OPEN: u8 = 1;
/// The exit code of a child that never executed anything; nobody sees it.
const NOT_EXECUTED: i32 = 127;
/// Up to where descriptors are closed one by one on kernels before 5.9.
const HIGHEST_DESCRIPTOR: i32 = 65_535;

/// Puts a gate before the program. The command must not have a program,
/// arguments or an environment that matter: the child executes `image`,
/// or nothing.
///
/// The child enters a session of its own, asks to be killed when the thread
/// that forked it ends, closes every file but its three streams, and waits.
/// It closes them before it waits, and starting it returns at that point: a
/// pipe of another child that was forked at the same time must not be held
/// open at this gate.
///
/// # Errors
///
/// No pipe could be made.
pub(super) fn install(
    command: &mut Command,
    image: ProgramImage,
) -> io::Result<(GateKey, GateReport)> {
    let (gate, key) = io::pipe()?;
    let (report_reader, report) = io::pipe()?;
    let child = ChildSide {
        gate,
        report,
        server: getpid(),
        image,
    };
    // SAFETY: `ChildSide::pass` runs between fork and exec in a child of a
    // process with many threads. It only makes system calls: it takes no
    // lock, allocates nothing and drops nothing.
    unsafe {
        command.pre_exec(move || match child.pass() {
            Ok(never) => match never {},
            Err(error) => Err(error),
        });
    }
    let report = GateReport {
        reader: report_reader,
    };
    Ok((GateKey { key }, report))
}

/// A program with its arguments and its whole environment, laid out so that a
/// forked child can execute it without allocating.
pub(super) struct ProgramImage {
    file: CString,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    /// Own what `argv` and `envp` point to.
    _texts: [Vec<CString>; 2],
}

// SAFETY: the pointers lead into the heap buffers of the owned strings, which
// nothing changes or moves while this value lives.
unsafe impl Send for ProgramImage {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for ProgramImage {}

impl ProgramImage {
    /// # Errors
    ///
    /// A text contains a NUL byte.
    pub(super) fn new(
        file: Vec<u8>,
        arguments: impl Iterator<Item = Vec<u8>>,
        variables: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Self, NulError> {
        let arguments: Vec<CString> = arguments.map(CString::new).collect::<Result<_, _>>()?;
        let variables: Vec<CString> = variables.map(CString::new).collect::<Result<_, _>>()?;
        let pointers = |texts: &[CString]| {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([ptr::null()])
                .collect()
        };
        Ok(Self {
            file: CString::new(file)?,
            argv: pointers(&arguments),
            envp: pointers(&variables),
            _texts: [arguments, variables],
        })
    }

    /// Becomes the program; returns only when that is refused.
    fn execute(&self) -> Errno {
        // SAFETY: the path and every element of both arrays are NUL-terminated
        // strings that `self` owns, and both arrays end with a null pointer.
        unsafe {
            libc::execve(self.file.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
        }
        Errno::last()
    }
}

struct ChildSide {
    gate: PipeReader,
    report: PipeWriter,
    server: Pid,
    image: ProgramImage,
}

impl ChildSide {
    fn pass(&self) -> io::Result<Infallible> {
        setsid()?;
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The signal comes only for a death after it was asked for.
        if getppid() != self.server {
            return Err(Errno::ESRCH.into());
        }
        // From here on nobody but the report hears of a failure.
        close_all_but(self.gate.as_raw_fd(), self.report.as_raw_fd());
        if self.is_opened() {
            let refusal = self.image.execute();
            let _ = (&self.report).write_all(&(refusal as i32).to_ne_bytes());
        }
        // SAFETY: ends the process without running anything of the server's.
        unsafe { libc::_exit(NOT_EXECUTED) }
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

/// Closes every descriptor above the three streams except two.
fn close_all_but(one: i32, other: i32) {
    let (low, high) = if one < other {
        (one, other)
    } else {
        (other, one)
    };
    close_between(3, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, i32::MAX);
}

fn close_between(first: i32, last: i32) {
    if first > last {
        return;
    }
    // SAFETY: takes plain numbers and touches no memory. The process has one
    // thread and ends or becomes another program without using what it closes.
    let outcome = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if outcome == 0 {
        return;
    }
    for descriptor in first..=last.min(HIGHEST_DESCRIPTOR) {
        // SAFETY: as above.
        unsafe {
            libc::close(descriptor);
        }
    }
}

/// Opens the gate. A key that is dropped unused sends the child away without
/// executing anything.
#[derive(Debug)]
pub(super) struct GateKey {
    key: PipeWriter,
}

impl GateKey {
    /// Lets the child execute its program.
    pub(super) fn open(mut self) {
        // Fails only when the child is already dead, which its end will tell.
        let _ = self.key.write_all(&[OPEN]);
    }
}

/// Where the child says that its program could not be executed.
#[derive(Debug)]
pub(super) struct GateReport {
    reader: PipeReader,
}

impl GateReport {
    /// Waits until the child became its program or ended. Blocks the thread;
    /// to be called when the gate was opened.
    ///
    /// # Errors
    ///
    /// Why the program could not be executed.
    pub(super) fn wait(mut self) -> io::Result<()> {
        let mut refusal = [0; size_of::<i32>()];
        match self.reader.read_exact(&mut refusal) {
            Ok(()) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(refusal))),
            // The kernel closed it on executing the program.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error),
        }
    }
}
