//! What the service has to reach, and whether it does.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Row, Run, SQLITE, thousands};
use crate::claims::Claims;
use crate::figure::Figure;

/// Something the service has to reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Criterion {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) unit: String,
    pub(crate) target: Target,
    pub(crate) met: bool,
}

/// What a figure is compared to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

/// A read of one object answers 99 of 100 requests in less, in milliseconds.
const SINGLE_READ_P99: f64 = 10.0;
/// With so many clients, a page is made in less, in milliseconds, for one of two and 99 of 100.
const PAGE_CLIENTS: usize = 8;
const PAGE_P50: f64 = 10.0;
const PAGE_P99: f64 = 40.0;
/// A read reaches at least this part of its limit.
const READ_RATIO: f64 = 0.5;
/// A write reaches at least this part of its baseline, with shared commits where there are such.
const WRITE_RATIO: f64 = 0.6;
/// To check out and release reaches at least this part of that baseline.
const CHECKOUT_RATIO: f64 = 0.8;
/// Resident memory stays below, in MiB.
const RESIDENT: f64 = 60.0;
/// The server answers after less, in milliseconds.
const START_UP: f64 = 300.0;
/// A p99 grows by less than so many times from the fewest issues to the most.
const P99_GROWTH: f64 = 2.0;
/// A claim with the most due wakes costs less than so many with the fewest.
const CLAIM_GROWTH: f64 = 2.0;

/// What `runs` and `claims` say about the targets.
pub(crate) fn acceptance(runs: &[Run], claims: &[Claims]) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    let mut add = |what: String, measured: f64, unit: &str, target: Target| {
        let met = target.is_met_by(measured);
        criteria.push(Criterion {
            what,
            measured,
            unit: unit.to_owned(),
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
        let smallest = run.smallest_of(runs);
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
            if run.has_read_target() && row.figure.is_page() && clients == PAGE_CLIENTS {
                let of_page = [
                    ("p50", row.server.p50_ms, PAGE_P50),
                    ("p99", row.server.p99_ms, PAGE_P99),
                ];
                for (which, measured, bound) in of_page {
                    let what = format!("{place}: {title}, {clients} clients, {which}");
                    add(what, measured, "ms", Target::Below(bound));
                }
            }
            if let Some(few) = smallest.and_then(|few| few.row_like(row)) {
                add(
                    format!("{place}: {title}, {clients} clients, p99 against the fewest issues"),
                    row.server.p99_ms / few.server.p99_ms,
                    "times",
                    Target::Below(P99_GROWTH),
                );
            }
            if let Some(limit) = &row.limit {
                add(
                    format!("{place}: {title}, {clients} clients, part of the limit"),
                    limit.ratio,
                    "",
                    Target::AtLeast(READ_RATIO),
                );
            }
            let ratio = match row.figure {
                Figure::CheckoutRelease => CHECKOUT_RATIO,
                _ => WRITE_RATIO,
            };
            let grouped = row.grouped_baseline.as_ref();
            if let Some(baseline) = grouped.or(row.baseline.as_ref()) {
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

    /// The run with the fewest issues on this database, if that is another one.
    fn smallest_of<'a>(&self, runs: &'a [Self]) -> Option<&'a Self> {
        let same = runs.iter().filter(|run| run.database == self.database);
        let smallest = same.min_by_key(|run| run.issues)?;
        (smallest.issues < self.issues).then_some(smallest)
    }

    /// The same figure here, with as many clients.
    fn row_like(&self, other: &Row) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.figure == other.figure && row.connections == other.connections)
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

#[cfg(test)]
mod tests {
    use super::super::examples::run;
    use super::*;

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
    fn a_p99_is_compared_with_that_of_the_fewest_issues() {
        let mut few = run();
        few.issues = 1000;
        few.rows.truncate(1);
        few.rows[0].server.p99_ms = 0.8;
        let criteria = acceptance(&[run(), few], &[]);
        let growths: Vec<_> = criteria.iter().filter(|it| it.unit == "times").collect();
        let [growth] = growths[..] else {
            panic!("{growths:?}")
        };
        assert_eq!(
            growth.what,
            "SQLite, 100,000 issues: GET agent me, 8 clients, p99 against the fewest issues"
        );
        assert!((growth.measured - 2.5).abs() < 1e-9 && !growth.met);
    }
}
