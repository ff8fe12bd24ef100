//! Starts the program of a run: it waits at a gate until it is recorded, and
//! only then is executed.

mod descriptors;
mod error;
mod gate;
mod program;
mod signals;

use std::ffi::{CString, NulError, OsStr};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::{AccessFlags, Pid, eaccess, geteuid};

pub(crate) use self::descriptors::{close_all_but, close_inherited};
pub use self::error::LaunchError;
use self::gate::{Gate, GateKey, Program};
pub(crate) use self::signals::ignore_signals;
use crate::containment::Means;
use crate::environment::{ChildEnvironment, RunTag};
use crate::first_process;
use crate::process::{ProcessGroup, ProcessIdentity, ProgramEnd, Reach};
use crate::protocol::Start;

const OOM_SCORE: &str = "500";

/// The guard's ends of the three streams of a program.
pub(crate) struct Streams {
    /// `None` for a program that has nothing to read.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// A program that waits at its gate.
pub(crate) struct Launched {
    identity: ProcessIdentity,
    execution: Execution,
    gate: Gate,
}

/// What the guard holds of a program that is executed.
pub(crate) struct Execution {
    pub(crate) streams: Streams,
    pub(crate) reach: Reach,
    pub(crate) end: ProgramEnd,
}

/// A program with its arguments and its whole environment.
struct ProgramImage {
    file: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
}

/// Starts a process that waits at its gate. To be called while the guard has one
/// thread: the process is a copy of it and goes on to run its code.
pub(crate) fn launch(start: &Start) -> Result<Launched, LaunchError> {
    let named = || start.program.to_string_lossy().into_owned();
    check_directory(&start.cwd).map_err(|error| LaunchError::Cwd {
        program: named(),
        cwd: start.cwd.clone(),
        cause: error.to_string(),
    })?;
    let mut environment = start.environment.clone();
    environment.mark(&RunTag::from(start.run));
    let file = program::resolve(&start.program, environment.get("PATH"), &start.cwd)?;
    let Ok(image) = image(start, &environment, &file) else {
        return Err(LaunchError::NulByte { program: named() });
    };
    let not_made = |error: io::Error| LaunchError::Process {
        program: named(),
        cause: error.to_string(),
    };
    let mut launched = at_gate(start, &image).map_err(not_made)?;
    launched.gate.wait_until_ready().map_err(|error| {
        let (program, cause) = (named(), error.to_string());
        match start.containment.means == Means::NONE {
            true => LaunchError::Process { program, cause },
            false => LaunchError::Containment { program, cause },
        }
    })?;
    Ok(launched)
}

impl Launched {
    /// The guard, and the process group that the program leads.
    pub(crate) const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Lets the program be executed.
    pub(crate) fn go(self, start: &Start) -> Result<Execution, LaunchError> {
        match self.gate.open() {
            Ok(()) => Ok(self.execution),
            Err(error) => Err(LaunchError::Exec {
                program: start.program.to_string_lossy().into_owned(),
                cwd: start.cwd.clone(),
                cause: error.to_string(),
            }),
        }
    }
}

fn at_gate(start: &Start, image: &ProgramImage) -> io::Result<Launched> {
    let (stdin, feed) = io::pipe()?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let (gate, key) = GateKey::new()?;
    let is_first = start.containment.means.namespaces;
    let program = Program {
        parent: if is_first {
            Pid::from_raw(1)
        } else {
            Pid::this()
        },
        cwd: &start.cwd,
        streams: [stdin.as_fd(), out.as_fd(), err.as_fd()],
        image,
        containment: &start.containment,
    };
    prefer_to_end();
    let guard = ProcessIdentity::of(std::process::id().cast_signed())?;
    let (pid, reach, end) = if is_first {
        let (orders, order) = io::pipe()?;
        let (told, status) = io::pipe()?;
        let pipes = first_process::Pipes { orders, status };
        let pid =
            first_process::start(&start.containment, Some(&pipes), |outcome| match outcome {
                Ok(is_root_here) => key.wait_and_execute(&program, is_root_here),
                Err(error) => key.refuse(&error),
            })?;
        (
            pid,
            Reach::Namespace { first: pid, order },
            ProgramEnd::Told(told),
        )
    } else {
        let is_root = geteuid().is_root();
        let pid = gate::fork(|| key.wait_and_execute(&program, is_root))?;
        let group = ProcessIdentity {
            process_group: pid,
            ..guard
        };
        let reach = Reach::Descendants(ProcessGroup::of_guard(group));
        (pid, reach, ProgramEnd::Child(pid))
    };
    Ok(Launched {
        identity: ProcessIdentity {
            process_group: pid,
            ..guard
        },
        execution: Execution {
            streams: Streams {
                stdin: start.stdin.is_some().then_some(feed),
                stdout,
                stderr,
            },
            reach,
            end,
        },
        gate,
    })
}

/// Programs of agents are ended before servers when memory runs out. What the
/// guard starts takes this over.
fn prefer_to_end() {
    // Where it is not allowed, the kernel chooses without it.
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

fn image(
    start: &Start,
    environment: &ChildEnvironment,
    file: &Path,
) -> Result<ProgramImage, NulError> {
    let text = |text: &OsStr| CString::new(text.as_bytes());
    let named = std::iter::once(&start.program).chain(&start.arguments);
    Ok(ProgramImage {
        file: text(file.as_os_str())?,
        arguments: named
            .map(|argument| text(argument))
            .collect::<Result<_, _>>()?,
        variables: environment
            .iter()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<Result<_, _>>()?,
    })
}

fn check_directory(cwd: &Path) -> io::Result<()> {
    if !cwd.is_absolute() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path is not absolute",
        ));
    }
    if !cwd.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    eaccess(cwd, AccessFlags::X_OK)?;
    Ok(())
}
