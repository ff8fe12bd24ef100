//! Starts the program of a run: it waits at a gate until it is recorded, and
//! only then is executed.

mod descriptors;
mod error;
mod gate;
mod home;
mod program;
mod signals;

use std::ffi::{CString, NulError, OsStr};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{Pid, Uid, fchown, geteuid};

pub(crate) use self::descriptors::{close_all_but, close_inherited};
pub use self::error::LaunchError;
pub(crate) use self::gate::fork;
use self::gate::{Gate, GateKey, Program};
pub(crate) use self::signals::ignore_signals;
use crate::cgroup::RunCgroup;
use crate::environment::{ChildEnvironment, RunTag};
use crate::files::GuardFiles;
use crate::first_process;
use crate::process::{ProcessGroup, ProcessIdentity, ProgramEnd, Reach};
use crate::protocol::Start;
use crate::resource_limits::ProcessLimits;
use crate::survey::Survey;

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
    /// The cgroup of the run, until nothing of it executes any more.
    pub(crate) cgroup: Option<Arc<RunCgroup>>,
    pub(crate) reach: Reach,
    pub(crate) end: ProgramEnd,
}

/// The arguments of a program, its name first, and its whole environment.
struct ProgramImage {
    arguments: Vec<CString>,
    variables: Vec<CString>,
}

/// Starts a process that waits at its gate. To be called while the guard has one
/// thread: the process is a copy of it and goes on to run its code.
pub(crate) fn launch(start: &Start) -> Result<Launched, LaunchError> {
    let mut launched = approach(start, None)?;
    launched.gate.wait_until_ready::<()>(start)?;
    Ok(launched)
}

/// Starts a process that comes as far as a program, looks around and ends. To be
/// called like [`launch`].
pub(crate) fn survey(start: &Start, files: &[PathBuf]) -> Result<Survey, LaunchError> {
    approach(start, Some(files))?.gate.wait_until_ready(start)
}

/// Starts a process on its way to the gate.
fn approach(start: &Start, surveyed: Option<&[PathBuf]>) -> Result<Launched, LaunchError> {
    let mut environment = start.environment.clone();
    environment.mark(&RunTag::from(start.run));
    let Ok(image) = image(start, &environment) else {
        let program = start.named();
        return Err(LaunchError::NulByte { program });
    };
    let has_cgroup = start.containment.means.cgroup;
    let cgroup = has_cgroup.then(|| make_cgroup(start)).transpose();
    let cgroup = cgroup.map_err(|error| LaunchError::of_process(start, &error))?;
    let limits = start.resource_limits.divide(
        &start.containment,
        cgroup.as_ref().map(|cgroup| cgroup.cgroup()),
    )?;
    let made = at_gate(start, &image, cgroup, (limits, surveyed));
    made.map_err(|error| LaunchError::Process {
        program: start.named(),
        cause: error.to_string(),
    })
}

impl Launched {
    /// The guard, and the process group that the program leads.
    pub(crate) const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Lets the program be executed.
    pub(crate) fn go(self, start: &Start) -> Result<Execution, LaunchError> {
        self.gate.open(start)?;
        Ok(self.execution)
    }
}

/// Makes the cgroup of a run, and notes it for whoever finds its guard gone.
fn make_cgroup(start: &Start) -> io::Result<Arc<RunCgroup>> {
    let made = RunCgroup::make(start.run)?;
    GuardFiles::of(&start.folder).note_cgroup(made.cgroup())?;
    Ok(Arc::new(made))
}

fn at_gate(
    start: &Start,
    image: &ProgramImage,
    cgroup: Option<Arc<RunCgroup>>,
    (limits, surveyed): (ProcessLimits, Option<&[PathBuf]>),
) -> io::Result<Launched> {
    let (stdin, feed) = io::pipe()?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    if let Some(run_as) = &start.containment.run_as {
        // A program may open its streams once more, by name.
        let owner = Some(Uid::from_raw(run_as.uid));
        for stream in [stdin.as_fd(), out.as_fd(), err.as_fd()] {
            fchown(stream, owner, None)?;
        }
    }
    let (gate, key) = GateKey::new()?;
    let is_first = start.containment.means.namespaces;
    let program = Program {
        start,
        parent: if is_first {
            Pid::from_raw(1)
        } else {
            Pid::this()
        },
        streams: [stdin.as_fd(), out.as_fd(), err.as_fd()],
        image,
        cgroup: cgroup.as_deref(),
        limits,
        surveyed,
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
                Err(error) => key.refuse(LaunchError::of_process(start, &error)),
            })?;
        (
            pid,
            Reach::Namespace { first: pid, order },
            ProgramEnd::Told(told),
        )
    } else {
        let is_root = geteuid().is_root();
        let pid = fork(|| key.wait_and_execute(&program, is_root))?;
        let group = ProcessIdentity {
            process_group: pid,
            ..guard
        };
        let reach = Reach::Descendants {
            group: ProcessGroup::of_guard(group),
            cgroup: cgroup.as_deref().map(|it| it.cgroup().clone()),
        };
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
            cgroup,
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

fn image(start: &Start, environment: &ChildEnvironment) -> Result<ProgramImage, NulError> {
    let text = |text: &OsStr| CString::new(text.as_bytes());
    let named = std::iter::once(&start.program).chain(&start.arguments);
    Ok(ProgramImage {
        arguments: named
            .map(|argument| text(argument))
            .collect::<Result<_, _>>()?,
        variables: environment
            .iter()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<Result<_, _>>()?,
    })
}
