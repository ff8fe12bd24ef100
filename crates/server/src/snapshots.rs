//! Makes a copy of the SQLite database in the data folder every night
//! (docs/upkeep.md#snapshots).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, ensure};
use nix::sys::statvfs::statvfs;
use tokio::sync::oneshot::{self, error::RecvError};
use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;
use workforce_folders::{Folder, Kind};
use workforce_infra::data_folder::SNAPSHOTS;
use workforce_infra::store::snapshot;

/// So many are kept.
const KEPT: usize = 7;
/// The first one comes soon after the start, when the rest has settled.
const FIRST: Duration = Duration::from_secs(60);
/// After a failure it is tried again after so long.
const RETRY: Duration = Duration::from_secs(60 * 60);
/// What the name of a snapshot begins and ends with.
const PREFIX: &str = "workforce-";
const SUFFIX: &str = ".db";
/// A snapshot that is not whole, and what SQLite keeps beside it.
const PARTIAL: &str = "partial";
const JOURNAL: &str = "partial-journal";
/// Says why there is no new one.
const FAILED: &str = "failed";
/// A reason has at most so many bytes.
const FAILURE_MAX: usize = 64 * 1024;
/// Digits of an instant to the microsecond.
const DIGITS: usize = 20;

/// Makes snapshots until it is dropped, each so long after the one before,
/// whoever made that. Failures are logged, and noted for `workforce doctor`.
pub(crate) async fn run(
    every: Duration,
    data_dir: PathBuf,
    database: PathBuf,
    clock: Arc<dyn Clock>,
) {
    let folder = data_dir.join(SNAPSHOTS);
    tokio::time::sleep(FIRST.min(every)).await;
    loop {
        let age = latest(&folder).map(|at| clock.now().since(at));
        if let Some(rest) = age.and_then(|age| every.checked_sub(age))
            && !rest.is_zero()
        {
            tokio::time::sleep(rest).await;
            continue;
        }
        let (place, from, now) = (folder.clone(), database.clone(), clock.now());
        let made = apart(move || make(&place, &from, now).inspect_err(|error| note(&place, error)));
        match made.await {
            Ok(Ok(bytes)) => tracing::info!(bytes, "made a snapshot of the database"),
            Ok(Err(error)) => {
                tracing::warn!(error = format!("{error:#}"), "there is no new snapshot");
                tokio::time::sleep(RETRY.min(every)).await;
            }
            Err(error) => {
                tracing::error!(%error, "the making of a snapshot ended");
                tokio::time::sleep(RETRY.min(every)).await;
            }
        }
    }
}

/// Does `work` on a thread that ends with the process. A server that stops waits for those of its
/// runtime, and a large database takes minutes to copy.
async fn apart(
    work: impl FnOnce() -> anyhow::Result<u64> + Send + 'static,
) -> Result<anyhow::Result<u64>, RecvError> {
    let (sender, done) = oneshot::channel();
    let started = thread::Builder::new().name("snapshot".into()).spawn(|| {
        // Nobody waits for it any more when the server stops.
        let _ = sender.send(work());
    });
    match started {
        Ok(_thread) => done.await,
        Err(error) => Ok(Err(error.into())),
    }
}

/// The newest snapshot in a folder.
pub(crate) fn newest(folder: &Path) -> Option<PathBuf> {
    let names = snapshots(&open(folder).ok()?).ok()?;
    Some(folder.join(names.last()?))
}

/// When the latest snapshot was made.
pub(crate) fn latest(folder: &Path) -> Option<Timestamp> {
    let made = newest(folder)?.metadata().ok()?.modified().ok()?;
    let since = made.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_micros(
        i64::try_from(since.as_micros()).ok()?,
    ))
}

/// Why the latest attempt failed, if it did.
pub(crate) fn failure(folder: &Path) -> Option<String> {
    let text = open(folder).ok()?.read(FAILED, FAILURE_MAX).ok()??;
    String::from_utf8(text).ok()
}

