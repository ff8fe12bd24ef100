//! The report: a table for people, JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::claims::Claims;
use crate::crowd::CrowdRun;
use crate::figure::Figure;
use crate::load::{Measurement, Pace};
use crate::machine::Machine;
use crate::server::Memory;

/// Everything that one run of the bench found out.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) database: &'static str,
    pub(crate) issues: usize,
    /// The median of `start_ups_ms`.
    pub(crate) start_up_ms: f64,
    pub(crate) start_ups_ms: Vec<f64>,
    pub(crate) memory: Memory,
    pub(crate) rows: Vec<Row>,
}

/// One figure.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
pub(crate) struct Baseline {
    pub(crate) connections: usize,
    /// Transactions per commit.
    pub(crate) group: usize,
    pub(crate) measurement: Measurement,
    /// The server's throughput divided by that of the baseline.
    pub(crate) ratio: f64,
}

/// Something the service has to reach.
#[derive(Debug, Serialize, PartialEq)]
pub(crate) struct Criterion {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
    pub(crate) met: bool,
}

/// What a figure is compared to.
#[derive(Debug, Clone, Copy, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    Below(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met_by(self, measured: f64) -> bool {
        match self {
            Self::Below(bound) => measured < bound,
            Self::AtLeast(bound) => measured >= bound,
        }
    }
}

/// How runs on a file are named.
pub(crate) const SQLITE: &str = "SQLite";
/// How runs on a database server are named.
pub(crate) const POSTGRES: &str = "PostgreSQL";

/// A read of one object answers 99 of 100 requests in less, in milliseconds.
const SINGLE_READ_P99: f64 = 10.0;
/// A read reaches at least this part of its limit.
const READ_RATIO: f64 = 0.5;
/// A write reaches at least this part of its baseline, with shared commits where there are such.
const WRITE_RATIO: f64 = 0.6;
/// What is checked out and released at least.
const CHECKOUT_RATIO: f64 = 0.8;
/// Resident memory stays below, in MiB.
const RESIDENT: f64 = 60.0;
/// The server answers after less, in milliseconds.
const START_UP: f64 = 300.0;

/// A claim with the most due wakes costs less than so many with the fewest.
const CLAIM_GROWTH: f64 = 2.0;

/// What `runs` and `claims` say about the targets.
pub(crate) fn acceptance(runs: &[Run], claims: &[Claims]) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    let mut add = |what: String, measured: f64, unit: &'static str, target: Target| {
        let met = target.is_met_by(measured);
        criteria.push(Criterion {
            what,
            measured,
            unit,
            target,
            met,
        });
    };
    for claims in claims {
        if let Some(growth) = claims.growth() {
            add(
                format!(
                    "{}: a claim, from the fewest due wakes to the most",
                    claims.database
                ),
                growth,
                "times",
                Target::Below(CLAIM_GROWTH),
            );
        }
    }
    for run in runs {
        let place = format!("{}, {} issues", run.database, thousands(run.issues));
        for row in &run.rows {
            let title = row.figure.title();
            if run.has_read_target() && row.figure.is_single_read() {
                let target = Target::Below(SINGLE_READ_P99);
                add(
                    format!("{place}: {title}, {} clients, p99", row.connections),
                    row.server.p99_ms,
                    "ms",
                    target,
                );
            }
            let clients = row.connections;
            if let Some(limit) = &row.limit {
                add(
                    format!("{place}: {title}, {clients} clients, part of the limit"),
                    limit.ratio,
                    "",
                    Target::AtLeast(READ_RATIO),
                );
            }
            if let Some(baseline) = row.grouped_baseline.as_ref().or(row.baseline.as_ref()) {
                let ratio = if matches!(row.figure, Figure::CheckoutRelease) {
                    CHECKOUT_RATIO
                } else {
                    WRITE_RATIO
                };
                add(
                    format!("{place}: {title}, {clients} clients, part of the baseline"),
                    baseline.ratio,
                    "",
                    Target::AtLeast(ratio),
                );
            }
        }
        let resident = run.memory.resident_mib;
        add(
            format!("{place}: resident memory"),
            resident,
            "MiB",
            Target::Below(RESIDENT),
        );
        add(
            format!("{place}: start-up"),
            run.start_up_ms,
            "ms",
            Target::Below(START_UP),
        );
    }
    criteria
}

impl Run {
    /// Whether reads of one object have a target here: it was set for a large file on the same
    /// machine, not for a round trip to another process per statement.
    fn has_read_target(&self) -> bool {
        self.database == SQLITE && self.issues >= 100_000
    }

