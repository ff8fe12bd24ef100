use serde_json::{Value, json};

use crate::secrets::start;
use crate::support::{api_tests, id};

fn cost(agent: &Value, cents: &str) -> String {
    format!(
        r#"{{"agentId":{},"provider":"p","model":"m","inputTokens":10.0,"outputTokens":5,"costCents":{cents}}}"#,
        agent["id"]
    )
}

api_tests! {
    fn costs_are_exact_and_add_up(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let at = |part: &str| format!("/api/companies/{}/{part}", id(&company));
        let report = |cents: &str| {
            api.send(
                "POST",
                &at("cost-events"),
                &[],
                cost(&ada, cents).as_bytes(),
            )
        };
        let event = report("0.1");
        event.ok(201);
        assert!(event.text.contains("\"costCents\":0.1,"), "{}", event.text);
        report("0.2").ok(201);
        for cents in ["-1", "0.0000001", "\"3\"", "null"] {
            report(cents).problem(400, "invalid_json");
        }
        let summary = api.get(&at("costs/summary"));
        assert!(
            summary.text.contains("\"spendCents\":0.3,"),
            "{}",
            summary.text
        );
        assert_eq!(summary.ok(200)["inputTokens"], 20);
        report("299.7").ok(201);
        let summary = api.get(&at("costs/summary"));
        assert!(
            summary.text.contains("\"spendCents\":300,"),
            "{}",
            summary.text
        );

        let rows = api.get(&at("costs/by-agent")).ok(200);
        assert_eq!(
            (&rows[0]["agentName"], &rows[0]["costCents"]),
            (&json!("Ada"), &json!(300))
        );
        let rows = api.get(&at("costs/by-project")).ok(200);
        assert_eq!(
            (&rows[0]["projectId"], &rows[0]["costCents"]),
            (&Value::Null, &json!(300))
        );
        assert_eq!(
            api.get(&at("cost-events"))
                .ok(200)
                .as_array()
                .unwrap()
                .len(),
            3
        );
        let agent = api.get(&format!("/api/agents/{}", id(&ada))).ok(200);
        assert_eq!(agent["spentMonthlyCents"], 300);
    }

    fn a_used_up_budget_stops_the_agent(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let path = format!("/api/agents/{}", id(&ada));
        api.patch(&path, &json!({ "budgetMonthlyCents": 100 }))
            .ok(200);
        let events = format!("/api/companies/{}/cost-events", id(&company));
        let key = api.key(&ada);
        let body: Value = serde_json::from_str(&cost(&ada, "100")).unwrap();
        api.bearing(&key).post(&events, &body).ok(201);
        let stopped = api.get(&path).ok(200);
        assert_eq!(
            (&stopped["status"], &stopped["pauseReason"]),
            (&json!("paused"), &json!("budget"))
        );
        let rows = api
            .get(&format!("/api/companies/{}/costs/by-agent", id(&company)))
            .ok(200);
        assert_eq!(rows[0]["utilizationPercent"], 100.0);
        api.post(&format!("{path}/resume"), &json!({}))
            .problem(409, "budget_exhausted");
        let raised = api
            .patch(&path, &json!({ "budgetMonthlyCents": 200 }))
            .ok(200);
        assert_ne!(raised["status"], "paused");
    }

    fn an_agent_reports_its_own_costs_once(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let events = format!("/api/companies/{}/cost-events", id(&company));
        let key = api.key(&ada);
        let mut body: Value = serde_json::from_str(&cost(&bob, "1")).unwrap();
        api.bearing(&key)
            .post(&events, &body)
            .problem(403, "forbidden");
        body["agentId"] = ada["id"].clone();
        body["idempotencyKey"] = json!("once");
        let first = api.bearing(&key).post(&events, &body).ok(201);
        assert_eq!(api.bearing(&key).post(&events, &body).ok(200), first);
        // What is read from a program's output has keys of its own.
        body["idempotencyKey"] = json!("metered:01890a5d-ac96-774b-bcce-b302099a8057:0");
        let refused = api.bearing(&key).post(&events, &body);
        let refused = refused.problem(422, "invalid_field");
        assert_eq!(refused["details"][0]["pointer"], "/idempotencyKey");
        body["idempotencyKey"] = json!("");
        api.bearing(&key)
            .post(&events, &body)
            .problem(400, "invalid_json");
    }

    fn what_a_metered_run_reports_itself_is_kept_and_not_counted(api) {
        let company = api.company("Acme");
        for (adapter, counted) in [("claude_local", false), ("process", true)] {
            let ada = api.agent(&company, adapter);
            let path = format!("/api/agents/{}", id(&ada));
            api.patch(&path, &json!({ "adapterType": adapter })).ok(200);
            api.post(&format!("{path}/heartbeat/invoke"), &json!({})).ok(202);
            let (_, token) = start(api, &json!({}));
            let events = format!("/api/companies/{}/cost-events", id(&company));
            let body: Value = serde_json::from_str(&cost(&ada, "7")).unwrap();
            let event = api.bearing(&token).post(&events, &body).ok(201);
            assert_eq!(event["counted"], counted, "{adapter}");
            let spent = api.get(&path).ok(200)["spentMonthlyCents"].clone();
            assert_eq!(spent, if counted { 7 } else { 0 }, "{adapter}");
        }
    }
}
