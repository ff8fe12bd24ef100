//! What must hold when all is quiet.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::accounts;
use super::killer::Killer;
use super::notes::{Fate, Kind, Notes, Write};
use super::report::{Report, tally};
use super::run_checks;
use super::scene::Scene;
use crate::client::Client;
use crate::harness::{attachments_in, binary};
use crate::linearizability::MASTER_KEY;
use crate::office::Database;

/// What the company has, as the interface lists it.
pub(super) struct Kept {
    pub(super) issues: Vec<Value>,
    pub(super) comments: Vec<Value>,
    pub(super) costs: Vec<Value>,
    pub(super) runs: Vec<Value>,
}

impl Kept {
    fn read(client: &Client, company: &str) -> Self {
        let list = |what: &str| client.list(&format!("/api/companies/{company}/{what}"));
        let issues = list("issues");
        let comments = issues.iter().flat_map(|issue| {
            let issue = issue["id"].as_str().unwrap();
            client.list(&format!("/api/issues/{issue}/comments"))
        });
        Self {
            comments: comments.collect(),
            issues,
            costs: list("cost-events"),
            runs: list("heartbeat-runs"),
        }
    }

    /// How often each marker is there.
    fn markers(&self) -> BTreeMap<&str, usize> {
        let titles = self.issues.iter().map(|row| &row["title"]);
        let bodies = self.comments.iter().map(|row| &row["body"]);
        let keys = self.costs.iter().map(|row| &row["idempotencyKey"]);
        let mut counts = BTreeMap::new();
        for marker in titles.chain(bodies).chain(keys).filter_map(Value::as_str) {
            *counts.entry(marker).or_default() += 1;
        }
        counts
    }
}

/// Everything; what does not hold.
pub(super) fn all(
    scene: &Scene,
    notes: &Notes,
    killer: &Killer,
    report: &mut Report,
) -> Vec<String> {
    let client = scene.server().client();
    let kept = Kept::read(&client, &scene.staff.company);
    let mut findings = notes.faults();
    let mut writes = notes.writes();
    let of_programs = told_by_programs(scene);
    let mut fates = BTreeMap::new();
    for write in of_programs.values() {
        *fates.entry(write.fate).or_default() += 1;
    }
    report.add("writes of programs", &tally(&fates));
    writes.extend(of_programs);
    findings.extend(are_kept_once(&writes, &kept));
    findings.extend(issues_stay(scene, &kept));
    findings.extend(run_checks::all(scene, &writes, &kept, killer, report));
    findings.extend(accounts::all(scene, &client, &kept, killer, report));
    findings.extend(doctor(scene));
    let logs = scene.logs();
    let panics = logs.iter().flat_map(|log| log.lines());
    findings.extend(
        panics
            .filter(|line| line.contains("panicked at"))
            .map(|line| format!("a server logged {line}")),
    );
    findings
}

/// What was acknowledged is there once, what was refused is not, and nothing is there twice.
fn are_kept_once(writes: &BTreeMap<String, Write>, kept: &Kept) -> Vec<String> {
    let markers = kept.markers();
    let mut findings = Vec::new();
    for (marker, write) in writes {
        if write.kind == Kind::Wake {
            continue;
        }
        let count = markers.get(marker.as_str()).copied().unwrap_or_default();
        let fits = match write.fate {
            Fate::Acknowledged => count == 1,
            Fate::Refused => count == 0,
            Fate::Unknown => count <= 1,
        };
        if !fits {
            findings.push(format!("{marker} is there {count} times: {write:?}"));
        }
    }
    findings
}

/// What a program ended or gave back stays so: nobody takes it up again.
fn issues_stay(scene: &Scene, kept: &Kept) -> Vec<String> {
    let ended = notes_of_programs(scene, "done").into_iter();
    let released = notes_of_programs(scene, "released").into_iter();
    let expected = ended.map(|it| (it.1, "done"));
    let expected = expected.chain(released.map(|it| (it.1, "todo")));
    let statuses: BTreeMap<_, _> = kept
        .issues
        .iter()
        .map(|issue| (issue["id"].as_str(), issue["status"].as_str()))
        .collect();
    expected
        .filter(|(issue, status)| statuses[&Some(issue.as_str())] != Some(status))
        .map(|(issue, status)| format!("issue {issue} was acknowledged to be {status}"))
        .collect()
}

/// The writes that agents' programs noted.
fn told_by_programs(scene: &Scene) -> BTreeMap<String, Write> {
    let mut writes = BTreeMap::new();
    for (_, marker) in notes_of_programs(scene, "sent") {
        let kind = match marker.starts_with("cost-") {
            true => Kind::Cost,
            false => Kind::Comment,
        };
        let write = Write {
            kind,
            fate: Fate::Unknown,
            made: None,
        };
        writes.insert(marker, write);
    }
    for (_, marker) in notes_of_programs(scene, "acknowledged") {
        writes.get_mut(&marker).unwrap().fate = Fate::Acknowledged;
    }
    writes
}

/// The lines that programs wrote to notes of this name, each with the run that it is of.
pub(super) fn notes_of_programs(scene: &Scene, name: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(scene.notes()).unwrap().flatten();
    let mut lines = Vec::new();
    for path in files.map(|file| file.path()) {
        if path.extension().is_none_or(|it| it != name) {
            continue;
        }
        let run = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        lines.extend(text.lines().map(|line| (run.clone(), line.to_owned())));
    }
    lines
}

/// What the doctor calls a problem, in each data folder.
fn doctor(scene: &Scene) -> Vec<String> {
    let mut findings = Vec::new();
    for folder in scene.folders() {
        let mut doctor = binary();
        doctor.arg("doctor").arg("--data-dir").arg(folder);
        doctor.env("WORKFORCE_MASTER_KEY", MASTER_KEY);
        doctor.envs([attachments_in(folder.parent().unwrap())]);
        if let Database::Postgres(database) = &scene.database {
            doctor.args(["--database-url", database.url()]);
        }
        let output = doctor.output().unwrap();
        if !output.status.success() {
            findings.push(format!(
                "the doctor is not content ({}):\n{}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_lost_refused_or_there_twice_is_found() {
        let kept = Kept {
            issues: vec![json!({ "title": "once" }), json!({ "title": "twice" })],
            comments: vec![json!({ "body": "twice" })],
            costs: Vec::new(),
            runs: Vec::new(),
        };
        for (marker, fate, is_found) in [
            ("once", Fate::Acknowledged, false),
            ("once", Fate::Unknown, false),
            ("once", Fate::Refused, true),
            ("never", Fate::Acknowledged, true),
            ("never", Fate::Unknown, false),
            ("never", Fate::Refused, false),
            ("twice", Fate::Acknowledged, true),
            ("twice", Fate::Unknown, true),
        ] {
            let write = Write {
                kind: Kind::Issue,
                fate,
                made: None,
            };
            let writes = BTreeMap::from([(marker.to_owned(), write)]);
            let findings = are_kept_once(&writes, &kept);
            assert_eq!(!findings.is_empty(), is_found, "{marker} {fate:?}");
        }
    }
}
