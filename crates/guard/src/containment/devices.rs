//! What lies in `/dev`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(super) const FOLDER: &str = "/dev";
/// What everybody may do with a device that anybody may use.
const EVERYBODY: u32 = 0o006;

/// What of `/dev` everybody may use, and what is mounted there. Disks, consoles and
/// whatever else is for root or a group is not among it.
pub(super) fn for_everybody() -> Vec<PathBuf> {
    let mut found = Vec::new();
    gather(Path::new(FOLDER), &mut found);
    found
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(own) = folder.metadata() else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // Links are not followed.
        let Ok(file) = entry.metadata() else {
            continue;
        };
        let is_for_everybody = file.permissions().mode() & EVERYBODY == EVERYBODY;
        match file.is_dir() {
            _ if file.is_symlink() => {}
            true if !is_for_everybody && file.dev() == own.dev() => gather(&path, found),
            true => found.push(path),
            false if is_for_everybody => found.push(path),
            false => {}
        }
    }
}

/// The links directly in `/dev`, with what they name.
pub(super) fn links() -> Vec<(PathBuf, PathBuf)> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let link = |entry: fs::DirEntry| Some((entry.path(), fs::read_link(entry.path()).ok()?));
    entries.filter_map(link).collect()
}
