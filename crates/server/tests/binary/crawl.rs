//! Reads everything that a server tells of a company.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Server;

/// What each path answered.
pub(crate) type Answers = BTreeMap<String, String>;

/// Lists of a company, with the routes of what is in them.
const LISTS: [(&str, &[&str]); 9] = [
    (
        "agents",
        &[
            "agents/{}",
            "agents/{}/config-revisions",
            "agents/{}/instructions-bundle",
            "agents/{}/keys",
            "agents/{}/runtime-state",
            "agents/{}/task-sessions",
        ],
    ),
    (
        "approvals",
        &[
            "approvals/{}",
            "approvals/{}/comments",
            "approvals/{}/history",
            "approvals/{}/issues",
        ],
    ),
    ("goals", &["goals/{}"]),
    (
        "heartbeat-runs",
        &[
            "heartbeat-runs/{}",
            "heartbeat-runs/{}/events",
            "heartbeat-runs/{}/log",
        ],
    ),
    (
        "issues",
        &[
            "issues/{}",
            "issues/{}/active-run",
            "issues/{}/activity",
            "issues/{}/approvals",
            "issues/{}/attachments",
            "issues/{}/comments",
            "issues/{}/live-runs",
            "issues/{}/runs",
        ],
    ),
    (
        "projects",
        &[
            "projects/{}",
            "projects/{}/conventions",
            "projects/{}/workspaces",
        ],
    ),
    (
        "secrets",
        &["secrets/{}", "secrets/{}/usage", "secrets/{}/versions"],
    ),
    ("labels", &[]),
    ("cost-events", &[]),
];

/// What else there is of a company.
const VIEWS: [&str; 12] = [
    "activity",
    "attention",
    "costs/by-agent",
    "costs/by-model",
    "costs/by-project",
    "costs/series",
    "costs/summary",
    "dashboard",
    "events?after=0",
    "issues/counts",
    "org",
    "sidebar-badges",
];

/// Everything that is told of a company.
pub(crate) fn crawl(server: &Server, company: &str) -> Answers {
    let mut answers = Answers::new();
    let of_company = format!("/api/companies/{company}");
    ask(server, &of_company, &mut answers);
    for view in VIEWS {
        ask(server, &format!("{of_company}/{view}"), &mut answers);
    }
    for (list, routes) in LISTS {
        for id in ids(server, &format!("{of_company}/{list}"), &mut answers) {
            for route in routes {
                let path = format!("/api/{}", route.replace("{}", &id));
                ask(server, &path, &mut answers);
            }
            if list == "issues" {
                let attachments = format!("/api/issues/{id}/attachments");
                for attachment in ids(server, &attachments, &mut answers) {
                    let path = format!("/api/attachments/{attachment}");
                    ask(server, &path, &mut answers);
                    ask(server, &format!("{path}/content"), &mut answers);
                }
            }
        }
    }
    answers
}

fn ask(server: &Server, path: &str, answers: &mut Answers) -> Value {
    let (status, text) = server.text(path);
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    // Its folder is none of what a server knows. A refusal has a number of its own.
    let text = text.replace(&*server.folder().to_string_lossy(), "DATA");
    let told = match json["requestId"].is_null() {
        true => text,
        false => json["code"].to_string(),
    };
    // When the engine looked last.
    let tick = json["lastTickAt"].as_str().unwrap_or("none");
    let told = told.replace(tick, "NOW");
    answers.insert(path.to_owned(), format!("{status} {told}"));
    json
}

/// The ids of all pages of a list.
fn ids(server: &Server, path: &str, answers: &mut Answers) -> Vec<String> {
    let mut ids = Vec::new();
    let mut page = path.to_owned();
    loop {
        let json = ask(server, &page, answers);
        let items = json["items"].as_array().or(json.as_array());
        let found = items.into_iter().flatten();
        ids.extend(found.filter_map(|item| item["id"].as_str().map(str::to_owned)));
        match json["nextCursor"].as_str() {
            Some(cursor) => page = format!("{path}?cursor={cursor}"),
            None => return ids,
        }
    }
}
