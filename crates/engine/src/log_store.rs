use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use workforce_domain::id::{CompanyId, Id, RunId};
use workforce_domain::port::{LogError, LogSlice, RunLogs};
use workforce_domain::time::Timestamp;
use workforce_folders::{Folder, Kind, remove_folder};
use workforce_guard::{LogPart, pack_log, read_log};

use crate::config::log_path;

/// The output of runs, in one file each: `<runs_dir>/<company>/<run>.log`.
#[derive(Clone, Debug)]
pub struct FileRunLogs {
    runs_dir: PathBuf,
}

impl FileRunLogs {
    /// The logs in the folder that the engine writes them to.
    pub fn new(runs_dir: impl Into<PathBuf>) -> Self {
        Self {
            runs_dir: runs_dir.into(),
        }
    }
}

impl RunLogs for FileRunLogs {
    fn read(
        &self,
        company: CompanyId,
        run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match read_log(&log_path(&self.runs_dir, company, run), offset, limit) {
            Ok(slice) => Ok(slice),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(LogSlice {
                parts: Vec::new(),
                next_offset: offset,
                total: 0,
            }),
            Err(error) => Err(LogError(error.into())),
        }
    }

    fn delete(&self, company: CompanyId) -> Result<(), LogError> {
        delete_all(&self.runs_dir, company).map_err(|error| LogError(error.into()))
    }
}

/// Deletes the logs of a company and what else its runs left, and its folder unless others put
/// something there.
fn delete_all(runs_dir: &Path, company: CompanyId) -> io::Result<()> {
    let Some(runs) = opened(runs_dir)? else {
        return Ok(());
    };
    let company = company.to_string();
    let Some(folder) = runs.find(Path::new(&company))? else {
        return Ok(());
    };
    for (name, kind) in folder.kinds()? {
        match kind {
            Some(Kind::File) if of_run(&name).is_some() => folder.remove_file(&name)?,
            Some(Kind::Folder) if name.to_str().and_then(RunId::of_name).is_some() => {
                // A run that ends meanwhile removes it as well.
                remove_folder(&runs_dir.join(&company).join(&name))?;
            }
            _ => {}
        }
    }
    match runs.remove_empty(OsStr::new(&company)) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

/// The folder of all runs; `None` where there was no run yet.
fn opened(runs_dir: &Path) -> io::Result<Option<Folder>> {
    match Folder::open_without_links(runs_dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// The run and the part of its log that a file is named after.
fn of_run(name: &OsStr) -> Option<(RunId, LogPart)> {
    let (run, part) = LogPart::of_name(name.to_str()?)?;
    Some((RunId::of_name(run)?, part))
}

/// Deletes the logs that nobody wrote to since an instant.
///
/// # Errors
/// The first failure; the others are deleted all the same.
pub(crate) fn delete_before(runs_dir: &Path, instant: Timestamp) -> io::Result<()> {
    let oldest = system_time(instant);
    each_file(runs_dir, |folder, name, _, _| {
        if modified(folder, name)?.is_some_and(|at| at < oldest) {
            folder.remove_file(name)?;
        }
        Ok(())
    })
}

/// Packs the logs that nobody wrote to since an instant, of the runs that `may_pack` allows; how
/// many.
///
/// # Errors
/// The first failure; the others are packed all the same.
pub(crate) fn pack_before(
    runs_dir: &Path,
    instant: Timestamp,
    may_pack: impl Fn(RunId) -> bool,
) -> io::Result<usize> {
    let oldest = system_time(instant);
    let mut packed = 0;
    each_file(runs_dir, |folder, name, run, part| {
        let is_quiet =
            part == LogPart::Text && modified(folder, name)?.is_some_and(|at| at < oldest);
        if is_quiet && may_pack(run) {
            packed += usize::from(pack_log(&folder.path().join(name))?);
        }
        Ok(())
    })?;
    Ok(packed)
}

/// Visits every file of a run's log, in its open folder: `<company>/<run>.log` and what the guard
/// keeps beside it. What others put there, also behind links, is passed over.
///
/// # Errors
/// The first failure; the other files are visited all the same.
fn each_file(
    runs_dir: &Path,
    mut visit: impl FnMut(&Folder, &OsStr, RunId, LogPart) -> io::Result<()>,
) -> io::Result<()> {
    let Some(runs) = opened(runs_dir)? else {
        return Ok(());
    };
    let mut outcome = Ok(());
    for (_, folder) in folders_of::<CompanyId>(&runs) {
        for name in folder.names()? {
            if let Some((run, part)) = of_run(&name) {
                outcome = outcome.and(visit(&folder, &name, run, part));
            }
        }
    }
    outcome
}

/// The folders in a folder whose names are ids; links are none, and what cannot be read has none.
pub(crate) fn folders_of<I: Id>(folder: &Folder) -> Vec<(I, Folder)> {
    let names = folder.names().unwrap_or_default();
    let folders = names.into_iter().filter_map(|name| {
        let id = I::of_name(name.to_str()?)?;
        Some((id, folder.child(&name).ok()?))
    });
    folders.collect()
}

/// When a plain file was last written; `None` for anything else.
fn modified(folder: &Folder, name: &OsStr) -> io::Result<Option<SystemTime>> {
    let stat = folder.stat_of(name)?;
    let file = stat.filter(|stat| Kind::of(stat) == Kind::File);
    Ok(file.map(|stat| {
        let since = u64::try_from(stat.st_mtime).unwrap_or(0);
        SystemTime::UNIX_EPOCH + Duration::from_secs(since)
    }))
}

fn system_time(instant: Timestamp) -> SystemTime {
    let since_epoch = u64::try_from(instant.micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_micros(since_epoch)
}
