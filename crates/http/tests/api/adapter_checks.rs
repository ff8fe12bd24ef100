//! Asks whether an agent could run (docs/agents.md#is-it-ready); what the answer is made of is
//! tested with the engine.

use serde_json::{Value, json};

use crate::agent_faults::strict;
use crate::support::{Api, NOTHING, api_tests, id};

fn hired(api: &Api, company: &Value, body: &Value) -> Value {
    let path = format!("/api/companies/{}/agents", id(company));
    api.post(&path, body).ok(201)
}

fn of_agent(agent: &Value) -> String {
    format!("/api/agents/{}/adapter-check", id(agent))
}

fn of_company(company: &Value) -> String {
    format!("/api/companies/{}/adapter-check", id(company))
}

api_tests! {
    fn an_agent_is_checked_as_it_is_configured(api) {
        let company = api.company("Acme");
        let config = json!({ "model": "m", "env": { "GITHUB_TOKEN": "t.o.ken" } });
        let ada = json!({
            "name": "Ada", "adapterType": "claude_local", "adapterConfig": config,
        });
        let ada = hired(api, &company, &ada);
        let answer = api.send("POST", &of_agent(&ada), &[], b"");
        assert!(!answer.text.contains("t.o.ken"), "{}", answer.text);
        let answer = answer.ok(200);
        assert_eq!(
            answer,
            json!({
                "adapterType": "claude_local", "ok": true, "signedIn": "unknown",
                "program": {
                    "path": "/usr/bin/program", "version": null, "testedVersion": null,
                },
                "checks": [{ "name": "program", "status": "ok", "message": "it is there" }],
            })
        );
        let asked = api.adapters.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].agent.unwrap().to_string(), id(&ada));
        assert_eq!(asked[0].company.company().to_string(), id(&company));
        assert_eq!(Value::Object(asked[0].adapter_config.clone().into()), config);
    }

    fn the_agent_and_those_above_it_check_and_nobody_else(api) {
        let company = api.company("Acme");
        let boss = api.agent(&company, "Bea");
        let ada = json!({ "name": "Ada", "reportsTo": id(&boss) });
        let ada = hired(api, &company, &ada);
        let other = api.agent(&company, "Olga");
        let elsewhere = api.company("Elsewhere");
        let stranger = api.agent(&elsewhere, "Stan");
        for caller in [&ada, &boss] {
            api.bearing(&api.key(caller)).post(&of_agent(&ada), &json!({})).ok(200);
        }
        let asked = api.adapters.asked().len();
        let refused = |caller: &Value, path: &str, status, code: &str| {
            api.bearing(&api.key(caller)).post(path, &json!({})).problem(status, code);
        };
        refused(&other, &of_agent(&ada), 403, "forbidden");
        refused(&stranger, &of_agent(&ada), 404, "not_found");
        refused(&boss, &of_company(&company), 403, "board_required");
        let nobody = format!("/api/agents/{NOTHING}/adapter-check");
        api.post(&nobody, &json!({})).problem(404, "not_found");
        assert_eq!(api.adapters.asked().len(), asked);
    }

    fn an_agent_is_checked_as_a_change_would_leave_it(api) {
        let company = api.company("Acme");
        let config = json!({ "command": "now", "env": { "A_TOKEN": "t", "B": "b" } });
        let body = json!({ "name": "Ada", "adapterType": "process", "adapterConfig": config });
        let ada = hired(api, &company, &body);
        let change = json!({
            "adapterType": "codex_local",
            "adapterConfig": {
                "command": "then", "cwd": "/", "env": { "A_TOKEN": "***REDACTED***", "B": null },
            },
        });
        assert_eq!(api.post(&of_agent(&ada), &change).ok(200)["adapterType"], "codex_local");
        let asked = api.adapters.asked();
        assert_eq!(
            Value::Object(asked[0].adapter_config.clone().into()),
            json!({ "command": "then", "cwd": "/", "env": { "A_TOKEN": "t" } })
        );
        let path = format!("/api/agents/{}", id(&ada));
        assert_eq!(api.get(&path).ok(200)["adapterConfig"]["command"], "now");
        let faulty = json!({ "adapterConfig": { "command": 7 } });
        api.post(&of_agent(&ada), &faulty).problem(422, "invalid_field");
        // What is named here would be started.
        let own = api.bearing(&api.key(&ada)).post(&of_agent(&ada), &change);
        own.problem(403, "board_required");
        assert_eq!(api.adapters.asked().len(), 1);
    }

    fn what_an_agent_proposes_is_started_by_the_board_alone(api) {
        let company = json!({ "name": "Acme", "requireBoardApprovalForNewAgents": true });
        let company = api.post("/api/companies", &company).ok(201);
        let ceo = hired(api, &company, &json!({ "name": "Cleo", "role": "ceo" }));
        let key = api.key(&ceo);
        let hires = format!("/api/companies/{}/agent-hires", id(&company));
        let proposal = json!({
            "name": "Ada", "reportsTo": id(&ceo), "adapterConfig": { "command": "anything" },
        });
        let draft = api.bearing(&key).post(&hires, &proposal).ok(201)["agent"].clone();
        let by_ceo = api.bearing(&key).post(&of_agent(&draft), &json!({}));
        by_ceo.problem(409, "agent_pending_approval");
        assert_eq!(api.adapters.asked().len(), 0);
        api.post(&of_agent(&draft), &json!({})).ok(200);

        let path = format!("/api/agents/{}/terminate", id(&draft));
        api.post(&path, &json!({})).ok(200);
        api.post(&of_agent(&draft), &json!({})).problem(409, "agent_terminated");
    }

    fn a_configuration_is_checked_before_anybody_is_hired(api) {
        let company = api.company("Acme");
        let path = of_company(&company);
        let secrets = format!("/api/companies/{}/secrets", id(&company));
        let secret = api.post(&secrets, &json!({ "name": "key", "value": "sesame" })).ok(201);
        let reference = json!({ "type": "secret_ref", "secretId": secret["id"] });
        let config = json!({ "env": { "CODEX_API_KEY": reference } });
        let draft = json!({ "adapterType": "codex_local", "adapterConfig": config });
        let answer = api.post(&path, &draft).ok(200);
        assert_eq!(answer["adapterType"], "codex_local");
        api.post(&path, &json!({})).ok(200);
        let asked = api.adapters.asked();
        assert_eq!((asked[0].agent, asked.len()), (None, 2));
        assert_eq!(asked[1].adapter_type.to_string(), "process");
        let agents = format!("/api/companies/{}/agents", id(&company));
        assert_eq!(api.get(&agents).ok(200), json!([]));
    }

    fn a_configuration_that_nobody_could_be_hired_with_is_refused(api = strict) {
        let company = api.company("Acme");
        let ada = hired(api, &company, &json!({ "name": "Ada" }));
        let elsewhere = api.company("Elsewhere");
        let secrets = format!("/api/companies/{}/secrets", id(&elsewhere));
        let foreign = api.post(&secrets, &json!({ "name": "key", "value": "sesame" })).ok(201);
        let foreign = json!({ "type": "secret_ref", "secretId": foreign["id"] });
        let env = |env: Value| json!({ "adapterConfig": { "env": env } });
        for (body, status, code, pointer) in [
            (json!({ "adapterType": "abacus" }), 422, "invalid_field", "/adapterType"),
            (
                json!({ "adapterConfig": { "command": 7 } }),
                422, "invalid_field", "/adapterConfig/command",
            ),
            (
                env(json!({ "WORKFORCE_RUN_ID": "x" })),
                422, "env_reserved", "/adapterConfig/env/WORKFORCE_RUN_ID",
            ),
            (
                env(json!({ "API_TOKEN": "in plain" })),
                422, "secret_required", "/adapterConfig/env/API_TOKEN",
            ),
            (env(json!({ "K": foreign })), 422, "secret_not_found", "/adapterConfig/env/K"),
            (json!({ "adapterConfig": [] }), 400, "invalid_json", "/adapterConfig"),
        ] {
            for path in [of_company(&company), of_agent(&ada)] {
                let problem = api.post(&path, &body).problem(status, code);
                assert_eq!(problem["details"][0]["pointer"], pointer, "{path} {body}");
            }
        }
        assert_eq!(api.adapters.asked().len(), 0);
    }

    fn a_check_that_finds_no_place_is_told_to_come_again(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        api.adapters.fill();
        let answer = api.post(&of_agent(&ada), &json!({}));
        assert_eq!(answer.header("retry-after"), Some("11"));
        answer.problem(429, "rate_limited");
    }

    fn a_repetition_of_a_check_gets_its_answer_and_starts_nothing(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let once = || api.send("POST", &of_agent(&ada), &[("Idempotency-Key", "k")], b"");
        let first = once();
        let second = once();
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(first.ok(200), second.ok(200));
        assert_eq!(api.adapters.asked().len(), 1);
    }
}
