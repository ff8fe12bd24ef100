//! What a writer that was killed leaves in a folder: `<company>/<asset>#<number>`, which becomes
//! `<company>/<asset>` when it is whole, and which no list shows.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use workforce_domain::id::{AssetId, CompanyId};
use workforce_domain::time::Timestamp;

/// Removes unfinished files that were last written before an instant.
pub(super) fn discard(folder: &Path, before: Timestamp) -> io::Result<usize> {
    let mut removed = 0;
    for company in fs::read_dir(folder)? {
        let company = company?;
        let is_ours = company
            .file_name()
            .to_str()
            .is_some_and(|name| name.parse::<CompanyId>().is_ok());
        if !is_ours || !company.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(company.path())? {
            let file = file?;
            if file.file_name().to_str().is_some_and(is_unfinished)
                && is_older(&file, before)
                && remove(&file.path())?
            {
                removed += 1;
            }
        }
    }
    Ok(removed)
}

fn is_unfinished(name: &str) -> bool {
    name.split_once('#').is_some_and(|(asset, number)| {
        asset.parse::<AssetId>().is_ok()
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// False for what vanished meanwhile.
fn is_older(file: &fs::DirEntry, before: Timestamp) -> bool {
    let written = file.metadata().and_then(|metadata| metadata.modified());
    let since_1970 = written.map(|at| at.duration_since(UNIX_EPOCH).unwrap_or_default());
    let limit = Duration::from_micros(u64::try_from(before.micros()).unwrap_or_default());
    since_1970.is_ok_and(|at| at < limit)
}

/// Says whether it was there: another server may have been faster.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
