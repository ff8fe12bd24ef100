//! What stands against making and changing issues.

use serde_json::{Value, json};

use crate::agent_faults::{refused_environments, strict};
use crate::approvals::faulty;
use crate::support::{Api, NOTHING, api_tests, id};

/// Issues nest at most so deep.
const DEPTH: usize = 32;

fn issues(company: &Value) -> String {
    format!("/api/companies/{}/issues", id(company))
}

fn at(issue: &Value) -> String {
    format!("/api/issues/{}", id(issue))
}

/// Issues each of which lies below the one before, as deep as they may.
fn tower(api: &Api, company: &Value) -> Vec<Value> {
    let mut tower = vec![api.issue(company, &json!({ "title": "Top" }))];
    while tower.len() < DEPTH {
        let below = json!({ "title": "Below", "parentId": id(tower.last().unwrap()) });
        tower.push(api.issue(company, &below));
    }
    tower
}

api_tests! {
    fn settings_of_the_adapter_are_the_boards_and_checked(api = strict) {
        let company = api.company("Acme");
        let issue = api.issue(&company, &json!({ "title": "Step" }));
        for (env, code, name) in refused_environments() {
            let pointer = format!("/assigneeAdapterOverrides/adapterConfig/env/{name}");
            let overrides = json!({ "adapterConfig": { "env": env } });
            let body = json!({ "title": "New", "assigneeAdapterOverrides": overrides });
            faulty(&api.post(&issues(&company), &body), code, &pointer);
            let change = json!({ "assigneeAdapterOverrides": overrides });
            faulty(&api.patch(&at(&issue), &change), code, &pointer);
        }
        let ada = api.agent(&company, "Ada");
        api.patch(&at(&issue), &json!({ "assigneeAgentId": id(&ada) })).ok(200);
        let key = api.key(&ada);
        let own = api.bearing(&key);
        let overrides = json!({ "adapterConfig": { "model": "large" } });
        let body = json!({ "title": "New", "assigneeAdapterOverrides": overrides });
        own.post(&issues(&company), &body).problem(403, "board_required");
        for change in [
            json!({ "assigneeAdapterOverrides": overrides }),
            json!({ "hiddenAt": "2026-01-01T00:00:00Z" }),
        ] {
            own.patch(&at(&issue), &change).problem(403, "board_required");
        }
        assert_eq!(api.get(&issues(&company)).ok(200).as_array().unwrap().len(), 1);
    }

    fn an_agent_hands_out_no_work_to_others_and_begins_none_unasked(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let key = api.key(&ada);
        let own = api.bearing(&key);
        let for_bob = json!({ "title": "Work", "assigneeAgentId": id(&bob) });
        own.post(&issues(&company), &for_bob).problem(403, "forbidden");
        for status in ["in_progress", "in_review", "done", "cancelled"] {
            let begun = json!({ "title": "Work", "status": status, "assigneeAgentId": id(&ada) });
            let problem = own.post(&issues(&company), &begun).problem(422, "invalid_transition");
            assert_eq!(problem["details"]["to"], status);
        }
    }

    fn work_in_progress_needs_somebody(api) {
        let company = api.company("Acme");
        let begun = json!({ "title": "Work", "status": "in_progress" });
        faulty(&api.post(&issues(&company), &begun), "assignee_required", "/assigneeAgentId");
        let issue = api.issue(&company, &json!({ "title": "Work", "status": "todo" }));
        let change = json!({ "status": "in_progress" });
        faulty(&api.patch(&at(&issue), &change), "assignee_required", "/assigneeAgentId");
        assert_eq!(api.get(&at(&issue)).ok(200)["status"], "todo");
    }

    fn issues_make_no_cycle_and_no_bottomless_tree(api) {
        let company = api.company("Acme");
        let tower = tower(api, &company);
        let (top, bottom) = (&tower[0], &tower[DEPTH - 1]);
        for parent in [top, &tower[1], bottom] {
            let change = json!({ "parentId": id(parent) });
            faulty(&api.patch(&at(top), &change), "cycle", "/parentId");
        }
        let below = json!({ "title": "Below", "parentId": id(bottom) });
        faulty(&api.post(&issues(&company), &below), "too_deep", "/parentId");
        let single = api.issue(&company, &json!({ "title": "Single" }));
        let change = json!({ "parentId": id(bottom) });
        faulty(&api.patch(&at(&single), &change), "too_deep", "/parentId");
        api.patch(&at(&single), &json!({ "parentId": id(&tower[DEPTH - 2]) })).ok(200);
    }

    fn only_who_has_a_stake_reopens_and_only_the_board_interrupts(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let body = json!({ "title": "Work", "status": "done", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &body);
        let comments = format!("{}/comments", at(&issue));
        let (own, others) = (api.key(&ada), api.key(&bob));
        let again = json!({ "body": "again", "reopen": true });
        api.bearing(&others).post(&comments, &again).problem(403, "forbidden");
        let stop = json!({ "body": "stop", "interrupt": true });
        api.bearing(&own).post(&comments, &stop).problem(403, "board_required");
        assert_eq!(api.get(&comments).ok(200), json!([]));
        assert_eq!(api.get(&at(&issue)).ok(200)["status"], "done");
        api.bearing(&own).post(&comments, &again).ok(201);
        assert_eq!(api.get(&at(&issue)).ok(200)["status"], "todo");
    }

    fn a_checkout_needs_an_agent_that_is_there(api) {
        let (company, other) = (api.company("Acme"), api.company("Other"));
        let issue = api.issue(&company, &json!({ "title": "Work", "status": "todo" }));
        let eve = api.agent(&other, "Eve");
        let checkout = format!("{}/checkout", at(&issue));
        faulty(&api.post(&checkout, &json!({})), "invalid_field", "/agentId");
        for agent in [NOTHING, id(&eve)] {
            let answer = api.post(&checkout, &json!({ "agentId": agent }));
            faulty(&answer, "reference_not_found", "/agentId");
        }
        let former = api.agent(&company, "Former");
        api.post(&format!("/api/agents/{}/terminate", id(&former)), &json!({})).ok(200);
        let answer = api.post(&checkout, &json!({ "agentId": id(&former) }));
        faulty(&answer, "invalid_field", "/agentId");
    }
}
