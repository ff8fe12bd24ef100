//! Reports to test with.

use std::time::Duration;

use super::{Baseline, Report, Row, Run, SQLITE, acceptance};
use crate::claims::{ClaimRow, Claims};
use crate::figure::Figure;
use crate::load::{Measurement, Pace};
use crate::machine::Machine;
use crate::server::Memory;

fn measured(per_second: f64, p99_ms: f64) -> Measurement {
    Measurement {
        operations: 1000,
        per_second,
        p50_ms: 1.0,
        p99_ms,
        max_ms: p99_ms,
    }
}

pub(super) fn row(figure: Figure, connections: usize, baseline: Option<Baseline>) -> Row {
    Row {
        figure,
        connections,
        server: measured(1000.4, 2.0),
        limit: None,
        baseline,
        grouped_baseline: None,
    }
}

/// A run with a read and a write.
pub(super) fn run() -> Run {
    let baseline = Baseline {
        connections: 1,
        group: 1,
        measurement: measured(2000.0, 1.0),
        ratio: 0.5,
    };
    Run {
        database: SQLITE.to_owned(),
        issues: 100_000,
        start_up_ms: 300.0,
        start_ups_ms: vec![300.0],
        memory: Memory {
            resident_mib: 20.0,
            peak_mib: 30.0,
            anonymous_mib: 10.0,
        },
        rows: vec![
            row(Figure::AgentMe, 8, None),
            row(Figure::PostIssue, 8, Some(baseline)),
        ],
    }
}

/// A report of that run, and of claims.
pub(super) fn report() -> Report {
    let runs = vec![run()];
    Report {
        began_at: "2026-01-01T00:00:00Z".to_owned(),
        machine: Machine {
            cores: 2,
            cpu: Some("A B".to_owned()),
            kernel: Some("6.1".to_owned()),
            file_system: None,
        },
        load_average_at_begin: Some(0.5),
        load_average_at_end: None,
        pace: Pace {
            warm_up: Duration::from_millis(200),
            duration: Duration::from_secs(3),
        },
        claims: vec![Claims {
            database: SQLITE.to_owned(),
            rows: vec![ClaimRow {
                due: 10_000,
                claim: measured(2000.0, 1.0),
            }],
        }],
        acceptance: acceptance(&runs, &[]),
        runs,
        crowds: Vec::new(),
        statement_differences: Vec::new(),
    }
}
