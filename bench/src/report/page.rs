//! The results in a page of the documentation.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::targets::Target;
use super::{Baseline, Criterion, Report, Run, rate, thousands};
use crate::claims::Claims;
use crate::load::ROUNDS;

/// What stands before and after the results in the page.
const BEGIN: &str = "<!-- results -->\n";
const END: &str = "<!-- /results -->";

/// `page` with the results of `reports` between its marks. `chart` is the file that shows them.
pub(crate) fn page(page: &str, reports: &[Report], chart: Option<&str>) -> Result<String> {
    let missing = || format!("the page has no {} and {END}", BEGIN.trim_end());
    let (before, rest) = page.split_once(BEGIN).with_context(missing)?;
    let (_, after) = rest.split_once(END).with_context(missing)?;
    let mut results = String::new();
    if let Some(chart) = chart {
        // Writing to a text does not fail.
        let _ = write!(results, "\n![Latency by number of issues]({chart})\n");
    }
    for report in reports {
        results.push('\n');
        results.push_str(&measured_where(report));
        let runs = report.runs.iter().map(section);
        let claims = (!report.claims.is_empty()).then(|| claims(&report.claims));
        let crowds = report.crowds.iter().enumerate().map(|(index, crowd)| {
            let title = if index == 0 {
                "### Many agents at once\n\n"
            } else {
                ""
            };
            format!("{title}{}", crowd.section())
        });
        let targets = (!report.acceptance.is_empty()).then(|| targets(&report.acceptance));
        for part in runs.chain(claims).chain(crowds).chain(targets) {
            results.push('\n');
            results.push_str(&part);
        }
    }
    Ok(format!("{before}{BEGIN}{results}\n{END}{after}"))
}

fn measured_where(report: &Report) -> String {
    let machine = &report.machine;
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
    let load = |load: Option<f64>| load.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
    let pace = if report.runs.is_empty() && report.claims.is_empty() {
        String::new()
    } else {
        format!(
            "| Each figure | {:.1} s in {ROUNDS} rounds, each after {:.1} s of warming up |\n",
            report.pace.duration.as_secs_f64(),
            report.pace.warm_up.as_secs_f64(),
        )
    };
    format!(
        "| Measured | {} |\n|---|---|\n\
         | Processor | {}, {} cores |\n\
         | Kernel | Linux {} |\n\
         | File system | {} |\n\
         | Load average before and after | {}, {} |\n{pace}",
        report.began_at,
        known(&machine.cpu),
        machine.cores,
        known(&machine.kernel),
        known(&machine.file_system),
        load(report.load_average_at_begin),
        load(report.load_average_at_end),
    )
}

fn section(run: &Run) -> String {
    let mut text = format!(
        "### {}, {} issues\n\n\
         Start-up {:.0} ms; resident memory {:.1} MiB, at most {:.1}, without mapped files {:.1}.\n\n\
         | Figure | Clients | per second | p50 ms | p99 ms | Limit or baseline | Ratio \
         | Shared commits | Ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        run.database,
        thousands(run.issues),
        run.start_up_ms,
        run.memory.resident_mib,
        run.memory.peak_mib,
        run.memory.anonymous_mib,
    );
    for row in &run.rows {
        let compared = |baseline: Option<&Baseline>| {
            baseline.map_or_else(
                || " | ".to_owned(),
                |it| format!("{} | {:.2}", rate(it.measurement.per_second), it.ratio),
            )
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.2} | {:.2} | {} | {} |",
            row.figure.title(),
            row.connections,
            rate(row.server.per_second),
            row.server.p50_ms,
            row.server.p99_ms,
            compared(row.limit.as_ref().or(row.baseline.as_ref())),
            compared(row.grouped_baseline.as_ref()),
        );
    }
    text
}

fn claims(claims: &[Claims]) -> String {
    let mut text = "### Claims\n\n\
         | Database | Due wakes | per second | p50 ms | p99 ms |\n|---|--:|--:|--:|--:|\n"
        .to_owned();
    for of_database in claims {
        for row in &of_database.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.2} | {:.2} |",
                of_database.database,
                thousands(row.due),
                rate(row.claim.per_second),
                row.claim.p50_ms,
                row.claim.p99_ms
            );
        }
    }
    text
}

fn targets(criteria: &[Criterion]) -> String {
    let met = criteria.iter().filter(|it| it.met).count();
    let mut text = format!(
        "### Targets\n\n{met} of {} are met; these are not:\n\n\
         | What | Measured | Target |\n|---|--:|--:|\n",
        criteria.len()
    );
    for missed in criteria.iter().filter(|it| !it.met) {
        let target = match missed.target {
            Target::Below(bound) => format!("below {bound}"),
            Target::AtLeast(bound) => format!("at least {bound}"),
        };
        let measured = format!("{:.2} {}", missed.measured, missed.unit);
        let what = &missed.what;
        let _ = writeln!(text, "| {what} | {} | {target} |", measured.trim_end());
    }
    if met == criteria.len() {
        return format!("### Targets\n\nAll {met} are met.\n");
    }
    text
}

#[cfg(test)]
mod tests;
