//! What agents were woken for reached their programs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::{Kept, notes_of_programs};
use super::notes::{Fate, Kind, Write};
use super::scene::Scene;

pub(super) fn all(
    scene: &Scene,
    writes: &BTreeMap<String, Write>,
    kept: &Kept,
    began: &BTreeSet<String>,
    killed: &BTreeSet<String>,
) -> Vec<String> {
    let payloads = notes_of_programs(scene, "wake");
    let mut findings = Vec::new();
    for (marker, write) in writes.iter().filter(|it| it.1.kind == Kind::Wake) {
        let told = payloads
            .iter()
            .filter(|(_, payload)| payload.contains(marker.as_str()));
        let told: Vec<&str> = told.map(|(run, _)| run.as_str()).collect();
        // One whose guard was killed before its program noted anything may have told nobody.
        let is_cut = || {
            let made = kept
                .runs
                .iter()
                .find(|run| run["id"].as_str() == write.made.as_deref());
            let is_silent = |id: &str| killed.contains(id) && !began.contains(id);
            made.is_some_and(|made| {
                let mut of_agent = kept
                    .runs
                    .iter()
                    .filter(|it| it["agentId"] == made["agentId"]);
                of_agent.any(|run| is_silent(run["id"].as_str().unwrap()))
            })
        };
        // One that was lost afterwards may be tried once more.
        let is_retried = || told.iter().any(|run| !succeeded(kept, run));
        let fits = match (write.fate, told.len()) {
            (Fate::Acknowledged, 0) => is_cut(),
            (Fate::Refused | Fate::Unknown, 0) | (Fate::Acknowledged | Fate::Unknown, 1) => true,
            (Fate::Acknowledged | Fate::Unknown, _) => is_retried(),
            (Fate::Refused, _) => false,
        };
        if !fits {
            findings.push(format!("{marker} was told to the runs {told:?}: {write:?}"));
        }
    }
    findings.extend(comments(writes, kept));
    findings
}

fn succeeded(kept: &Kept, run: &str) -> bool {
    let mut runs = kept.runs.iter();
    runs.any(|it| it["id"] == run && it["status"] == "succeeded")
}

/// After a comment of the board its issue is worked on. Issues that have ended or were given back
/// since are left out: their wakes were withdrawn.
fn comments(writes: &BTreeMap<String, Write>, kept: &Kept) -> Vec<String> {
    let mut findings = Vec::new();
    for comment in &kept.comments {
        let marker = comment["body"].as_str().unwrap();
        let is_of_board = comment["authorAgentId"].is_null();
        if !is_of_board || !writes.contains_key(marker) {
            continue;
        }
        let issue = kept
            .issues
            .iter()
            .find(|issue| issue["id"] == comment["issueId"])
            .unwrap();
        if issue["assigneeAgentId"].is_null() || issue["status"] == "done" {
            continue;
        }
        let created = instant(&comment["createdAt"]);
        let is_answered = kept
            .runs
            .iter()
            .any(|run| run["issueId"] == issue["id"] && instant(&run["startedAt"]) >= created);
        if !is_answered {
            findings.push(format!("nobody was woken by the comment {comment}"));
        }
    }
    findings
}

/// An instant as a text that sorts as instants do; that of none is the first.
pub(super) fn instant(value: &Value) -> &str {
    value.as_str().unwrap_or_default().trim_end_matches('Z')
}
