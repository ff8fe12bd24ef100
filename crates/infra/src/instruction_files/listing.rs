use std::io;

use nix::dir::{Dir, Type};
use nix::fcntl::OFlag;
use nix::sys::stat::fstat;
use workforce_domain::instructions::{BundlePath, MAX_FILE_BYTES, MAX_FILES, is_text_name};
use workforce_domain::port::{ExternalFile, ExternalListing};

use super::is_plain;
use super::roots::Root;

/// So many names are looked at in all. A home folder has more, and nobody
/// keeps instructions among them.
const MAX_NAMES: usize = 5000;

/// The visible text files beneath a folder, by path; links are passed over.
pub(super) fn list(root: &Root) -> io::Result<ExternalListing> {
    let mut listing = ExternalListing::default();
    let mut names = 0;
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let opened = match root.open(&folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY) {
            Ok(opened) => opened,
            Err(error) if folder.is_empty() => return Err(error),
            // It went away, became a link, or is not the server's to read.
            Err(_) => continue,
        };
        let mut dir = Dir::from_fd(opened)?;
        for entry in dir.iter() {
            let entry = entry?;
            names += 1;
            if names > MAX_NAMES {
                listing.is_cut = true;
                return Ok(sorted(listing));
            }
            let Some(path) = entry
                .file_name()
                .to_str()
                .ok()
                .filter(|name| !name.starts_with('.'))
                .map(|name| join(&folder, name))
            else {
                continue;
            };
            match entry.file_type() {
                Some(Type::Directory) if depth(&path) < BundlePath::MAX_SEGMENTS => {
                    folders.push(path);
                }
                Some(Type::File) | None => listing.files.extend(text_file(root, &path)),
                _ => {}
            }
        }
    }
    Ok(sorted(listing))
}

fn sorted(mut listing: ExternalListing) -> ExternalListing {
    listing
        .files
        .sort_by(|one, other| one.path.cmp(&other.path));
    if listing.files.len() > MAX_FILES {
        listing.files.truncate(MAX_FILES);
        listing.is_cut = true;
    }
    listing
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn depth(path: &str) -> usize {
    path.split('/').count()
}

fn text_file(root: &Root, path: &str) -> Option<ExternalFile> {
    let path = BundlePath::parse(path)
        .ok()
        .filter(|read| read.as_str() == path && is_text_name(path))?;
    let seen = root
        .open(path.as_str(), OFlag::O_PATH | OFlag::O_NOFOLLOW)
        .ok()?;
    let stat = fstat(&seen).ok().filter(is_plain)?;
    let size = u64::try_from(stat.st_size).ok()?;
    (size <= MAX_FILE_BYTES as u64).then_some(ExternalFile { path, size })
}
