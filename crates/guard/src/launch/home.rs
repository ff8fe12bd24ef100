use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::error::LaunchError;
use crate::protocol::{HomeFile, Start};

/// Writes what the program needs in its home, where it has not written it itself.
pub(super) fn write(start: &Start) -> Result<(), LaunchError> {
    let Some(home) = start.environment.get("HOME").map(Path::new) else {
        return Ok(());
    };
    let mut files = start.home_files.iter();
    let written = files.try_for_each(|file| write_file(home, file));
    written.map_err(|error| LaunchError::Home {
        os_error: error.raw_os_error(),
        cause: error.to_string(),
    })
}

fn write_file(home: &Path, file: &HomeFile) -> io::Result<()> {
    let path = home.join(&file.path);
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(mut made) => made.write_all(file.content.as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
