use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, chdir, eaccess};

use super::error::LaunchError;
use crate::protocol::Start;
use crate::survey::{Survey, can_write, has_content};

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Goes to the working directory, as the program's user and within its containment.
pub(super) fn enter_directory(start: &Start) -> Result<(), LaunchError> {
    let entered = || -> io::Result<()> {
        if !start.cwd.is_absolute() {
            let message = "the path is not absolute";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if !start.cwd.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(chdir(&start.cwd)?)
    };
    entered().map_err(|error| LaunchError::Cwd {
        program: start.named(),
        cwd: start.cwd.clone(),
        cause: error.to_string(),
    })
}

/// What the program would find here.
pub(super) fn survey(start: &Start, files: &[PathBuf]) -> Survey {
    Survey {
        directory: enter_directory(start).map(|()| can_write(&start.cwd)),
        program: resolve(&start.program, start.environment.get("PATH"), &start.cwd),
        files: files.iter().map(|file| has_content(file)).collect(),
    }
}

/// The file to execute.
pub(super) fn find(start: &Start) -> Result<CString, LaunchError> {
    let file = resolve(&start.program, start.environment.get("PATH"), &start.cwd)?;
    CString::new(file.into_os_string().as_bytes()).map_err(|_nul| LaunchError::NulByte {
        program: start.named(),
    })
}

/// Finds the file that a program's name stands for, as seen by the child: by
/// its `PATH`, or relative to its working directory when the name has a slash.
///
/// Entries of `PATH` that are not absolute are passed over. They would look
/// for programs in the working directory, whose content agents write.
fn resolve(
    program: &OsStr,
    path_variable: Option<&OsStr>,
    cwd: &Path,
) -> Result<PathBuf, LaunchError> {
    if program.as_bytes().contains(&b'/') {
        let candidate = cwd.join(program);
        return match examine(&candidate) {
            Finding::Executable => Ok(candidate),
            Finding::NotExecutable | Finding::OutOfReach => Err(not_executable(program, candidate)),
            Finding::Missing => Err(not_found(program)),
        };
    }
    if program.is_empty() {
        return Err(not_found(program));
    }
    let mut refused = None;
    for folder in std::env::split_paths(path_variable.unwrap_or(OsStr::new(DEFAULT_PATH))) {
        if !folder.is_absolute() {
            continue;
        }
        let candidate = folder.join(program);
        match examine(&candidate) {
            Finding::Executable => return Ok(candidate),
            Finding::NotExecutable => refused = refused.or(Some(candidate)),
            // A folder that is closed to the program's user says nothing.
            Finding::OutOfReach | Finding::Missing => {}
        }
    }
    Err(match refused {
        Some(path) => not_executable(program, path),
        None => not_found(program),
    })
}

enum Finding {
    Executable,
    NotExecutable,
    OutOfReach,
    Missing,
}

fn examine(candidate: &Path) -> Finding {
    match candidate.metadata() {
        Ok(metadata) if metadata.is_file() && eaccess(candidate, AccessFlags::X_OK).is_ok() => {
            Finding::Executable
        }
        Ok(_) => Finding::NotExecutable,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Finding::OutOfReach,
        Err(_) => Finding::Missing,
    }
}

fn not_found(program: &OsStr) -> LaunchError {
    LaunchError::ProgramNotFound {
        program: program.to_string_lossy().into_owned(),
    }
}

fn not_executable(program: &OsStr, path: PathBuf) -> LaunchError {
    LaunchError::ProgramNotExecutable {
        program: program.to_string_lossy().into_owned(),
        path,
    }
}
