use serde_json::{Value, json};

use crate::support::{NOTHING, api_tests, id};

api_tests! {
    fn an_agent_is_hired_and_knows_itself(api) {
        let company = api.company("Acme");
        let boss = api.agent(&company, "Boss");
        let path = format!("/api/companies/{}/agents", id(&company));
        let made = api
            .post(
                &path,
                &json!({
                    "name": "Ada", "role": "manager", "title": "Engineer", "reportsTo": id(&boss),
                    "capabilities": "code", "adapterType": "process",
                    "adapterConfig": { "command": "true", "env": { "GITHUB_TOKEN": "t", "A": "b" } },
                    "budgetMonthlyCents": 300,
                }),
            )
            .ok(201);
        assert_eq!(made["status"], "active");
        assert_eq!(made["companyId"], company["id"]);
        assert_eq!(made["urlKey"], "ada");
        assert_eq!(made["spentMonthlyCents"], 0);
        assert_eq!(made["permissions"], json!({ "canCreateAgents": false }));
        assert_eq!(
            made["adapterConfig"]["env"],
            json!({ "GITHUB_TOKEN": "***REDACTED***", "A": "b" })
        );
        assert_eq!(
            made["chainOfCommand"],
            json!([{ "id": boss["id"], "name": "Boss", "role": "engineer", "title": null }])
        );

        let key = api.key(&made);
        let me = api.bearing(&key).get("/api/agents/me").ok(200);
        assert_eq!(me, api.get(&format!("/api/agents/{}", id(&made))).ok(200));
        assert_eq!(me, api.bearing(&key).get("/api/agents/ada").ok(200));
        let named = format!("/api/agents/ada?companyId={}", id(&company));
        assert_eq!(me, api.get(&named).ok(200));
        api.get("/api/agents/me").problem(401, "agent_required");
    }

    fn a_configuration_is_shown_to_itself_and_those_above_only(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/agents", id(&company));
        let config = json!({ "name": "Ada", "adapterConfig": { "command": "true" } });
        let ada = api.post(&path, &config).ok(201);
        let peer = api.agent(&company, "Peer");
        let seen = api
            .bearing(&api.key(&peer))
            .get(&format!("/api/agents/{}", id(&ada)))
            .ok(200);
        assert_eq!(seen["adapterConfig"], json!({}));
        let listed = api.bearing(&api.key(&ada)).get(&path).ok(200);
        assert_eq!(listed[0]["adapterConfig"], json!({ "command": "true" }));
        assert_eq!(listed[1]["adapterConfig"], json!({}));
    }

    fn a_short_name_is_compared_as_mentions_are(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada Über-Boss");
        assert_eq!(ada["urlKey"], "ada-über-boss");
        let at = |kind: &str, name: &str| {
            api.get(&format!("/api/{kind}/{name}?companyId={}", id(&company)))
        };
        // Composed or not, in any case, with any separator, and wide letters.
        for name in [
            "ada-%C3%BCber-boss", "ADA-%C3%9Cber-Boss", "Ada_u%CC%88ber%20boss",
            "%EF%BC%A1da-%C3%BCber-boss",
        ] {
            assert_eq!(at("agents", name).ok(200)["id"], ada["id"], "{name}");
        }
        let own = api.bearing(&api.key(&ada)).get("/api/agents/ADA_%C3%BCber_Boss");
        assert_eq!(own.ok(200)["id"], ada["id"]);
        for name in ["ada", "ada-uber-boss", "ada%C3%BCberboss"] {
            at("agents", name).problem(404, "not_found");
        }
        // One that is spelt exactly goes before those that are only alike.
        let agents = format!("/api/companies/{}/agents", id(&company));
        let [plain, wide] = ["Fin", "\u{ff26}in"].map(|name| {
            api.post(&agents, &json!({ "name": name, "allowSameName": true })).ok(201)
        });
        assert_eq!(at("agents", "fin").ok(200)["id"], plain["id"]);
        assert_eq!(at("agents", "%EF%BD%86in").ok(200)["id"], wide["id"]);
        at("agents", "FIN").problem(404, "not_found");

        let site = json!({ "name": "Web Site" });
        let site = api.post(&format!("/api/companies/{}/projects", id(&company)), &site).ok(201);
        for name in ["web-site", "Web_Site", "WEB%20SITE"] {
            assert_eq!(at("projects", name).ok(200)["id"], site["id"], "{name}");
        }
        let other = api.company("Other");
        api.get(&format!("/api/agents/Fin?companyId={}", id(&other))).problem(404, "not_found");
    }

    fn a_whole_number_of_a_configuration_has_many_spellings(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/agents", id(&company));
        for (n, runs) in ["2", "2.0", "2e0", "1E1"].iter().enumerate() {
            let body = format!(
                r#"{{ "name": "A{n}", "adapterConfig": {{ "timeoutSec": 60.0 }}, "runtimeConfig":
                {{ "heartbeat": {{ "maxConcurrentRuns": {runs}, "intervalSec": 30.0 }} }} }}"#
            );
            let made = api.send("POST", &path, &[], body.as_bytes()).ok(201);
            let told = &made["runtimeConfig"]["heartbeat"]["maxConcurrentRuns"];
            assert_eq!(told.as_f64(), runs.parse().ok());
        }
        let ada = api.agent(&company, "Ada");
        let own = format!("/api/agents/{}", id(&ada));
        for runs in [json!(2.5), json!(0.0), json!(11), json!("2")] {
            let heartbeat = json!({ "maxConcurrentRuns": runs });
            api.patch(&own, &json!({ "runtimeConfig": { "heartbeat": heartbeat } }))
                .problem(422, "invalid_field");
        }
    }

    fn a_number_of_any_size_comes_back_as_it_was(api) {
        let numbers = [f64::MAX, f64::MIN, 1e308, 1.797e308, f64::MIN_POSITIVE, 5e-324, 0.1, 1e21];
        let company = api.company("Acme");
        let agent = json!({
            "name": "Ada", "role": "engineer", "metadata": { "numbers": numbers },
            "adapterConfig": { "number": f64::MAX }, "runtimeConfig": { "number": f64::MIN },
        });
        let agents = format!("/api/companies/{}/agents", id(&company));
        let ada = api.post(&agents, &agent).ok(201);
        let shown = api.get(&format!("/api/agents/{}", id(&ada))).ok(200);
        for (number, shown) in numbers.iter().zip(shown["metadata"]["numbers"].as_array().unwrap()) {
            assert_eq!(shown.as_f64().unwrap().to_bits(), number.to_bits(), "{number:e}");
        }
        assert_eq!(shown["adapterConfig"]["number"], json!(f64::MAX));
        api.get(&agents).ok(200);
        api.get(&format!("/api/agents/{}/config-revisions", id(&ada))).ok(200);
    }

    fn an_agent_cannot_raise_itself(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let path = format!("/api/agents/{}", id(&ada));
        let key = api.key(&ada);
        let own = api.bearing(&key);
        own.patch(&path, &json!({ "budgetMonthlyCents": 1 }))
            .problem(403, "board_required");
        for field in ["status", "spentMonthlyCents", "companyId"] {
            let problem = own
                .patch(&path, &json!({ field: null }))
                .problem(422, "field_not_writable");
            assert_eq!(problem["details"][0]["pointer"], format!("/{field}"));
            api.patch(&path, &json!({ field: null }))
                .problem(422, "field_not_writable");
        }
        assert_eq!(
            own.patch(&path, &json!({ "title": "Lead" })).ok(200)["title"],
            "Lead"
        );
        own.post(&format!("{path}/pause"), &json!({}))
            .problem(403, "board_required");
    }

    fn switches_take_no_body(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let path = format!("/api/agents/{}", id(&ada));
        let send = |action: &str, body: &[u8]| api.send("POST", &format!("{path}/{action}"), &[], body);
        let paused = send("pause", b"").ok(200);
        assert_eq!(
            (&paused["status"], &paused["pauseReason"]),
            (&json!("paused"), &json!("manual"))
        );
        assert_eq!(send("pause", b"{}").ok(200), paused);
        assert_eq!(send("resume", b"").ok(200)["status"], "active");
        assert_eq!(send("terminate", b"").ok(200)["status"], "terminated");
        assert_eq!(send("terminate", b"").ok(200)["status"], "terminated");
        send("resume", b"").problem(409, "agent_terminated");
        let company = ada["companyId"].as_str().unwrap();
        let list = |query: &str| {
            api.get(&format!("/api/companies/{company}/agents{query}"))
                .ok(200)
        };
        assert_eq!(list("").as_array().unwrap().len(), 1);
        assert_eq!(list("?includeTerminated=false"), json!([]));
    }

    fn a_key_is_shown_once_and_revoked(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let path = format!("/api/agents/{}/keys", id(&ada));
        let made = api.post(&path, &json!({ "name": "laptop" })).ok(201);
        let value = made["key"].as_str().unwrap();
        assert_eq!(made["token"], value);
        assert!(value.starts_with("wfk_") && value.starts_with(made["prefix"].as_str().unwrap()));
        let listed = api.get(&path).ok(200);
        assert_eq!(listed[0]["name"], "laptop");
        assert!(!listed.to_string().contains(value));

        api.bearing(value).get("/api/agents/me").ok(200);
        assert_eq!(api.state.credential_uses().flush(&*api.store).unwrap(), 1);
        assert!(api.get(&path).ok(200)[0]["lastUsedAt"].is_string());

        let one = format!("{path}/{}", id(&made));
        assert!(api.send("DELETE", &one, &[], b"").ok(200)["revokedAt"].is_string());
        api.bearing(value)
            .get("/api/agents/me")
            .problem(401, "credential_invalid");
        api.send("DELETE", &format!("{path}/{NOTHING}"), &[], b"")
            .problem(404, "not_found");
    }

    fn the_organisation_is_a_tree(api) {
        let company = api.company("Acme");
        let boss = api.agent(&company, "Boss");
        let ada = api.agent(&company, "Ada");
        let moved = json!({ "reportsTo": id(&boss) });
        api.patch(&format!("/api/agents/{}", id(&ada)), &moved)
            .ok(200);
        let org = api
            .get(&format!("/api/companies/{}/org", id(&company)))
            .ok(200);
        assert_eq!(
            org,
            json!([{
                "id": boss["id"], "name": "Boss", "role": "engineer", "title": null,
                "urlKey": "boss", "status": "active",
                "reports": [{
                    "id": ada["id"], "name": "Ada", "role": "engineer", "title": null,
                    "urlKey": "ada", "status": "active", "reports": [],
                }],
            }])
        );
        let cycle = json!({ "reportsTo": id(&ada) });
        api.patch(&format!("/api/agents/{}", id(&boss)), &cycle)
            .problem(422, "cycle");
    }

    fn an_unknown_adapter_is_a_fault_of_meaning(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let body = |adapter: Value| json!({ "name": "Bob", "adapterType": adapter });
        let agents = format!("/api/companies/{}/agents", id(&company));
        let own = format!("/api/agents/{}", id(&ada));
        for (method, path) in [("POST", &agents), ("PATCH", &own)] {
            let send = |adapter: Value| {
                let body = body(adapter).to_string();
                api.send(method, path, &[], body.as_bytes())
            };
            let problem = send(json!("telepathy")).problem(422, "invalid_field");
            let fault = &problem["details"][0];
            assert_eq!(fault["pointer"], "/adapterType");
            let message = fault["message"].as_str().unwrap();
            assert!(message.contains("process, http, claude_local"), "{message}");
            send(json!(5)).problem(400, "invalid_json");
        }
        let known = api.patch(&own, &json!({ "adapterType": "http" })).ok(200);
        assert_eq!(known["adapterType"], "http");
    }
}
