//! What stands against hiring, changing, stopping and running agents.

use serde_json::{Value, json};
use workforce_testkit::store::TestStore;

use crate::approvals::faulty;
use crate::secrets;
use crate::support::{Api, NOTHING, api_tests, id};

/// A server on which values under sensitive names must be secrets.
pub(crate) fn strict(store: TestStore) -> Api {
    Api::adjusted(store, |state| state.with_strict_secrets(true))
}

/// Environments that are refused, each with its code and the variable at fault. The last one is
/// refused by a [`strict`] server only.
pub(crate) fn refused_environments() -> [(Value, &'static str, &'static str); 3] {
    let nowhere = json!({ "type": "secret_ref", "secretId": NOTHING });
    [
        (
            json!({ "WORKFORCE_RUN_ID": "mine" }),
            "env_reserved",
            "WORKFORCE_RUN_ID",
        ),
        (json!({ "TOKEN": nowhere }), "secret_not_found", "TOKEN"),
        (
            json!({ "API_TOKEN": "in plain" }),
            "secret_required",
            "API_TOKEN",
        ),
    ]
}

fn agents(company: &Value) -> String {
    format!("/api/companies/{}/agents", id(company))
}

fn at(agent: &Value, part: &str) -> String {
    format!("/api/agents/{}{part}", id(agent))
}

/// A draft of a company that wants an approval for new agents.
fn draft(api: &Api) -> Value {
    let company = api
        .post("/api/companies", &json!({ "name": "Careful" }))
        .ok(201);
    let hires = format!("/api/companies/{}/agent-hires", id(&company));
    let body = json!({ "name": "Dora", "role": "engineer" });
    api.post(&hires, &body).ok(201)["agent"].clone()
}

/// A terminated agent.
fn former(api: &Api, company: &Value) -> Value {
    let agent = api.agent(company, "Former");
    api.post(&at(&agent, "/terminate"), &json!({})).ok(200)
}

/// An agent of a company that has spent its month.
fn penniless(api: &Api) -> Value {
    let company = api.company("Poor");
    let agent = api.agent(&company, "Pip");
    spend(api, &company, &agent);
    agent
}

/// Lets an agent use up the budget of its company.
pub(crate) fn spend(api: &Api, company: &Value, agent: &Value) {
    let path = format!("/api/companies/{}", id(company));
    api.patch(&path, &json!({ "budgetMonthlyCents": 1 }))
        .ok(200);
    let cost = json!({ "agentId": id(agent), "provider": "p", "model": "m", "costCents": 2 });
    api.post(&format!("{path}/cost-events"), &cost).ok(201);
    assert_eq!(api.get(&path).ok(200)["pauseReason"], "budget");
}

api_tests! {
    fn an_environment_that_cannot_be_is_refused(api = strict) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        for (env, code, name) in refused_environments() {
            let pointer = format!("/adapterConfig/env/{name}");
            let config = json!({ "env": env });
            let made = json!({ "name": "Bob", "adapterConfig": config });
            faulty(&api.post(&agents(&company), &made), code, &pointer);
            let change = json!({ "adapterConfig": config });
            faulty(&api.patch(&at(&ada, ""), &change), code, &pointer);
        }
        assert_eq!(api.get(&agents(&company)).ok(200).as_array().unwrap().len(), 1);
        assert_eq!(api.get(&at(&ada, "")).ok(200)["adapterConfig"], json!({}));
    }

    fn a_manager_who_is_not_there_is_refused(api) {
        let (company, other) = (api.company("Acme"), api.company("Other"));
        let (ada, eve) = (api.agent(&company, "Ada"), api.agent(&other, "Eve"));
        for manager in [NOTHING, id(&eve)] {
            let made = json!({ "name": "Bob", "reportsTo": manager });
            let answer = api.post(&agents(&company), &made);
            faulty(&answer, "reference_not_found", "/reportsTo");
            let change = json!({ "reportsTo": manager });
            faulty(&api.patch(&at(&ada, ""), &change), "reference_not_found", "/reportsTo");
        }
    }

    fn an_agent_hires_only_what_it_may_give(api) {
        let company = api.company("Acme");
        let ceo = json!({ "name": "Cleo", "role": "ceo" });
        let ceo = api.post(&agents(&company), &ceo).ok(201);
        let key = api.key(&ceo);
        let asks = api.bearing(&key);
        for gift in [
            json!({ "name": "Bob", "budgetMonthlyCents": 100 }),
            json!({ "name": "Bob", "role": "ceo" }),
            json!({ "name": "Bob", "adapterConfig": { "command": "true" } }),
            json!({ "name": "Bob", "permissions": { "canCreateAgents": true } }),
        ] {
            asks.post(&agents(&company), &gift).problem(403, "board_required");
        }
        asks.post(&agents(&company), &json!({ "name": "Bob" })).ok(201);
        let wants = json!({ "requireBoardApprovalForNewAgents": true });
        api.patch(&format!("/api/companies/{}", id(&company)), &wants).ok(200);
        asks.post(&agents(&company), &json!({ "name": "Carl" })).problem(403, "approval_required");
        api.post(&agents(&company), &json!({ "name": "Carl" })).ok(201);
    }

    fn drafts_and_former_agents_are_not_switched(api) {
        let draft = draft(api);
        let former = former(api, &api.company("Acme"));
        for (agent, code) in [(&draft, "agent_pending_approval"), (&former, "agent_terminated")] {
            for action in ["/pause", "/resume", "/keys"] {
                api.post(&at(agent, action), &json!({})).problem(409, code);
            }
        }
        api.send("DELETE", &at(&draft, ""), &[], b"").problem(409, "agent_pending_approval");
        assert_eq!(api.get(&at(&draft, "")).ok(200)["status"], "pending_approval");
    }

    fn who_cannot_run_is_neither_invoked_nor_woken(api) {
        let draft = draft(api);
        let former = former(api, &api.company("Acme"));
        let paused = api.agent(&api.company("Beta"), "Pat");
        api.post(&at(&paused, "/pause"), &json!({})).ok(200);
        for (agent, code) in [
            (&draft, "agent_pending_approval"),
            (&former, "agent_terminated"),
            (&paused, "agent_paused"),
            (&penniless(api), "budget_exhausted"),
        ] {
            for action in ["/heartbeat/invoke", "/wakeup"] {
                api.post(&at(agent, action), &json!({})).problem(409, code);
            }
            let runs = format!("/api/companies/{}/heartbeat-runs", agent["companyId"].as_str().unwrap());
            assert_eq!(api.get(&runs).ok(200), json!([]));
        }
    }

    fn a_payload_that_is_too_long_wakes_nobody(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let body = json!({ "payload": { "text": "x".repeat(16 * 1024) } });
        for action in ["/heartbeat/invoke", "/wakeup"] {
            faulty(&api.post(&at(&ada, action), &body), "invalid_field", "/payload");
        }
    }

    fn a_company_is_not_deleted_while_its_runs_live(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        api.post(&at(&ada, "/heartbeat/invoke"), &json!({})).ok(202);
        secrets::start(api, &json!({}));
        let path = format!("/api/companies/{}", id(&company));
        api.post(&format!("{path}/archive"), &json!({})).ok(200);
        api.send("DELETE", &path, &[], b"").problem(409, "company_has_live_runs");
        api.get(&path).ok(200);
    }
}
