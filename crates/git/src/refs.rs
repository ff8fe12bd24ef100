//! Reads and writes refs that are stored as files, by git's own protocol for them.
//!
//! Git itself would follow what an agent may put there: a ref that is a symbolic
//! link, that points to another branch, or whose log is a link to any file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;

use crate::error::Tried as _;
use crate::folder::{Folder, Kind};
use crate::program::lossy;
use crate::{CommitId, GitError};

/// Packed refs are read up to so many bytes.
const MAX_PACKED: usize = 64 * 1024 * 1024;
/// A loose ref is one line.
const MAX_LOOSE: usize = 4096;
/// Refs below each folder are listed so deep.
const MAX_DEPTH: usize = 32;
/// How often a lock of somebody else is looked at, and how long apart. Git holds
/// one for the time that it takes to write a line: the same one after all this was
/// left behind.
const LOCK_LOOKS: u32 = 60;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// So often a lock that was left behind is removed: one that comes back is held
/// against us.
const LOCK_REMOVALS: u32 = 2;

/// The refs of a repository, by its common folder.
#[derive(Debug)]
pub(crate) struct Refs<'a>(&'a Folder);

impl<'a> Refs<'a> {
    pub(crate) const fn new(folder: &'a Folder) -> Self {
        Self(folder)
    }

    /// The commit that a ref with this full name holds.
    pub(crate) fn read(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        match self.loose(name)? {
            Some(commit) => Ok(Some(commit)),
            None => Ok(self.packed()?.remove(name)),
        }
    }

    /// All refs below a folder such as `refs/heads`, by full name. What is no
    /// plain ref is left out.
    pub(crate) fn list(&self, prefix: &str) -> Result<BTreeMap<String, CommitId>, GitError> {
        let mut found = self.packed()?;
        found.retain(|name, _| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with('/'))
        });
        if let Ok(folder) = self.0.below(Path::new(prefix)) {
            collect(&folder, prefix, MAX_DEPTH, &mut found).tried(|| "list refs".to_owned())?;
        }
        Ok(found)
    }

    fn loose(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let (folder, file) = split(name);
        let folder = match self.0.below(folder) {
            Ok(folder) => folder,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(not_plain(name, &error)),
        };
        if folder.kind(file).tried(|| format!("read {name}"))? == Some(Kind::Folder) {
            return Ok(None);
        }
        let Some(bytes) = folder
            .read(&file.to_string_lossy(), MAX_LOOSE)
            .map_err(|error| not_plain(name, &error))?
        else {
            return Ok(None);
        };
        match CommitId::printed(bytes.trim_ascii_end()) {
            Some(commit) => Ok(Some(commit)),
            None => Err(GitError::tampered(format!("{name} (it holds no commit)"))),
        }
    }

    fn packed(&self) -> Result<BTreeMap<String, CommitId>, GitError> {
        let bytes = self
            .0
            .read("packed-refs", MAX_PACKED)
            .map_err(|error| not_plain("packed-refs", &error))?
            .unwrap_or_default();
        let mut refs = BTreeMap::new();
        for line in bytes.split(|&b| b == b'\n') {
            // Others are the header, and what annotated tags point to.
            let Some(space) = line.iter().position(|&b| b == b' ') else {
                continue;
            };
            if let Some(commit) = CommitId::printed(&line[..space]) {
                refs.insert(lossy(&line[space + 1..]), commit);
            }
        }
        Ok(refs)
    }

    /// Points a ref to a commit, if it still points to `old`.
    pub(crate) async fn update(
        &self,
        name: &str,
        new: &CommitId,
        old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let (path, file) = split(name);
        if old.is_none() {
            self.check_free(name)?;
        }
        let folder = match self.0.below_or_new(path, 0o777) {
            Ok(folder) => folder,
            Err(error) if error.raw_os_error() == Some(Errno::ENOTDIR as i32) => {
                return Err(conflict(name, "a shorter name is a ref"));
            }
            Err(error) => {
                return Err(match GitError::writing(name, error) {
                    GitError::Io { source, .. } => not_plain(name, &source),
                    refused => refused,
                });
            }
        };
        let lock = Lock::take(&folder, file, name).await?;
        if self.read(name)?.as_ref() != old {
            return Err(GitError::Moved {
                branch: name.to_owned(),
            });
        }
        lock.commit(file, new, name)
    }

    /// Git cannot store `a` beside `a/b`, and a packed ref is no file that would
    /// stand in the way.
    fn check_free(&self, name: &str) -> Result<(), GitError> {
        match self.packed()?.keys().find(|other| exclude(other, name)) {
            Some(other) => Err(conflict(name, &format!("{other} is a ref"))),
            None => Ok(()),
        }
    }
}

