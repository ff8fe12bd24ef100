//! Moves new objects into a repository, as git does with those that it received:
//! loose ones first, and of a pack its index last.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{Gid, Uid, fchown};

use crate::error::Tried as _;
use crate::folder::{Folder, Kind};
use crate::{GitError, Repository};

/// A line for each repository whose objects are borrowed.
const MAX_ALTERNATES: usize = 1024 * 1024;

/// Fails if an object, or a folder of them, is a link, which could lead to those of
/// another repository, or a pipe, which git would wait for.
pub(crate) fn check(repository: &Folder) -> Result<(), GitError> {
    let objects = repository
        .child(OsStr::new("objects"))
        .map_err(|error| GitError::tampered(format!("objects ({error})")))?;
    let looking = || "look at the objects of the repository".to_owned();
    for (name, kind) in objects.kinds().tried(looking)? {
        let holds_objects = name == "pack" || name.len() == 2;
        let is_other = match kind {
            _ if !holds_objects => false,
            Some(Kind::Folder) => match objects.child(&name) {
                Ok(folder) => folder
                    .kinds()
                    .tried(looking)?
                    .iter()
                    .any(|(_, kind)| matches!(kind, Some(Kind::Link | Kind::Special))),
                Err(_) => true,
            },
            _ => true,
        };
        if is_other {
            let name = name.to_string_lossy();
            return Err(GitError::tampered(format!(
                "objects/{name} (no files are there)"
            )));
        }
    }
    Ok(())
}

/// The file in which a repository names the objects of others, where it names any. What
/// they hold is never read.
pub(crate) fn alternates(repository: &Repository) -> Option<PathBuf> {
    let folder = Path::new("objects/info");
    let info = repository.folder().below(folder).ok()?;
    let named = info.read("alternates", MAX_ALTERNATES);
    // A file that cannot be read may name others.
    let is_empty = named.is_ok_and(|text| text.unwrap_or_default().trim_ascii().is_empty());
    let path = repository.common_dir().join(folder).join("alternates");
    (!is_empty).then_some(path)
}

/// The order in which the files of a pack become visible, by their endings.
const PACK_ORDER: [&str; 4] = [".pack", ".rev", ".keep", ".idx"];

/// Moves all objects below `from` into the repository's folder.
pub(crate) fn publish(from: &Path, repository: &Folder) -> io::Result<()> {
    let objects = repository.child(OsStr::new("objects"))?;
    let from = Folder::open(from)?;
    let mut names = from.names()?;
    names.sort();
    for name in names {
        match name.to_str() {
            Some("pack") => publish_packs(&from.child(&name)?, &objects, &name)?,
            Some(fan_out) if fan_out.len() == 2 => {
                let loose = from.child(&name)?;
                let files = loose.names()?;
                if !files.is_empty() {
                    publish_files(&loose, &files, &shared_child(&objects, &name)?)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn publish_packs(packs: &Folder, objects: &Folder, name: &OsStr) -> io::Result<()> {
    let all = packs.names()?;
    if all.is_empty() {
        return Ok(());
    }
    let target = shared_child(objects, name)?;
    for ending in PACK_ORDER {
        // A `.keep` would hold the pack for ever.
        let files: Vec<_> = all
            .iter()
            .filter(|name| ending != ".keep" && name.to_string_lossy().ends_with(ending))
            .cloned()
            .collect();
        publish_files(packs, &files, &target)?;
    }
    Ok(())
}

pub(crate) fn publish_files(from: &Folder, names: &[OsString], to: &Folder) -> io::Result<()> {
    for name in names {
        // Same name, same content: objects are named after what they hold.
        if to.kind(name)?.is_some() {
            continue;
        }
        let Some(mut source) = from.open_file(name)? else {
            continue;
        };
        let temporary = to.temporary("tmp_obj")?;
        let written = to.new_file(&temporary, 0o444).and_then(|mut file| {
            copy(&mut source, &mut file)?;
            file.sync_all()?;
            to.rename(&temporary, to, name)
        });
        if let Err(error) = written {
            let _ = to.remove_file(&temporary);
            return Err(error);
        }
    }
    Ok(())
}

fn copy(source: &mut fs::File, target: &mut fs::File) -> io::Result<()> {
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        target.write_all(&buffer[..read])?;
    }
}

/// A folder among the objects, for the same users as these.
fn shared_child(objects: &Folder, name: &OsStr) -> io::Result<Folder> {
    match objects.new_child(name, 0o755) {
        Ok(folder) => {
            let stat = objects.stat()?;
            fchmod(&folder, Mode::from_bits_truncate(stat.st_mode & 0o7777))?;
            // An agent with another account must be able to add objects to it.
            let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
            let _ = fchown(&folder, Some(user), Some(group));
            Ok(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => objects.child(name),
        Err(error) => Err(error),
    }
}