/// Makes one, and deletes those beyond the newest [`KEPT`]; its size in bytes.
fn make(folder: &Path, database: &Path, now: Timestamp) -> anyhow::Result<u64> {
    make_private(folder).with_context(|| folder.display().to_string())?;
    let needed = 2 * size(database)?;
    let disk = statvfs(folder)?;
    let free = disk.blocks_available() * disk.fragment_size();
    ensure!(
        free >= needed,
        "{free} bytes are free, and a snapshot is made only where {needed} are"
    );
    let opened = open(folder).with_context(|| folder.display().to_string())?;
    let (partial, journal) = (OsStr::new(PARTIAL), OsStr::new(JOURNAL));
    opened.remove_file(partial)?;
    opened.remove_file(journal)?;
    snapshot(database, &folder.join(PARTIAL))?;
    let name = format!("{PREFIX}{}{SUFFIX}", digits(now));
    opened.rename_new(partial, &opened, OsStr::new(&name))?;
    let mut names = snapshots(&opened)?;
    names.truncate(names.len().saturating_sub(KEPT));
    for old in names {
        opened.remove_file(OsStr::new(&old))?;
    }
    opened.remove_file(OsStr::new(FAILED))?;
    fs::File::from(opened).sync_all()?;
    Ok(folder.join(name).metadata()?.len())
}

/// An instant as it stands in names, to the microsecond.
pub(crate) fn digits(at: Timestamp) -> String {
    let text = at.to_string();
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The folder, unless it is a link or lies behind one: somebody else's files would be removed.
fn open(folder: &Path) -> io::Result<Folder> {
    Folder::open_without_links(folder)
}

/// The bytes that a copy of the database has at most.
fn size(database: &Path) -> io::Result<u64> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::metadata(log).map_or(0, |it| it.len());
    Ok(fs::metadata(database)?.len() + log)
}

/// The names of the snapshots in a folder, oldest first. What has another name, or is no plain
/// file, somebody else put there.
fn snapshots(folder: &Folder) -> io::Result<Vec<String>> {
    let is_snapshot = |name: &String| {
        let digits = name
            .strip_prefix(PREFIX)
            .and_then(|it| it.strip_suffix(SUFFIX));
        digits.is_some_and(|it| it.len() == DIGITS && it.bytes().all(|b| b.is_ascii_digit()))
    };
    let files = folder.kinds()?.into_iter();
    let files = files.filter(|(_, kind)| *kind == Some(Kind::File));
    let names = files.filter_map(|(name, _)| name.into_string().ok());
    let mut snapshots: Vec<String> = names.filter(is_snapshot).collect();
    snapshots.sort_unstable();
    Ok(snapshots)
}

fn note(folder: &Path, error: &anyhow::Error) {
    let noted =
        open(folder).and_then(|folder| folder.replace(FAILED, format!("{error:#}\n").as_bytes()));
    if let Err(error) = noted {
        tracing::debug!(%error, "why there is no new snapshot is not noted");
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_seven_are_kept() {
        let data = tempfile::tempdir().unwrap();
        let (folder, database) = (
            data.path().join(SNAPSHOTS),
            data.path().join("workforce.db"),
        );
        let store = workforce_infra::store::open(
            &workforce_infra::store::DatabaseUrl::sqlite(&database),
            &workforce_infra::store::OpenOptions::default(),
        );
        let now = |number: i64| Timestamp::from_micros(1_800_000_000_000_000 + number);
        for number in 0..9 {
            make(&folder, &database, now(number)).unwrap();
        }
        drop(store);
        let kept = snapshots(&open(&folder).unwrap()).unwrap();
        assert_eq!(kept.len(), KEPT);
        assert!(kept[0].ends_with("000002.db"), "{kept:?}");
        assert!(latest(&folder).is_some() && failure(&folder).is_none());
        // What fails changes nothing of what is there.
        let missing = data.path().join("missing.db");
        let error = make(&folder, &missing, now(9)).unwrap_err();
        note(&folder, &error);
        assert!(failure(&folder).is_some());
        assert_eq!(snapshots(&open(&folder).unwrap()).unwrap(), kept);
    }
}
