//! What servers use while a crowd works.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::database::Database;
use crate::server::Server;
use crate::statement::Statement;

/// Processor time, of all threads, in and outside of the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Used(Duration);

/// What Linux counts processor time in.
const TICK: Duration = Duration::from_millis(10);

impl Used {
    /// What these servers used since they began.
    pub(super) fn by(servers: &[Server]) -> Result<Self> {
        let mut all = Duration::ZERO;
        for server in servers {
            let path = format!("/proc/{}/stat", server.process());
            let text = fs::read_to_string(&path).with_context(|| format!("no {path}"))?;
            all += parse(&text).with_context(|| format!("{path} has another form"))?;
        }
        Ok(Self(all))
    }

    pub(super) fn since(self, before: Self) -> Duration {
        self.0.saturating_sub(before.0)
    }
}

fn parse(stat: &str) -> Option<Duration> {
    // The name of the program, which may hold anything, ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * (user + system))
}

/// Bytes of a database file and of what lies beside it.
pub(super) fn size_of_files(file: &Path) -> Result<u64> {
    let log = file.with_extension("db-wal");
    let size = |path: &Path| fs::metadata(path).map(|it| it.len());
    Ok(size(file)? + size(&log).unwrap_or(0))
}

/// Bytes of a database on its server.
pub(super) fn size_on_server(database: &mut impl Database) -> Result<u64> {
    let sql = "SELECT pg_database_size(current_database())";
    Ok(database.number(Statement::new(sql, &[]))?.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_any_name() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 123 456";
        assert_eq!(parse(stat), Some(Duration::from_secs(3)));
        assert_eq!(parse("7 (a"), None);
    }
}
