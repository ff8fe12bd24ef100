use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why no child was started. Nothing is left behind in any of these cases.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The working directory cannot be used.
    #[error("working directory {} of {program:?} cannot be used", .cwd.display())]
    Cwd {
        /// The program as it was named.
        program: OsString,
        /// The working directory.
        cwd: PathBuf,
        /// What is wrong with it.
        #[source]
        source: io::Error,
    },
    /// There is no such program.
    #[error("program {program:?} was not found")]
    ProgramNotFound {
        /// The program as it was named.
        program: OsString,
    },
    /// There is such a file, but it is no executable one.
    #[error("program {program:?} at {} is not executable", .path.display())]
    ProgramNotExecutable {
        /// The program as it was named.
        program: OsString,
        /// The file that was found.
        path: PathBuf,
    },
    /// The program's name or an argument contains a NUL byte.
    #[error("the command line of {program:?} contains a NUL byte")]
    NulByte {
        /// The program as it was named.
        program: OsString,
    },
    /// The system could not make a process.
    #[error("no process could be made for {program:?}")]
    Process {
        /// The program as it was named.
        program: OsString,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The child could not be recorded, and was sent away.
    #[error("the process of {program:?} could not be recorded")]
    Record {
        /// The program as it was named.
        program: OsString,
        /// What the recording step answered.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The system refused to execute the file: a missing interpreter, a
    /// foreign format, arguments that are too long.
    #[error("program {program:?} could not be executed in {}", .cwd.display())]
    Exec {
        /// The program as it was named.
        program: OsString,
        /// The working directory.
        cwd: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}
