//! Hires whose draft cannot be, or cannot be shown to the board.

use serde_json::{Value, json};

use crate::agent_faults::{refused_environments, strict};
use crate::approvals::{act, faulty, of};
use crate::support::{Api, NOTHING, api_tests, id};

/// The payload of an approval has at most so many bytes of JSON.
const MAX_PAYLOAD: usize = 64 * 1024;

fn file(api: &Api, company: &Value, payload: &Value) -> Value {
    let body = json!({ "type": "hire_agent", "payload": payload });
    api.post(&of(company), &body).ok(201)
}

fn resubmitted(api: &Api, approval: &Value, payload: &Value) -> Value {
    api.post(&act(approval, "request-revision"), &json!({}))
        .ok(200);
    api.post(&act(approval, "resubmit"), &json!({ "payload": payload }))
        .ok(200)
}

/// The path of the draft that an approval decides on.
fn draft(approval: &Value) -> String {
    format!(
        "/api/agents/{}",
        approval["payload"]["agentId"].as_str().unwrap()
    )
}

api_tests! {
    fn a_proposed_agent_is_checked_like_any_other(api = strict) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let hires = format!("/api/companies/{}/agent-hires", id(&company));
        let filed = file(api, &company, &json!({ "name": "Dora", "role": "engineer" }));
        api.post(&act(&filed, "request-revision"), &json!({})).ok(200);
        let resubmit = act(&filed, "resubmit");
        for (env, code, name) in refused_environments() {
            let pointer = format!("/adapterConfig/env/{name}");
            let agent = json!({
                "name": "Bob", "role": "engineer", "adapterConfig": { "env": env },
            });
            faulty(&api.post(&hires, &agent), code, &pointer);
            let body = json!({ "type": "hire_agent", "payload": agent });
            faulty(&api.post(&of(&company), &body), code, &pointer);
            faulty(&api.post(&resubmit, &json!({ "payload": agent })), code, &pointer);
        }
        let stranger = json!({ "name": "Dora", "role": "engineer", "reportsTo": NOTHING });
        let stranger = json!({ "payload": stranger });
        faulty(&api.post(&resubmit, &stranger), "reference_not_found", "/reportsTo");
        let agents = format!("/api/companies/{}/agents", id(&company));
        assert_eq!(api.get(&agents).ok(200).as_array().unwrap().len(), 1);
        api.agent(&company, "Cleo");
        let taken = json!({ "payload": { "name": "cleo", "role": "engineer" } });
        api.post(&resubmit, &taken).problem(409, "name_taken");
        assert_eq!(api.post(&resubmit, &json!({})).ok(200)["status"], "pending");
    }

    fn a_draft_does_not_outgrow_the_payload_that_shows_it(api) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let proposed = json!({
            "name": "Dora", "role": "engineer", "permissions": { "canCreateAgents": true },
        });
        let filed = file(api, &company, &proposed);
        let padded = |length: usize| {
            let mut padded = proposed.clone();
            padded["pad"] = "x".repeat(length).into();
            padded
        };
        let shown = filed["payload"].to_string().len();
        // One byte below the bound: `"pad":""` and a comma come with the text.
        let room = MAX_PAYLOAD - shown - r#","pad":"""#.len();
        let full = resubmitted(api, &filed, &padded(room));
        assert_eq!(full["payload"].to_string().len(), MAX_PAYLOAD);
        let permissions = format!("{}/permissions", draft(&filed));
        let answer = api.patch(&permissions, &json!({ "canCreateAgents": false }));
        faulty(&answer, "invalid_field", "/payload");
        resubmitted(api, &full, &padded(room - 1));
        api.patch(&permissions, &json!({ "canCreateAgents": false })).ok(200);
    }

    fn a_draft_that_has_used_its_budget_up_is_paused_when_it_is_approved(api) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let filed = file(api, &company, &json!({
            "name": "Dora", "role": "engineer", "budgetMonthlyCents": 1,
        }));
        let agent = draft(&filed);
        let cost = json!({
            "agentId": filed["payload"]["agentId"], "provider": "p", "model": "m", "costCents": 5,
        });
        api.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);
        api.post(&act(&filed, "approve"), &json!({})).ok(200);
        let approved = api.get(&agent).ok(200);
        assert_eq!((&approved["status"], &approved["pauseReason"]), (&json!("paused"), &json!("budget")));
        let refused = api.post(&format!("{agent}/heartbeat/invoke"), &json!({}));
        assert_eq!(refused.status, 409, "{refused:?}");
        api.patch(&agent, &json!({ "budgetMonthlyCents": 100 })).ok(200);
        assert_eq!(api.get(&agent).ok(200)["pauseReason"], Value::Null);
    }

    fn who_calls_itself_a_reference_to_a_secret_is_hidden_all_the_same(api) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let filed = file(api, &company, &json!({
            "name": "Dora", "role": "engineer",
            "metadata": { "type": "secret_ref", "password": "HIDDEN" },
            "credentials": { "type": "secret_ref", "value": "HIDDEN" },
        }));
        let issues = format!("/api/companies/{}/issues", id(&company));
        let overrides = json!({ "type": "secret_ref", "env": { "A_TOKEN": "HIDDEN" } });
        let issue = api.post(&issues, &json!({ "title": "x" })).ok(201);
        let issue = format!("/api/issues/{}", id(&issue));
        api.patch(&issue, &json!({ "assigneeAdapterOverrides": overrides })).ok(200);
        api.post(&act(&filed, "approve"), &json!({})).ok(200);
        api.patch(&draft(&filed), &json!({ "metadata": {} })).ok(200);
        let activity = format!("/api/companies/{}/activity", id(&company));
        for shown in [&activity, &of(&company), &issues, &act(&filed, "history")] {
            let shown = api.get(shown).ok(200).to_string();
            assert!(!shown.contains("HIDDEN"), "{shown}");
        }
    }

    fn a_draft_does_not_go_back_to_what_its_payload_cannot_show(api) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let half = "x".repeat(MAX_PAYLOAD / 2);
        let filed = file(api, &company, &json!({
            "name": "Dora", "role": "engineer", "adapterConfig": { "prompt": half },
        }));
        let revisions = format!("{}/config-revisions", draft(&filed));
        let first = api.get(&revisions).ok(200)[0].clone();
        let small = json!({ "name": "Dora", "role": "engineer", "pad": half });
        resubmitted(api, &filed, &small);
        let back = format!("{revisions}/{}/rollback", id(&first));
        faulty(&api.post(&back, &json!({})), "invalid_field", "/payload");
        assert_eq!(api.get(&draft(&filed)).ok(200)["adapterConfig"], json!({}));
    }
}
