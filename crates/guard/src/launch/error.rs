use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::protocol::Start;

/// Why no program was started. Nothing is left behind in any of these cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchError {
    /// The working directory cannot be used.
    #[error("working directory {} of {program:?} cannot be used: {cause}", .cwd.display())]
    Cwd {
        /// The program as it was named.
        program: String,
        /// The working directory.
        cwd: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// There is no such program.
    #[error("program {program:?} was not found")]
    ProgramNotFound {
        /// The program as it was named.
        program: String,
    },
    /// There is such a file, but it is no executable one.
    #[error("program {program:?} at {} is not executable", .path.display())]
    ProgramNotExecutable {
        /// The program as it was named.
        program: String,
        /// The file that was found.
        path: PathBuf,
    },
    /// The program's name, an argument or a variable contains a NUL byte.
    #[error("the command line of {program:?} contains a NUL byte")]
    NulByte {
        /// The program as it was named.
        program: String,
    },
    /// The system could not make a process.
    #[error("no process could be made for {program:?}: {cause}")]
    Process {
        /// The program as it was named.
        program: String,
        /// Why not.
        cause: String,
    },
    /// The run could not be kept from what it must not see.
    #[error("program {program:?} could not be contained: {cause}")]
    Containment {
        /// The program as it was named.
        program: String,
        /// Why not.
        cause: String,
    },
    /// The number of processes of one run cannot be bounded here.
    #[error(
        "adapterConfig.maxProcesses cannot be kept by this server: it needs a cgroup with the \
         controller pids, or namespaces and programs that are not root's; see \
         docs/operations.md#resource-limits"
    )]
    ProcessesUnbounded,
    /// What the program needs in its home cannot be written there.
    #[error("what the program needs in its home cannot be written: {cause}")]
    Home {
        /// Why not.
        cause: String,
        /// The number of the system's error, if it is one.
        os_error: Option<i32>,
    },
    /// The system refused to execute the file: a missing interpreter, a
    /// foreign format, arguments that are too long.
    #[error("program {program:?} could not be executed in {}: {cause}", .cwd.display())]
    Exec {
        /// The program as it was named.
        program: String,
        /// The working directory.
        cwd: PathBuf,
        /// Why not.
        cause: String,
    },
    /// The files of the run cannot be written.
    #[error("the files of the run cannot be written: {cause}")]
    Files {
        /// Why not.
        cause: String,
        /// The number of the system's error, if it is one.
        os_error: Option<i32>,
    },
}

impl LaunchError {
    /// A process that does not come as far as its program.
    pub(super) fn of_process(start: &Start, error: &io::Error) -> Self {
        let (program, cause) = (start.named(), error.to_string());
        match start.containment.names().is_empty() {
            true => Self::Process { program, cause },
            false => Self::Containment { program, cause },
        }
    }
}
