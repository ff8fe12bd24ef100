//! Finds the repository that a folder lies in, as git does, but without git: it would
//! wait for a pipe in the place of a file, and read what settings include.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::folder::path_of;

/// The files that are read here are one line each.
const MAX_LINE: u64 = 8192;

/// Where a repository is. No path has links.
pub(crate) struct Place {
    /// The folder of objects and refs.
    pub(crate) common: PathBuf,
    /// The folder that git keeps about the files.
    pub(crate) git_dir: PathBuf,
    /// The folder of the files, whatever `core.worktree` says, which could name any.
    pub(crate) top: Option<PathBuf>,
}

/// Looks in a folder and in those above it, on the same file system.
pub(crate) fn discover(dir: &Path) -> Option<Place> {
    let device = fs::metadata(dir).ok()?.dev();
    let on_device = |at: &&Path| fs::metadata(at).is_ok_and(|found| found.dev() == device);
    for at in dir.ancestors().take_while(on_device) {
        let entry = at.join(".git");
        match fs::metadata(&entry) {
            Ok(found) if found.is_dir() => {
                if let Some(place) = place(&entry, Some(at)) {
                    return Some(place);
                }
            }
            Ok(found) if found.is_file() => {
                let text = read_line(&entry)?;
                let target = text.strip_prefix(b"gitdir: ")?;
                return place(&at.join(path_of(target)), Some(at));
            }
            _ => {}
        }
        let top = at
            .parent()
            .filter(|_| at.file_name() == Some(".git".as_ref()));
        if let Some(place) = place(at, top) {
            return Some(place);
        }
    }
    None
}

/// What a folder is the folder of, if it is that of a repository.
fn place(git_dir: &Path, top: Option<&Path>) -> Option<Place> {
    let git_dir = git_dir.canonicalize().ok()?;
    let names_commit = match fs::read_link(git_dir.join("HEAD")) {
        Ok(target) => target.as_os_str().as_bytes().starts_with(b"refs/"),
        Err(_) => {
            let text = read_line(&git_dir.join("HEAD"))?;
            match text.strip_prefix(b"ref:") {
                Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
                None => text.len() >= 40 && text.iter().all(u8::is_ascii_hexdigit),
            }
        }
    };
    let common = match git_dir.join("commondir") {
        named if named.symlink_metadata().is_ok() => git_dir.join(path_of(&read_line(&named)?)),
        _ => git_dir.clone(),
    };
    let common = common.canonicalize().ok()?;
    let is_whole = common.join("objects").is_dir() && common.join("refs").is_dir();
    (names_commit && is_whole).then(|| Place {
        common,
        git_dir,
        top: top.map(Path::to_owned),
    })
}

/// The content of a regular file of one line, without its end. A pipe does not block.
fn read_line(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits()).open(path);
    let file = file
        .ok()
        .filter(|file| file.metadata().is_ok_and(|found| found.is_file()))?;
    let mut text = Vec::new();
    file.take(MAX_LINE + 1).read_to_end(&mut text).ok()?;
    let is_line = text.len() as u64 <= MAX_LINE;
    is_line.then(|| text.trim_ascii_end().to_owned())
}
