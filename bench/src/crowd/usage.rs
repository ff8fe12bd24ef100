//! What servers use while a crowd works.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use workforce_testkit::postgres::Cluster;

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
            let process = Process::parse(&text);
            all += process
                .with_context(|| format!("{path} has another form"))?
                .own;
        }
        Ok(Self(all))
    }

    /// What all processes of a cluster used since it began. Those that have ended since count with
    /// the one that started them.
    pub(super) fn by_cluster(cluster: &Cluster) -> Result<Self> {
        let first = cluster.process().context("PostgreSQL has no process")?;
        let mut all = Duration::ZERO;
        for entry in fs::read_dir("/proc").context("no /proc")? {
            // Processes of anybody come and go meanwhile.
            let stat = entry.map(|entry| fs::read_to_string(entry.path().join("stat")));
            let Ok(Ok(stat)) = stat else { continue };
            let Some(process) = Process::parse(&stat) else {
                continue;
            };
            if process.id == first {
                all += process.own + process.of_ended_children;
            } else if process.parent == first {
                all += process.own;
            }
        }
        Ok(Self(all))
    }

    pub(super) fn since(self, before: Self) -> Duration {
        self.0.saturating_sub(before.0)
    }
}

/// What Linux tells of a process.
#[derive(Debug, PartialEq)]
struct Process {
    id: u32,
    parent: u32,
    own: Duration,
    of_ended_children: Duration,
}

impl Process {
    fn parse(stat: &str) -> Option<Self> {
        // The name of the program, which may hold anything, ends with the last parenthesis.
        let (id, _) = stat.split_once(' ')?;
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u32>().ok();
        Some(Self {
            id: id.parse().ok()?,
            parent: number(1)?,
            own: TICK * (number(11)? + number(12)?),
            of_ended_children: TICK * (number(13)? + number(14)?),
        })
    }
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
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 80 20 20 0 9 0 123 456";
        let expected = Process {
            id: 7,
            parent: 1,
            own: Duration::from_secs(3),
            of_ended_children: Duration::from_secs(1),
        };
        assert_eq!(Process::parse(stat), Some(expected));
        assert_eq!(Process::parse("7 (a"), None);
    }
}