    /// The table of this run.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{}, {} issues\nstart-up {:.0} ms, resident memory {:.1} MiB (peak {:.1}, without \
             mapped files {:.1})\n\n",
            self.database,
            thousands(self.issues),
            self.start_up_ms,
            self.memory.resident_mib,
            self.memory.peak_mib,
            self.memory.anonymous_mib,
        );
        let mut line = |cells: [&str; 9]| {
            let [
                title,
                clients,
                rate,
                p50,
                p99,
                baseline,
                ratio,
                grouped,
                grouped_ratio,
            ] = cells;
            let row = format!(
                "{title:<19}{clients:>8}{rate:>10}{p50:>9}{p99:>9}{baseline:>12}{ratio:>7}\
                 {grouped:>12}{grouped_ratio:>7}"
            );
            text.push_str(row.trim_end());
            text.push('\n');
        };
        line([
            "figure",
            "clients",
            "per s",
            "p50 ms",
            "p99 ms",
            "limit/s",
            "ratio",
            "grouped/s",
            "ratio",
        ]);
        for row in &self.rows {
            let rate = |baseline: Option<&Baseline>| {
                baseline.map_or_else(String::new, |it| rate(it.measurement.per_second))
            };
            let ratio = |baseline: Option<&Baseline>| {
                baseline.map_or_else(String::new, |it| format!("{:.2}", it.ratio))
            };
            line([
                row.figure.title(),
                &row.connections.to_string(),
                &self::rate(row.server.per_second),
                &format!("{:.2}", row.server.p50_ms),
                &format!("{:.2}", row.server.p99_ms),
                &rate(row.limit.as_ref().or(row.baseline.as_ref())),
                &ratio(row.limit.as_ref().or(row.baseline.as_ref())),
                &rate(row.grouped_baseline.as_ref()),
                &ratio(row.grouped_baseline.as_ref()),
            ]);
        }
        text
    }
}

/// The lines that say which targets are met.
pub(crate) fn acceptance_lines(criteria: &[Criterion]) -> String {
    let mut text = String::new();
    for criterion in criteria {
        let verdict = if criterion.met { "met    " } else { "NOT MET" };
        let (sign, target) = match criterion.target {
            Target::Below(bound) => ("<", bound),
            Target::AtLeast(bound) => (">=", bound),
        };
        let Criterion {
            what,
            measured,
            unit,
            ..
        } = criterion;
        let line = format!("{verdict}  {what}: {measured:.2} {unit} (target {sign} {target})");
        // Writing to a text does not fail.
        let _ = writeln!(text, "{}", line.replace("  (", " ("));
    }
    text
}

fn rate(per_second: f64) -> String {
    thousands(per_second.round() as usize)
}

/// With a comma between thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(per_second: f64, p99_ms: f64) -> Measurement {
        Measurement {
            operations: 1000,
            per_second,
            p50_ms: 1.0,
            p99_ms,
            max_ms: p99_ms,
        }
    }

    fn run() -> Run {
        let baseline = Baseline {
            connections: 1,
            group: 1,
            measurement: measured(2000.0, 1.0),
            ratio: 0.5,
        };
        let row = |figure: Figure, baseline| Row {
            figure,
            connections: 8,
            server: measured(1000.4, 2.0),
            limit: None,
            baseline,
            grouped_baseline: None,
        };
        Run {
            database: SQLITE,
            issues: 100_000,
            start_up_ms: 300.0,
            start_ups_ms: vec![300.0],
            memory: Memory {
                resident_mib: 20.0,
                peak_mib: 30.0,
                anonymous_mib: 10.0,
            },
            rows: vec![
                row(Figure::AgentMe, None),
                row(Figure::PostIssue, Some(baseline)),
            ],
        }
    }

    #[test]
    fn the_table_shows_the_baseline_of_writes_only() {
        assert_eq!(
            run().table(),
            "SQLite, 100,000 issues\n\
             start-up 300 ms, resident memory 20.0 MiB (peak 30.0, without mapped files 10.0)\n\
             \n\
             figure              clients     per s   p50 ms   p99 ms     limit/s  ratio   grouped/s  ratio\n\
             GET agent me              8     1,000     1.00     2.00\n\
             POST issue                8     1,000     1.00     2.00       2,000   0.50\n"
        );
    }

    #[test]
    fn every_target_is_compared_with_what_was_measured() {
        assert_eq!(
            acceptance_lines(&acceptance(&[run()], &[])),
            "met      SQLite, 100,000 issues: GET agent me, 8 clients, p99: 2.00 ms (target < 10)\n\
             NOT MET  SQLite, 100,000 issues: POST issue, 8 clients, part of the baseline: 0.50 (target >= 0.6)\n\
             met      SQLite, 100,000 issues: resident memory: 20.00 MiB (target < 60)\n\
             NOT MET  SQLite, 100,000 issues: start-up: 300.00 ms (target < 300)\n"
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(number), expected);
        }
    }
}
