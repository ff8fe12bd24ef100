//! Looks whether the activity of what is done tells what it changed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::support::{Answer, Api, id};

/// What stands in the place of a hidden value.
const HIDDEN: &str = "***REDACTED***";

/// What views show beyond the fields of their records: who holds an issue and what was spent, what
/// other records say, the same value under a second name, and when the record changed.
const DERIVED: [&str; 23] = [
    "active_workflow_session_id",
    "activeWorkflowSessionId",
    "chainOfCommand",
    "checkedOutAt",
    "checkoutRunId",
    "completed_at",
    "configRevision",
    "decidedByUserId",
    "estimatedMonthlyCents",
    "events",
    "execution",
    "goals",
    "labels",
    "lease",
    "linkedIssueIds",
    "primaryWorkspace",
    "reservedCents",
    "revision",
    "spentMonthlyCents",
    "started_at",
    "updatedAt",
    "warnings",
    "workspaces",
];

/// The kinds of record with the path of one of them, and the list that shows them.
const KINDS: [(&str, &str, &str); 7] = [
    ("agent", "/api/agents/", "agents"),
    ("issue", "/api/issues/", "issues"),
    ("project", "/api/projects/", "projects"),
    ("goal", "/api/goals/", "goals"),
    ("label", "", "labels"),
    ("secret", "/api/secrets/", "secrets"),
    ("approval", "/api/approvals/", "approvals"),
];

type View = Map<String, Value>;
/// The records of a company, by kind and id.
type Records = BTreeMap<(String, String), View>;

/// A company that is watched.
pub(super) struct Watch<'a> {
    api: &'a Api,
    company: String,
}

impl<'a> Watch<'a> {
    pub(super) fn new(api: &'a Api, company: &str) -> Self {
        let company = company.to_owned();
        Self { api, company }
    }

    /// Does something, and demands that undoing what its activity tells leads back to where every
    /// record was before.
    #[track_caller]
    pub(super) fn after(&self, what: &str, act: impl FnOnce() -> Answer) -> Answer {
        let (before, seen) = (self.records(), self.activity());
        let answer = act();
        let after = self.records_with(&before);
        // The newest comes first, which is the order of undoing. What is there already may seem
        // newer, since the clock of a scene is ahead.
        let mut told = self.activity();
        told.retain(|row| !seen.contains(row));
        for (record, was) in &before {
            if let Some(is) = after.get(record) {
                let undone = undone(what, record, is, was, &told);
                for (name, value) in was {
                    let (kind, id) = record;
                    assert_eq!(
                        undone.get(name),
                        Some(value),
                        "{what}: {name} of the {kind} {id} is not told by {told:#?}"
                    );
                }
            }
        }
        answer
    }

    /// All activity, the newest first; a company that is no more has none.
    fn activity(&self) -> Vec<Value> {
        let path = format!("/api/companies/{}/activity", self.company);
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let answer = self.api.get(&format!("{path}?limit=500{cursor}"));
            if answer.status == 404 {
                return rows;
            }
            rows.extend(answer.ok(200).as_array().unwrap().iter().cloned());
            match answer.header("x-next-cursor") {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return rows,
            }
        }
    }

    fn records(&self) -> Records {
        let mut records = Records::new();
        let company = format!("/api/companies/{}", self.company);
        let mut add = |kind: &str, record: &Value| {
            let key = (kind.to_owned(), id(record).to_owned());
            records.entry(key).or_default().extend(view(kind, record));
        };
        let list = |path: &str| match self.api.get(path) {
            answer if answer.status == 404 => Vec::new(),
            answer => answer.ok(200).as_array().unwrap().clone(),
        };
        if let Some(record) = self.one(&company) {
            add("company", &record);
        }
        for (kind, _, part) in KINDS {
            for record in list(&format!("{company}/{part}?limit=500")) {
                add(kind, &record);
                if kind == "project" {
                    for workspace in record["workspaces"].as_array().unwrap() {
                        add("workspace", workspace);
                    }
                    let path = format!("/api/projects/{}/conventions", id(&record));
                    let mut conventions = self.one(&path).unwrap();
                    conventions["id"] = record["id"].clone();
                    add(kind, &conventions);
                }
            }
        }
        records
    }

    /// The records, with those that were there before and do not show in lists any more.
    fn records_with(&self, before: &Records) -> Records {
        let mut records = self.records();
        for key in before.keys() {
            let (kind, id) = key;
            let path = KINDS.iter().find(|(name, ..)| name == kind);
            if let Some((_, path, _)) = path.filter(|(_, path, _)| !path.is_empty())
                && !records.contains_key(key)
                && let Some(record) = self.one(&format!("{path}{id}"))
            {
                records.insert(key.clone(), view(kind, &record));
            }
        }
        records
    }

    fn one(&self, path: &str) -> Option<Value> {
        let answer = self.api.get(path);
        (answer.status != 404).then(|| answer.ok(200))
    }
}

/// What a view shows of the record itself.
fn view(kind: &str, record: &Value) -> View {
    let mut view = record.as_object().unwrap().clone();
    view.retain(|name, _| !DERIVED.contains(&name.as_str()));
    if kind == "project" {
        // The first of its goals.
        view.remove("goalId");
    }
    view
}

/// Whether a value that is told is this one: as it is, by its length, or with hidden parts.
fn stands_for(told: &Value, value: &Value) -> bool {
    match (told, value) {
        (Value::String(mark), _) if mark == HIDDEN => true,
        (Value::Object(digest), Value::String(text)) => digest["bytes"] == text.len(),
        (Value::Object(told), Value::Object(value)) => {
            told.len() == value.len()
                && told.iter().all(|(name, told)| {
                    value.get(name).is_some_and(|value| stands_for(told, value))
                })
        }
        (told, value) => told == value,
    }
}

/// A record as it was before what was told of it.
#[track_caller]
fn undone(
    what: &str,
    (kind, id): &(String, String),
    is: &View,
    was: &View,
    told: &[Value],
) -> View {
    let mut record = is.clone();
    let about = |row: &&Value| row["entityType"] == kind.as_str() && row["entityId"] == id.as_str();
    for row in told.iter().filter(about) {
        let Some(changes) = row["details"]["changes"].as_object() else {
            continue;
        };
        assert!(!changes.is_empty(), "{what}: {row}");
        for (name, change) in changes {
            // The instructions of an agent have a view of their own.
            let Some(present) = record.get(name) else {
                assert_eq!(name, "instructionsBundle", "{what}: {row}");
                continue;
            };
            let runs = name == "status" && present == "running";
            assert!(
                stands_for(&change["to"], present) || runs,
                "{what}: {name} is {present} and not what {row} tells"
            );
            // What does not show whole cannot be undone, but must not tell anything else.
            let from = match stands_for(&change["from"], &was[name]) {
                true => was[name].clone(),
                false => change["from"].clone(),
            };
            record.insert(name.clone(), from);
        }
    }
    // Whether an agent runs is looked up, and no part of its record.
    if kind == "agent" && was["status"] == "running" {
        record.insert("status".into(), was["status"].clone());
    }
    record
}
