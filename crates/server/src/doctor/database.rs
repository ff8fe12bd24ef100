//! Whether the database holds together.

use workforce_domain::port::{Clock, StoreError};
use workforce_domain::time::Timestamp;
use workforce_infra::clock::SystemClock;
use workforce_infra::store::{
    BrokenInvariant, DatabaseState, Inspection, broken_invariants, is_empty,
};

use super::Site;
use super::finding::{Finding, Repair};
use crate::service::opening::gone;

/// So much of what is wrong is told.
const TOLD: usize = 5;
/// Clocks may differ by so much, in microseconds, before it is a warning.
const SKEW: i64 = 5_000_000;
/// And by so much before leases cannot be trusted.
const FALSE: i64 = 60_000_000;
/// No clock that is right tells a time before this.
const WRITTEN: &str = "2026-01-01";
/// Nor one after this.
const FAR: &str = "2100-01-01";

/// A database that cannot be read.
pub(super) fn unreadable(site: &Site<'_>, error: &StoreError) -> Finding {
    if is_empty(&site.database).unwrap_or(false)
        && let Some(gone) = gone(&site.folder, &site.database)
    {
        return Finding::problem("database", gone, "until then no server starts with it");
    }
    let causes = causes(error);
    let database = &site.database;
    Finding::problem(
        "database",
        format!("{database} cannot be read: {causes}"),
        "see whether it is there and answers, or restore a backup",
    )
}

/// The error with all its causes.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push_str(": ");
        told.push_str(&error.to_string());
        cause = error.source();
    }
    told
}

/// Looks at the database as a whole.
pub(super) fn look(
    site: &Site<'_>,
    inspection: &mut Inspection,
    findings: &mut Vec<Finding>,
) -> Result<DatabaseState, StoreError> {
    let state = inspection.state()?;
    if let Some(id) = inspection.installation()? {
        findings.push(match site.folder.check(id) {
            Ok(()) => Finding::ok("installation", id.to_string()),
            Err(foreign) => Finding::problem(
                "installation",
                foreign.to_string(),
                "until then no server starts with it",
            ),
        });
    }
    findings.push(schema(&state));
    findings.push(match inspection.damages(TOLD) {
        Ok(damages) if damages.is_empty() => {
            Finding::ok("database", format!("{} holds together", state.version))
        }
        Ok(damages) => Finding::problem(
            "database",
            format!("it is damaged: {}", damages.join(", ")),
            "stop the server and restore a backup or a snapshot",
        ),
        Err(error) => Finding::problem(
            "database",
            format!("it is damaged: {}", causes(&error)),
            "stop the server and restore a backup or a snapshot",
        ),
    });
    findings.push(clock(&state, SystemClock.now()));
    match broken_invariants(&site.database, TOLD) {
        Ok(broken) if broken.is_empty() => {
            findings.push(Finding::ok("records", "every invariant holds"));
        }
        Ok(broken) => findings.extend(broken.iter().map(broken_one)),
        Err(error) => findings.push(Finding::problem(
            "records",
            format!("they cannot be read: {}", causes(&error)),
            "restore a backup or a snapshot",
        )),
    }
    Ok(state)
}

fn schema(state: &DatabaseState) -> Finding {
    let version = state.schema.version().unwrap_or("none");
    if let Some(unknown) = state.schema.unknown.first() {
        return Finding::problem(
            "schema",
            format!("a newer version wrote the tables: it has migration {unknown}"),
            "use that version",
        );
    }
    if let Some(pending) = state.schema.pending.first() {
        return Finding::warning(
            "schema",
            format!("the tables are older than this version: migration {pending} is pending"),
            "make a backup; the next start of the server migrates",
        );
    }
    Finding::ok("schema", format!("migration {version}"))
}

fn clock(state: &DatabaseState, now: Timestamp) -> Finding {
    let is_sane = [(WRITTEN, 1), (FAR, -1)].iter().all(|(instant, sign)| {
        Timestamp::parse(instant).is_ok_and(|it| (now.micros() - it.micros()) * sign > 0)
    });
    if !is_sane {
        return Finding::problem(
            "clock",
            format!("the clock of this machine tells {now}"),
            "set it: leases, timers and months of budgets depend on it",
        );
    }
    let skew = state.clock.map_or(0, |other| now.micros() - other.micros());
    let told = format!(
        "this machine and the database differ by {} s",
        skew / 1_000_000
    );
    let advice = "let both follow the same source of time";
    match skew.abs() {
        0..SKEW => Finding::ok("clock", format!("this machine tells {now}")),
        SKEW..FALSE => Finding::warning("clock", told, advice),
        _ => Finding::problem("clock", told, advice),
    }
}

fn broken_one(broken: &BrokenInvariant) -> Finding {
    let rows: Vec<_> = broken
        .rows
        .iter()
        .map(|row| format!("{} (company {})", row.what, row.company))
        .collect();
    let message = format!("{} Not so: {}", broken.sentence, rows.join(", "));
    let repair = match broken.name {
        "totals_equal_the_ledger" => Repair::SpendTotals,
        "leases_of_runs_end_with_them" => Repair::Leases,
        name => {
            return Finding::problem(name, message, "report it, with the history of these rows");
        }
    };
    Finding::problem(broken.name, message, "run with --fix").fixed_by(repair)
}

#[cfg(test)]
mod tests {
    use workforce_infra::store::SchemaState;

    use super::super::finding::Level;
    use super::*;

    #[test]
    fn clocks_may_differ_by_seconds_only() {
        let now = Timestamp::parse("2026-11-23").unwrap();
        let level = |now: Timestamp, behind: i64| {
            let state = DatabaseState {
                version: String::new(),
                schema: SchemaState::default(),
                clock: Some(Timestamp::from_micros(now.micros() - behind)),
            };
            clock(&state, now).level
        };
        assert_eq!(level(now, 0), Level::Ok);
        assert_eq!(level(now, -4_000_000), Level::Ok);
        assert_eq!(level(now, 6_000_000), Level::Warning);
        assert_eq!(level(now, -61_000_000), Level::Problem);
        for odd in ["1970-01-01", "2200-01-01"] {
            assert_eq!(level(Timestamp::parse(odd).unwrap(), 0), Level::Problem);
        }
    }
}
