//! The folder in which a server keeps what is its own (docs/operations.md#the-data-folder).
//!
//! A server removes and rewrites files there while nobody watches. So it uses a folder only when
//! that is new, or bears the marker of an earlier server.

use std::fs::{self, DirBuilder, FileType};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};

use workforce_domain::id::InstallationId;

use crate::{instance_file, private_file, start_token, vault};

/// The SQLite database.
pub const DATABASE: &str = "workforce.db";
/// The master keys.
pub const MASTER_KEY: &str = "master.key";
/// The logs of runs, and what else a run has while it is live.
pub const RUNS: &str = "runs";
/// The homes of agents that have no other place to work in.
pub const HOMES: &str = "agents";
/// The bytes of attachments.
pub const ATTACHMENTS: &str = "attachments";
/// Copies of the SQLite database.
pub const SNAPSHOTS: &str = "snapshots";
/// The worktrees of tickets.
pub const WORKTREES: &str = "worktrees";

/// Where git works with what it gets from repositories.
const GIT: &str = "git";

/// Says whose the folder is: a first line that never changes, then the installation.
pub const MARKER: &str = "workforce.installation";
const MARKER_LINE: &str = "workforce data folder";
const MARKER_MAX: u64 = 4096;

const FILES: [&str; 9] = [
    MARKER,
    DATABASE,
    "workforce.db-wal",
    "workforce.db-shm",
    "workforce.db.lock",
    MASTER_KEY,
    start_token::FILE_NAME,
    instance_file::LIST_NAME,
    instance_file::LOCK_NAME,
];
const FOLDERS: [&str; 6] = [RUNS, HOMES, ATTACHMENTS, SNAPSHOTS, WORKTREES, GIT];
/// What an earlier database leaves beside it, and what goes where it goes. Worktrees stay: git
/// knows them by their place. So does what belongs to the server rather than to the database.
const OF_DATABASE: [&str; 8] = [
    DATABASE,
    "workforce.db-wal",
    "workforce.db-shm",
    MASTER_KEY,
    RUNS,
    HOMES,
    ATTACHMENTS,
    SNAPSHOTS,
];
/// A new disk has this folder.
pub(crate) const LOST_AND_FOUND: &str = "lost+found";

/// Why a folder is not used as a data folder.
#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    /// Somebody else's files are in it.
    #[error(
        "{} holds {found} and no data of workforce: name a new or empty folder, such as \
         --data-dir {}",
        .folder.display(),
        .folder.join("data").display()
    )]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// A name in it.
        found: String,
    },
    /// What has a name of ours is no plain file, or no folder.
    #[error(
        "{} is {is}, and must be {must}: put {must} there, or move what is there away",
        .path.display()
    )]
    Kind {
        /// What it is about.
        path: PathBuf,
        /// What is there.
        is: &'static str,
        /// What has to be there.
        must: &'static str,
    },
    /// It belongs to another database.
    #[error(
        "{} belongs to another database (installation {folder_of}) than the one that is named \
         (installation {database_of}): name the folder of this database, or a new one, with \
         --data-dir",
        .folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What the marker says.
        folder_of: InstallationId,
        /// What the database says.
        database_of: InstallationId,
    },
    /// It cannot be read or written.
    #[error("failed to read or write {}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// A data folder, as it was found before a server used it.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    installation: Option<InstallationId>,
    leftovers: Vec<&'static str>,
}

