//! Finds the programs of a PostgreSQL server and the user they may run as.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use nix::unistd::{Uid, User};

use crate::error::{ClusterError, failed_to};

/// Where Debian and its relatives keep one directory per major version.
const VERSIONED_INSTALLATIONS: &str = "/usr/lib/postgresql";

/// Users to become when started as root, which `initdb` and `postgres` refuse to run as.
const UNPRIVILEGED_USERS: [&str; 2] = ["postgres", "nobody"];

/// The directory that holds `initdb` and `postgres`: on `search_path` (the form of `PATH`), or
/// else the newest major version under [`VERSIONED_INSTALLATIONS`].
pub(crate) fn directory(search_path: Option<&OsStr>) -> Option<PathBuf> {
    search_path
        .into_iter()
        .flat_map(std::env::split_paths)
        .find_map(|directory| server_directory(&directory))
        .or_else(|| newest_version(Path::new(VERSIONED_INSTALLATIONS)))
}

/// A program of the PostgreSQL that clusters are made of, such as `pg_dump`; `None` where there is
/// none.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    let file = directory(std::env::var_os("PATH").as_deref())?.join(name);
    file.is_file().then_some(file)
}

/// Follows links, because a `bin` directory may link to `initdb` alone.
fn server_directory(directory: &Path) -> Option<PathBuf> {
    let initdb = fs::canonicalize(directory.join("initdb")).ok()?;
    let directory = initdb.parent()?;
    directory
        .join("postgres")
        .is_file()
        .then(|| directory.to_owned())
}

fn newest_version(installations: &Path) -> Option<PathBuf> {
    fs::read_dir(installations)
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((version, server_directory(&entry.path().join("bin"))?))
        })
        .max_by_key(|(version, _)| *version)
        .map(|(_, directory)| directory)
}

/// Who the server runs as.
#[derive(Debug, Clone)]
pub(crate) enum Account {
    /// The user of this process.
    Own,
    /// Another user, because this process is root.
    Other(User),
}

impl Account {
    /// # Errors
    ///
    /// [`ClusterError::NoUnprivilegedUser`] when this process is root and none of
    /// [`UNPRIVILEGED_USERS`] exists.
    pub(crate) fn unprivileged() -> Result<Self, ClusterError> {
        if !Uid::effective().is_root() {
            return Ok(Self::Own);
        }
        UNPRIVILEGED_USERS
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(Self::Other)
            .ok_or(ClusterError::NoUnprivilegedUser)
    }

    /// Makes this account the owner of `directory`.
    pub(crate) fn own(&self, directory: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other(user) => std::os::unix::fs::chown(
                directory,
                Some(user.uid.as_raw()),
                Some(user.gid.as_raw()),
            ),
        }
    }

    /// A command that runs as this account, in `directory`, in a process group of its own so that
    /// an interrupt from the terminal does not reach it.
    pub(crate) fn command(&self, program: &OsStr, directory: &Path) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "a database server for tests is not an agent of a company"
        )]
        let mut command = Command::new(program);
        command
            .current_dir(directory)
            .env("LC_ALL", "C")
            .process_group(0);
        if let Self::Other(user) = self {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        command
    }
}

/// Makes an empty cluster in `data` beneath `home`.
pub(crate) fn initialise(
    programs: &Path,
    account: &Account,
    home: &Path,
) -> Result<(), ClusterError> {
    let (mut reader, writer) = io::pipe().map_err(failed_to("create a pipe"))?;
    let errors = writer.try_clone().map_err(failed_to("create a pipe"))?;
    let mut initdb = account
        .command(programs.join("initdb").as_os_str(), home)
        .args(["--pgdata=data", "--username=postgres", "--auth=trust"])
        .args([
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        ])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .spawn()
        .map_err(failed_to("run initdb"))?;
    let mut output = String::new();
    reader
        .read_to_string(&mut output)
        .map_err(failed_to("read the output of initdb"))?;
    let status = initdb.wait().map_err(failed_to("wait for initdb"))?;
    if status.success() {
        Ok(())
    } else {
        Err(ClusterError::Initdb { output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(directory: &Path, programs: &[&str]) {
        fs::create_dir_all(directory).unwrap();
        for program in programs {
            fs::write(directory.join(program), "").unwrap();
        }
    }

    #[test]
    fn the_newest_version_is_the_greatest_number() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "15", "17"] {
            install(
                &root.path().join(version).join("bin"),
                &["initdb", "postgres"],
            );
        }
        install(&root.path().join("18").join("bin"), &["psql"]);
        install(
            &root.path().join("old").join("bin"),
            &["initdb", "postgres"],
        );

        let found = newest_version(root.path()).unwrap();

        assert_eq!(found, fs::canonicalize(root.path().join("17/bin")).unwrap());
    }

    #[test]
    fn the_search_path_goes_before_the_versioned_installations() {
        let root = tempfile::tempdir().unwrap();
        let (client, server) = (root.path().join("client"), root.path().join("server"));
        install(&client, &["initdb"]);
        install(&server, &["initdb", "postgres"]);
        let search_path = std::env::join_paths([&client, &server]).unwrap();

        let found = directory(Some(&search_path)).unwrap();

        assert_eq!(found, fs::canonicalize(&server).unwrap());
    }
}