/// True if only one of two refs can be stored: `a` and `a/b`.
pub(crate) fn exclude(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// The lock file of a ref, removed when dropped.
struct Lock<'a> {
    folder: &'a Folder,
    name: OsString,
    file: std::fs::File,
    is_used: bool,
}

impl<'a> Lock<'a> {
    async fn take(folder: &'a Folder, file: &OsStr, name: &str) -> Result<Self, GitError> {
        let mut lock = file.to_owned();
        lock.push(".lock");
        let mut first = None;
        let (mut looks, mut all_looks) = (0, 0);
        loop {
            match folder.new_file(&lock, 0o666) {
                Ok(file) => {
                    return Ok(Self {
                        folder,
                        name: lock,
                        file,
                        is_used: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(GitError::writing(name, error)),
            }
            let stat = folder.stat_of(&lock).tried(|| format!("lock {name}"))?;
            let seen = stat.map(|stat| (stat.st_ino, stat.st_mtime, stat.st_mtime_nsec));
            if first != seen {
                first = seen;
                looks = 0;
            }
            looks += 1;
            all_looks += 1;
            if all_looks > LOCK_LOOKS * (LOCK_REMOVALS + 1) {
                return Err(conflict(name, "its lock is taken again and again"));
            }
            if looks > LOCK_LOOKS {
                let left = folder.remove_file(&lock);
                left.map_err(|_io| conflict(name, "its lock cannot be removed"))?;
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }

    fn commit(mut self, file: &OsStr, new: &CommitId, name: &str) -> Result<(), GitError> {
        let write = || format!("write {name}");
        self.file
            .write_all(format!("{new}\n").as_bytes())
            .tried(write)?;
        self.file.sync_all().tried(write)?;
        if self.folder.kind(file).tried(write)? == Some(Kind::Folder) {
            remove_empty_folders(self.folder, file)
                .map_err(|_io| conflict(name, "a longer name is a ref"))?;
        }
        self.folder
            .rename(&self.name, self.folder, file)
            .tried(write)?;
        self.is_used = true;
        Ok(())
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if !self.is_used {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

/// Removes the folders that deleted refs left.
fn remove_empty_folders(folder: &Folder, name: &OsStr) -> io::Result<()> {
    let inner = folder.child(name)?;
    for entry in inner.names()? {
        remove_empty_folders(&inner, &entry)?;
    }
    folder.remove_empty(name)
}

fn collect(
    folder: &Folder,
    prefix: &str,
    depth: usize,
    found: &mut BTreeMap<String, CommitId>,
) -> io::Result<()> {
    for name in folder.names()? {
        let Some(name) = name.to_str() else { continue };
        let full = format!("{prefix}/{name}");
        match folder.kind(OsStr::new(name))? {
            Some(Kind::Folder) if depth > 0 => {
                collect(&folder.child(OsStr::new(name))?, &full, depth - 1, found)?;
            }
            Some(Kind::File) if !name.ends_with(".lock") => {
                let bytes = folder.read(name, MAX_LOOSE).ok().flatten();
                let bytes = bytes.unwrap_or_default();
                if let Some(commit) = CommitId::printed(bytes.trim_ascii_end()) {
                    found.insert(full, commit);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn split(name: &str) -> (&Path, &OsStr) {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    (Path::new(folder), OsStr::from_bytes(file.as_bytes()))
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::ENOTDIR as i32)
}

fn not_plain(name: &str, error: &io::Error) -> GitError {
    GitError::tampered(format!("{name} ({error})"))
}

fn conflict(name: &str, reason: &str) -> GitError {
    GitError::RefConflict {
        branch: name.to_owned(),
        reason: reason.to_owned(),
    }
}
