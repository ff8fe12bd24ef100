//! Single paths in a worktree. No link is followed.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use nix::errno::Errno;

use crate::folder::{Folder, Kind, path_of};

/// What stands at a path, if no link is on the way.
pub(crate) fn kind_at(folder: &Folder, path: &[u8]) -> io::Result<Option<Kind>> {
    let path = path_of(path);
    match folder.below(path.parent().unwrap_or(Path::new(""))) {
        Ok(parent) => parent.kind(path.file_name().unwrap_or_default()),
        Err(_) => Ok(None),
    }
}

/// Removes a file, and the folders that are empty then.
pub(crate) fn remove_at(folder: &Folder, path: &[u8]) -> io::Result<()> {
    let path = path_of(path);
    let mut at = path.as_path();
    while let Some(above) = at.parent() {
        let name = at.file_name().unwrap_or_default();
        let Ok(parent) = folder.below(above) else {
            return Ok(());
        };
        if at == path {
            if parent.kind(name)? == Some(Kind::Folder) {
                return Ok(());
            }
            parent.remove_file(name)?;
        } else if parent.remove_empty(name).is_err() {
            return Ok(());
        }
        at = above;
        if at.as_os_str().is_empty() {
            break;
        }
    }
    Ok(())
}

/// True if a file can be written to a path without replacing anything but another
/// file there, and those that are `removed` before.
pub(crate) fn is_free(
    folder: &Folder,
    path: &[u8],
    removed: &BTreeSet<Vec<u8>>,
) -> io::Result<bool> {
    let path = path_of(path);
    let mut at = folder.below(Path::new(""))?;
    let mut walked = Vec::new();
    for component in path.parent().unwrap_or(Path::new("")).components() {
        if !walked.is_empty() {
            walked.push(b'/');
        }
        walked.extend_from_slice(component.as_os_str().as_encoded_bytes());
        match at.child(component.as_os_str()) {
            Ok(child) => at = child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) if error.raw_os_error() == Some(Errno::ENOTDIR as i32) => {
                return Ok(removed.contains(&walked));
            }
            Err(error) => return Err(error),
        }
    }
    let name = path.file_name().unwrap_or_default();
    match at.kind(name)? {
        Some(Kind::Folder) => {
            walked = path.as_os_str().as_encoded_bytes().to_vec();
            holds_only(&at.child(name)?, &walked, removed)
        }
        _ => Ok(true),
    }
}

/// True if all files in a folder are among those.
fn holds_only(folder: &Folder, path: &[u8], files: &BTreeSet<Vec<u8>>) -> io::Result<bool> {
    for name in folder.names()? {
        let mut inner = path.to_vec();
        inner.push(b'/');
        inner.extend_from_slice(name.as_encoded_bytes());
        let is_known = match folder.kind(&name)? {
            Some(Kind::Folder) => holds_only(&folder.child(&name)?, &inner, files)?,
            Some(_) => files.contains(&inner),
            None => true,
        };
        if !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}
