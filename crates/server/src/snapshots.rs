//! Makes a copy of the SQLite database in the data folder every night
//! (docs/upkeep.md#snapshots).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, ensure};
use nix::sys::statvfs::statvfs;
use tokio::sync::oneshot::{self, error::RecvError};
use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;
use workforce_infra::store::snapshot;

/// The folder of snapshots in the data folder.
pub(crate) const FOLDER: &str = "snapshots";
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

/// Makes snapshots until it is dropped, each so long after the one before,
/// whoever made that. Failures are logged, and noted for `workforce doctor`.
pub(crate) async fn run(
    every: Duration,
    data_dir: PathBuf,
    database: PathBuf,
    clock: Arc<dyn Clock>,
) {
    let folder = data_dir.join(FOLDER);
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

/// When the latest snapshot was made.
pub(crate) fn latest(folder: &Path) -> Option<Timestamp> {
    let latest = snapshots(folder).ok()?.pop()?;
    let made = folder.join(latest).metadata().ok()?.modified().ok()?;
    let since = made.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_micros(
        i64::try_from(since.as_micros()).ok()?,
    ))
}

/// Why the latest attempt failed, if it did.
pub(crate) fn failure(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(FAILED)).ok()
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
    let partial = folder.join(PARTIAL);
    remove(&partial)?;
    remove(&folder.join(JOURNAL))?;
    snapshot(database, &partial)?;
    let digits: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    let path = folder.join(format!("{PREFIX}{digits}{SUFFIX}"));
    fs::rename(&partial, &path)?;
    fs::File::open(folder)?.sync_all()?;
    let mut names = snapshots(folder)?;
    names.truncate(names.len().saturating_sub(KEPT));
    for old in names {
        remove(&folder.join(old))?;
    }
    remove(&folder.join(FAILED))?;
    Ok(path.metadata()?.len())
}

/// The bytes that a copy of the database has at most.
fn size(database: &Path) -> io::Result<u64> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::metadata(log).map_or(0, |it| it.len());
    Ok(fs::metadata(database)?.len() + log)
}

/// The names of the snapshots in a folder, oldest first.
fn snapshots(folder: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.flatten().map(|it| it.file_name());
    let mut snapshots: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
        .collect();
    snapshots.sort_unstable();
    Ok(snapshots)
}

fn note(folder: &Path, error: &anyhow::Error) {
    let noted =
        fs::File::create(folder.join(FAILED)).and_then(|mut file| writeln!(file, "{error:#}"));
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

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_seven_are_kept() {
        let data = tempfile::tempdir().unwrap();
        let (folder, database) = (data.path().join(FOLDER), data.path().join("workforce.db"));
        let store = workforce_infra::store::open(
            &workforce_infra::store::DatabaseUrl::sqlite(&database),
            &workforce_infra::store::OpenOptions::default(),
        );
        let now = |number: i64| Timestamp::from_micros(1_800_000_000_000_000 + number);
        for number in 0..9 {
            make(&folder, &database, now(number)).unwrap();
        }
        drop(store);
        let kept = snapshots(&folder).unwrap();
        assert_eq!(kept.len(), KEPT);
        assert!(kept[0].ends_with("000002.db"), "{kept:?}");
        assert!(latest(&folder).is_some() && failure(&folder).is_none());
        // What fails changes nothing of what is there.
        let missing = data.path().join("missing.db");
        let error = make(&folder, &missing, now(9)).unwrap_err();
        note(&folder, &error);
        assert!(failure(&folder).is_some());
        assert_eq!(snapshots(&folder).unwrap(), kept);
    }
}
