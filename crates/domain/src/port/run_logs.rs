//! The output of runs, which is kept beside the store.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::id::{CompanyId, RunId};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// Who wrote a part of a run's log.
    pub enum LogStream {
        /// The program, to its standard output.
        Stdout = "stdout",
        /// The program, to its standard error.
        Stderr = "stderr",
        /// Workforce itself.
        System = "system",
    }
}

/// A part of a log that was written to one stream at about one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// Not later than its first byte; `None` where no instant was noted.
    pub at: Option<Timestamp>,
    /// Who wrote it; where nothing was noted, standard output.
    pub stream: LogStream,
    /// Where it begins, in bytes from the beginning of the log.
    pub offset: u64,
    /// Its text, never empty.
    pub text: String,
}

/// A piece of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSlice {
    /// What it consists of, in the order of the log.
    pub parts: Vec<LogPart>,
    /// Where the next piece begins, in bytes.
    pub next_offset: u64,
    /// How long the log is now, in bytes.
    pub total: u64,
}

impl LogSlice {
    /// The whole text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn content(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }
}

/// Why a run's log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the log is out of reach")]
pub struct LogError(#[source] pub Box<dyn core::error::Error + Send + Sync>);

/// Where the output of runs is kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait RunLogs: Send + Sync {
    /// At most `limit` bytes of a run's log from `offset` on; empty for a run
    /// that wrote nothing.
    ///
    /// # Errors
    /// When the log exists and cannot be read.
    fn read(
        &self,
        company: CompanyId,
        run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError>;

    /// Takes away the logs of a company that was deleted.
    ///
    /// # Errors
    /// When some of them are still there.
    fn delete(&self, company: CompanyId) -> Result<(), LogError>;
}
