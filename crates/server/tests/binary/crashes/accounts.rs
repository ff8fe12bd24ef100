//! What was spent is what the ledger says, and what programs told.

use std::collections::BTreeMap;

use serde_json::Value;

use super::checks::{Kept, notes_of_programs};
use super::killer::Killer;
use super::report::Report;
use super::scene::Scene;
use crate::agent_programs::micros;
use crate::client::{Client, Sender};

pub(super) fn all(
    scene: &Scene,
    client: &Client,
    kept: &Kept,
    killer: &Killer,
    report: &mut Report,
) -> Vec<String> {
    let mut findings = Vec::new();
    let staff = &scene.staff;
    let get = |path: &str| {
        let (status, record) = client
            .send("GET", path, Sender::default(), &Value::Null)
            .unwrap();
        assert_eq!(status, 200, "{record}");
        record
    };
    let mut compare = |what: &str, shown: &Value, ledger: i64| {
        if micros(shown) != ledger {
            findings.push(format!(
                "{what}: {shown} cents are shown, and the ledger has {ledger} millionths"
            ));
        }
    };
    let counted: Vec<&Value> = kept
        .costs
        .iter()
        .filter(|it| it["counted"] == true)
        .collect();
    let sum = |key: &str, id: &str| -> i64 {
        let of_it = counted.iter().filter(|event| event[key] == id);
        of_it.map(|event| micros(&event["costCents"])).sum()
    };
    let company = get(&format!("/api/companies/{}", staff.company));
    let all: i64 = counted.iter().map(|it| micros(&it["costCents"])).sum();
    compare("the company", &company["spentMonthlyCents"], all);
    compare("what the company reserves", &company["reservedCents"], 0);
    let keyed = staff.keyed.iter().map(|(agent, _)| agent);
    for agent in staff.workers.iter().chain([&staff.timer]).chain(keyed) {
        let shown = get(&format!("/api/agents/{agent}"));
        let spent = sum("agentId", agent);
        compare(agent, &shown["spentMonthlyCents"], spent);
        compare("what an agent reserves", &shown["reservedCents"], 0);
    }
    let projects = get(&format!(
        "/api/companies/{}/costs/by-project",
        staff.company
    ));
    for project in projects.as_array().unwrap() {
        let id = &project["projectId"];
        let of_it = counted.iter().filter(|event| event["projectId"] == *id);
        let spent = of_it.map(|event| micros(&event["costCents"])).sum();
        compare("a project", &project["costCents"], spent);
    }
    report.add(
        "spent",
        &format!(
            "{} cents in {} costs",
            company["spentMonthlyCents"],
            kept.costs.len()
        ),
    );
    findings.extend(as_told(scene, kept, killer));
    findings
}

/// A run is booked what its program told, and no more where that was killed while it told it.
fn as_told(scene: &Scene, kept: &Kept, killer: &Killer) -> Vec<String> {
    let mut told: BTreeMap<String, i64> = BTreeMap::new();
    for (run, micros) in notes_of_programs(scene, "costs") {
        *told.entry(run).or_default() += micros.parse::<i64>().unwrap();
    }
    let mut findings = Vec::new();
    for run in &kept.runs {
        let id = run["id"].as_str().unwrap();
        let metered = kept
            .costs
            .iter()
            .filter(|it| it["runId"] == id && it["source"] == "metered");
        let booked: i64 = metered.map(|it| micros(&it["costCents"])).sum();
        let told = told.get(id).copied().unwrap_or_default();
        let is_whole = run["status"] == "succeeded" && !killer.runs.contains(id);
        let fits = match is_whole {
            true => booked == told,
            false => booked <= told,
        };
        if !fits {
            findings.push(format!("booked {booked}, told {told} millionths: {run}"));
        }
    }
    findings
}
