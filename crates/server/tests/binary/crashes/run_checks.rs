//! Runs, wakes, leases and processes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::checks::{Kept, notes_of_programs};
use super::killer::Killer;
use super::notes::{Fate, Kind, Write};
use super::processes;
use super::report::{Report, tally};
use super::scene::Scene;
use super::wake_checks::{self, instant};

/// What a run leaves is gone soon after it.
const GONE_AFTER: Duration = Duration::from_secs(15);

pub(super) fn all(
    scene: &Scene,
    writes: &BTreeMap<String, Write>,
    kept: &Kept,
    killer: &Killer,
    report: &mut Report,
) -> Vec<String> {
    let began = notes_of_programs(scene, "begun").into_iter();
    let began: BTreeSet<String> = began.map(|(run, _)| run).collect();
    let mut ends = BTreeMap::new();
    let mut findings = Vec::new();
    for run in &kept.runs {
        let end = match run["errorCode"].as_str() {
            Some(code) => format!("{} ({code})", run["status"].as_str().unwrap()),
            None => run["status"].as_str().unwrap().to_owned(),
        };
        *ends.entry(end).or_default() += 1;
        if !may_have_ended(run, &killer.runs, killer.let_leases_expire, &began) {
            findings.push(format!("no kill explains the end of {run}"));
        }
    }
    report.add("runs", &tally(&ends));
    let is_unbegun = |run: &&Value| {
        let id = run["id"].as_str().unwrap();
        run["errorCode"] == "process_lost" && !began.contains(id) && !killer.runs.contains(id)
    };
    let unbegun: Vec<&Value> = kept.runs.iter().filter(is_unbegun).collect();
    report.add("lost unbegun", &unbegun.len().to_string());
    let forgotten = unbegun.iter().filter(|run| !is_tried_again(run, kept));
    findings.extend(forgotten.map(|run| format!("it never began, and nobody tries again: {run}")));
    findings.extend(are_answered(writes, kept));
    findings.extend(wake_checks::all(scene, writes, kept, &began, &killer.runs));
    findings.extend(are_free(kept));
    findings.extend(are_gone(kept));
    findings
}

/// A run ends well unless its guard or its program was killed, it never began, or its server was
/// away for too long.
fn may_have_ended(
    run: &Value,
    killed: &BTreeSet<String>,
    leases_may_expire: bool,
    began: &BTreeSet<String>,
) -> bool {
    let id = run["id"].as_str().unwrap();
    let code = run["errorCode"].as_str().unwrap_or_default();
    match run["status"].as_str().unwrap() {
        "succeeded" => true,
        "queued" | "running" => false,
        // What waited was withdrawn when its issue ended, or was taken from its agent.
        "cancelled" => run["startedAt"].is_null(),
        _ => {
            killed.contains(id)
                || (code == "process_lost" && !began.contains(id))
                || (code == "lease_expired" && leases_may_expire)
        }
    }
}

/// Whether its work began later on.
fn is_tried_again(lost: &Value, kept: &Kept) -> bool {
    kept.runs.iter().any(|run| {
        ["agentId", "issueId"]
            .iter()
            .all(|key| run[key] == lost[key])
            && instant(&run["startedAt"]) > instant(&lost["startedAt"])
    })
}

/// Every wake that was acknowledged led to a run that began.
fn are_answered(writes: &BTreeMap<String, Write>, kept: &Kept) -> Vec<String> {
    let begun = kept.runs.iter().filter(|run| !run["startedAt"].is_null());
    let (mut runs, mut issues) = (BTreeSet::new(), BTreeSet::new());
    for run in begun {
        runs.extend(run["id"].as_str());
        issues.extend(run["issueId"].as_str());
    }
    let mut findings = Vec::new();
    for (marker, write) in writes {
        let Some(made) = write.made.as_deref() else {
            continue;
        };
        let is_answered = match write.kind {
            Kind::Wake => runs.contains(made),
            Kind::Assignment => issues.contains(made),
            Kind::Issue | Kind::Comment | Kind::Cost => true,
        };
        if write.fate == Fate::Acknowledged && !is_answered {
            findings.push(format!("nobody was woken by {marker}: {write:?}"));
        }
    }
    findings
}

/// No run is live, so none holds an issue.
fn are_free(kept: &Kept) -> Vec<String> {
    let is_held =
        |issue: &&Value| !issue["checkoutRunId"].is_null() || issue["lease"]["runId"].is_string();
    let held = kept.issues.iter().filter(is_held);
    held.map(|issue| format!("a run that is over holds {issue}"))
        .collect()
}

/// No process of a run is left.
fn are_gone(kept: &Kept) -> Vec<String> {
    let ids = kept.runs.iter().filter_map(|run| run["id"].as_str());
    let runs: Vec<String> = ids.map(str::to_owned).collect();
    let begun = Instant::now();
    loop {
        let left = processes::of_runs(&runs);
        if left.is_empty() {
            return Vec::new();
        }
        if begun.elapsed() > GONE_AFTER {
            return left
                .iter()
                .map(|process| format!("it is left: {process:?}"))
                .collect();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bad_end_without_a_cause_is_found() {
        let killed = BTreeSet::from(["killed".to_owned()]);
        let began = BTreeSet::from(["killed".to_owned(), "begun".to_owned()]);
        for (id, status, code, is_right) in [
            ("begun", "succeeded", None, true),
            ("begun", "running", None, false),
            ("begun", "failed", Some("process_lost"), false),
            ("begun", "failed", Some("lease_expired"), false),
            ("begun", "cancelled", Some("cancel_requested"), false),
            ("killed", "failed", Some("process_lost"), true),
            ("other", "failed", Some("process_lost"), true),
            ("other", "failed", Some("spawn_failed"), false),
        ] {
            let run = json!({
                "id": id, "status": status, "errorCode": code, "startedAt": "2026-01-31",
            });
            let found = may_have_ended(&run, &killed, false, &began);
            assert_eq!(found, is_right, "{run}");
        }
    }
}
