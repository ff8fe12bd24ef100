use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{LogError, LogSlice, RunLogs};
use workforce_domain::time::Timestamp;

use crate::config::log_path;
use crate::folder_removal::remove_folder;
use workforce_guard::{pack_log, read_log};

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
        remove_folder(&self.runs_dir.join(company.to_string()))
            .map_err(|error| LogError(error.into()))
    }
}

/// Deletes the logs that nobody wrote to since an instant.
///
/// # Errors
/// The first failure; what could be taken away is gone all the same.
pub(crate) fn delete_before(runs_dir: &Path, instant: Timestamp) -> io::Result<()> {
    let oldest = system_time(instant);
    let mut outcome = Ok(());
    for company in entries(runs_dir)? {
        let folder = company?.path();
        for file in entries(&folder)? {
            outcome = outcome.and(file.and_then(|file| delete_file(&file, oldest)));
        }
    }
    outcome
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
    let mut outcome = Ok(());
    let mut packed = 0;
    for company in entries(runs_dir)? {
        for file in entries(&company?.path())? {
            let file = file?;
            let name = file.file_name();
            let run = name.to_str().and_then(|it| it.strip_suffix(".log"));
            let Some(run) = run.and_then(|run| run.parse().ok()) else {
                continue;
            };
            let is_quiet = file.metadata().and_then(|it| it.modified());
            if is_quiet.is_ok_and(|at| at < oldest) && may_pack(run) {
                match pack_log(&file.path()) {
                    Ok(is_packed) => packed += usize::from(is_packed),
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
        }
    }
    outcome.map(|()| packed)
}

fn system_time(instant: Timestamp) -> SystemTime {
    let since_epoch = u64::try_from(instant.micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_micros(since_epoch)
}

fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        // A company that was deleted meanwhile, or a file that is none of ours.
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None.into_iter().flatten()),
            _ => Err(error),
        },
    }
}

fn delete_file(file: &DirEntry, oldest: SystemTime) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.modified()? < oldest {
        fs::remove_file(file.path())?;
    }
    Ok(())
}
