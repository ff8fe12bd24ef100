//! The report: tables and charts for people, JSON for programs.

mod chart;
#[cfg(test)]
mod examples;
mod page;
mod table;
mod targets;

use serde::{Deserialize, Serialize};

pub(crate) use self::chart::chart;
pub(crate) use self::page::page;
pub(crate) use self::table::{rate, thousands};
pub(crate) use self::targets::{Criterion, acceptance, acceptance_lines};

use crate::claims::Claims;
use crate::crowd::CrowdRun;
use crate::figure::Figure;
use crate::load::{Measurement, Pace};
use crate::machine::Machine;
use crate::server::Memory;

/// Everything that one run of the bench found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    /// RFC 3339.
    pub(crate) began_at: String,
    pub(crate) machine: Machine,
    pub(crate) load_average_at_begin: Option<f64>,
    pub(crate) load_average_at_end: Option<f64>,
    pub(crate) pace: Pace,
    pub(crate) claims: Vec<Claims>,
    pub(crate) runs: Vec<Run>,
    /// Many agents at work.
    pub(crate) crowds: Vec<CrowdRun>,
    /// Writes whose baseline runs other statements than the server.
    pub(crate) statement_differences: Vec<String>,
    pub(crate) acceptance: Vec<Criterion>,
}

/// One database with one number of issues.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) database: String,
    pub(crate) issues: usize,
    /// The median of `start_ups_ms`.
    pub(crate) start_up_ms: f64,
    pub(crate) start_ups_ms: Vec<f64>,
    pub(crate) memory: Memory,
    pub(crate) rows: Vec<Row>,
}

/// One figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) figure: Figure,
    pub(crate) connections: usize,
    pub(crate) server: Measurement,
    /// The limit, of reads.
    pub(crate) limit: Option<Baseline>,
    /// The baseline, of writes.
    pub(crate) baseline: Option<Baseline>,
    /// The baseline with shared commits, where the server shares them.
    pub(crate) grouped_baseline: Option<Baseline>,
}

/// A baseline or a limit beside the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Baseline {
    pub(crate) connections: usize,
    /// Transactions per commit.
    pub(crate) group: usize,
    pub(crate) measurement: Measurement,
    /// The server's throughput divided by that of the baseline.
    pub(crate) ratio: f64,
}

/// How runs on a file are named.
pub(crate) const SQLITE: &str = "SQLite";
/// How runs on a database server are named.
pub(crate) const POSTGRES: &str = "PostgreSQL";
