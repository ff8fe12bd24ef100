//! What is removed from a folder of attachments: `<company>/<asset>`, and what a writer that was
//! killed left, `<company>/<asset>#<number>`, which becomes the former when it is whole and which no
//! list shows. Nothing is removed that has another name, is no plain file, or lies behind a link.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

use nix::sys::stat::FileStat;
use workforce_domain::attachment::ObjectName;
use workforce_domain::id::{AssetId, CompanyId, Id as _};
use workforce_domain::time::Timestamp;
use workforce_folders::{Folder, Kind};

/// Whether the file of an object is there.
///
/// # Errors
/// When its folder cannot be read.
pub(super) fn is_there(folder: &Path, name: ObjectName) -> io::Result<bool> {
    let found = find(folder, name)?;
    Ok(found.is_some())
}

/// Removes the file of an object. It may be gone already.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn remove(folder: &Path, name: ObjectName) -> io::Result<()> {
    match find(folder, name)? {
        Some(company) => company.remove_file(OsStr::new(&name.asset.to_string())),
        None => Ok(()),
    }
}

/// The folder with the file of an object; `None` when it is not there.
fn find(folder: &Path, name: ObjectName) -> io::Result<Option<Folder>> {
    let folder = Folder::open_without_links(folder)?;
    let Some(company) = folder.find(Path::new(&name.company.to_string()))? else {
        return Ok(None);
    };
    let kind = company.kind(OsStr::new(&name.asset.to_string()))?;
    Ok((kind == Some(Kind::File)).then_some(company))
}

/// Removes unfinished files that were last written before an instant; how many.
///
/// # Errors
/// The first one that cannot be removed.
pub(super) fn discard_unfinished(folder: &Path, before: Timestamp) -> io::Result<usize> {
    let folder = Folder::open_without_links(folder)?;
    let mut removed = 0;
    for name in folder.names()? {
        if name.to_str().and_then(CompanyId::of_name).is_none() {
            continue;
        }
        let Some(company) = folder.find(Path::new(&name))? else {
            continue;
        };
        for file in company.names()? {
            let is_old = |stat| Kind::of(&stat) == Kind::File && is_older(&stat, before);
            if file.to_str().is_some_and(is_unfinished)
                && company.stat_of(&file)?.is_some_and(is_old)
            {
                company.remove_file(&file)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

fn is_unfinished(name: &str) -> bool {
    name.split_once('#').is_some_and(|(asset, number)| {
        AssetId::of_name(asset).is_some()
            && number
                .parse::<u64>()
                .is_ok_and(|it| it.to_string() == number)
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

fn is_older(stat: &FileStat, before: Timestamp) -> bool {
    let limit = Duration::from_micros(u64::try_from(before.micros()).unwrap_or_default());
    u64::try_from(stat.st_mtime).unwrap_or_default() < limit.as_secs()
}