impl DataFolder {
    /// Makes the folder at `path` if there is none, for its owner alone. A new or empty one gets
    /// a marker.
    ///
    /// # Errors
    /// Those of [`DataFolder::look`].
    pub fn claim(path: &Path) -> Result<Self, DataFolderError> {
        let failed = |path: &Path, source| DataFolderError::File {
            path: path.to_owned(),
            source,
        };
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(path);
        made.map_err(|source| failed(path, source))?;
        let folder = Self::look(path)?;
        if !folder.traces().is_empty() {
            return Ok(folder);
        }
        let marker = folder.path.join(MARKER);
        match private_file::create(&marker, || marker_text(folder.installation).into()) {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                Err(failed(&marker, source))
            }
            _ => Ok(folder),
        }
    }

    /// Looks at the folder at `path`, and changes nothing.
    ///
    /// # Errors
    /// [`DataFolderError::NotOurs`] when no server may use it, [`DataFolderError::Kind`] when
    /// something in it cannot be what it should be, else what keeps it from being read.
    pub fn look(path: &Path) -> Result<Self, DataFolderError> {
        let failed = |source| DataFolderError::File {
            path: path.to_owned(),
            source,
        };
        let folder = path.canonicalize().map_err(failed)?;
        check_kinds(&folder)?;
        let names = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let names: Vec<_> = names
            .map_err(failed)?
            .iter()
            .map(|it| it.file_name())
            .collect();
        let marker = read_marker(&folder)?;
        let is_new = |name: &&std::ffi::OsString| {
            FILES.iter().any(|file| *name == file)
                || *name == LOST_AND_FOUND
                // Another server writes it just now, or was killed before it had its name.
                || private_file::is_unfinished(name, MARKER)
        };
        let found = names.iter().find(|name| !is_new(name));
        if let (None, Some(found)) = (&marker, found)
            && !has_data(&folder)
        {
            return Err(DataFolderError::NotOurs {
                folder: path.to_owned(),
                found: found.to_string_lossy().into_owned(),
            });
        }
        let is_there = |name: &&str| names.iter().any(|it| it == name);
        Ok(Self {
            installation: marker.flatten(),
            leftovers: FOLDERS
                .into_iter()
                .filter(|it| OF_DATABASE.contains(it) && is_there(it))
                .collect(),
            path: folder,
        })
    }

    /// Its path, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells of a database that was used with this folder before; empty in a new one.
    #[must_use]
    pub fn traces(&self) -> Vec<String> {
        let installation = self.installation.map(|id| format!("{MARKER} of {id}"));
        let folders = self.leftovers.iter().map(|&name| name.to_owned());
        installation.into_iter().chain(folders).collect()
    }

    /// Checks that the folder belongs to the database `installation`, or to none yet.
    ///
    /// # Errors
    /// [`DataFolderError::Foreign`]
    pub fn check(&self, installation: InstallationId) -> Result<(), DataFolderError> {
        match self.installation {
            Some(own) if own != installation => Err(DataFolderError::Foreign {
                folder: self.path.clone(),
                folder_of: own,
                database_of: installation,
            }),
            _ => Ok(()),
        }
    }

    /// Does the same, and writes the installation into the marker of a folder that had none.
    ///
    /// # Errors
    /// Those of [`DataFolder::check`], or when the marker cannot be written.
    pub fn bind(&self, installation: InstallationId) -> Result<(), DataFolderError> {
        self.check(installation)?;
        if self.installation.is_some() {
            return Ok(());
        }
        let path = self.path.join(MARKER);
        private_file::replace(&path, &marker_text(Some(installation)))
            .map_err(|source| DataFolderError::File { path, source })
    }

    /// Moves what belongs to an earlier database into a folder of its own in this one, and
    /// returns that; `None` when there was nothing. No server may use the folder.
    ///
    /// # Errors
    /// When something cannot be moved. What was moved until then stays there.
    pub fn set_aside(&mut self, name: &str) -> Result<Option<PathBuf>, DataFolderError> {
        if self.traces().is_empty() {
            return Ok(None);
        }
        let aside = self.path.join(name);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| DataFolderError::File { path, source }
        };
        let mut builder = DirBuilder::new();
        builder.mode(0o700).create(&aside).map_err(failed(&aside))?;
        for name in OF_DATABASE {
            let from = self.path.join(name);
            match fs::rename(&from, aside.join(name)) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(failed(&from)(source));
                }
                _ => {}
            }
        }
        // Last, so that a move that was cut short is made again.
        let marker = self.path.join(MARKER);
        fs::copy(&marker, aside.join(MARKER))
            .and_then(|_| private_file::replace(&marker, &marker_text(None)))
            .map_err(failed(&marker))?;
        *self = Self::look(&self.path)?;
        Ok(Some(aside))
    }
}

fn marker_text(installation: Option<InstallationId>) -> String {
    let id = installation.map(|id| format!("\n{id}"));
    format!("{MARKER_LINE}{}", id.unwrap_or_default())
}

/// The marker of a folder: `Some(None)` where it names no installation yet.
fn read_marker(folder: &Path) -> Result<Option<Option<InstallationId>>, DataFolderError> {
    let path = folder.join(MARKER);
    let text = match private_file::read_public(&path, MARKER_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(DataFolderError::File { path, source }),
    };
    let mut lines = text.lines();
    let is_ours = lines.next() == Some(MARKER_LINE);
    let id = lines.next().map(str::parse).transpose();
    match id {
        Ok(id) if is_ours => Ok(Some(id)),
        _ => Err(DataFolderError::Kind {
            path,
            is: "not a marker of a data folder",
            must: "one",
        }),
    }
}

/// Whether servers that left no marker used the folder.
fn has_data(folder: &Path) -> bool {
    let is_file = |name| folder.join(name).is_file();
    // Other programs have files of that name as well.
    let has_key = || {
        private_file::read_public(&folder.join(MASTER_KEY), MARKER_MAX)
            .is_ok_and(|text| vault::are_keys(&text))
    };
    is_file(DATABASE) || is_file(instance_file::LOCK_NAME) || has_key()
}

/// Refuses what would hang whoever opens it, or lead elsewhere. A file may be a link to one.
fn check_kinds(folder: &Path) -> Result<(), DataFolderError> {
    for (names, must) in [(&FILES[..], "a file"), (&FOLDERS[..], "a folder")] {
        for name in names {
            let path = folder.join(name);
            let is = match path.symlink_metadata() {
                Ok(it) if it.is_symlink() => match path.metadata() {
                    Ok(target) if target.is_file() => "a link to a file",
                    Ok(_) => "a link",
                    Err(_) => "a link to nothing",
                },
                Ok(it) => kind(it.file_type()),
                Err(_) => continue,
            };
            if is != must && (is, must) != ("a link to a file", "a file") {
                return Err(DataFolderError::Kind { path, is, must });
            }
        }
    }
    Ok(())
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_file() {
        "a file"
    } else if file_type.is_dir() {
        "a folder"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
