use std::io;
use std::path::PathBuf;

use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{LogError, LogSlice, RunLogs};

use crate::config::log_path;
use crate::process::read_log;

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
            Ok(slice) => Ok(LogSlice {
                content: slice.content,
                next_offset: slice.next_offset,
                total: slice.total,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LogSlice {
                content: String::new(),
                next_offset: offset,
                total: 0,
            }),
            Err(error) => Err(LogError(error.into())),
        }
    }
}
