use serde_json::{Value, json};

use crate::support::{Api, NOTHING, api_tests, id};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn wakeup(agent: &Value) -> String {
    format!("/api/agents/{}/wakeup", id(agent))
}

fn state(api: &Api, agent: &Value) -> Value {
    api.get(&format!("/api/agents/{}/runtime-state", id(agent)))
        .ok(200)
}

api_tests! {
    fn a_company_is_seen_at_a_glance(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/dashboard", id(&company));
        let empty = api.get(&path).ok(200);
        assert_eq!(keys(&empty), [
            "agents", "costs", "lastTickAt", "pendingApprovals", "queueDepth", "staleTasks",
            "stuck", "suppressedWakes", "tasks",
        ]);
        assert_eq!(empty["costs"], json!({
            "monthBudgetCents": 0, "monthSpendCents": 0, "monthUtilizationPercent": 0.0,
        }));
        let ada = api.agent(&company, "Ada");
        api.patch(&format!("/api/agents/{}", id(&ada)), &json!({ "budgetMonthlyCents": 200 })).ok(200);
        api.issue(&company, &json!({ "title": "a", "status": "todo", "assigneeAgentId": id(&ada) }));
        api.issue(&company, &json!({ "title": "b" }));
        let cost = json!({
            "agentId": id(&ada), "provider": "p", "model": "m", "inputTokens": 1,
            "outputTokens": 1, "costCents": 50.5,
        });
        api.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);
        let full = api.get(&path).ok(200);
        assert_eq!(full["agents"], json!({
            "active": 1, "error": 0, "paused": 0, "running": 0, "runningDeltaHour": 0,
        }));
        assert_eq!(full["tasks"], json!({
            "blocked": 0, "done": 0, "inProgress": 0, "inReview": 0, "open": 2, "todayDone": 0,
            "todayDoneDelta": 0,
        }));
        // A company without a limit has the sum of its agents'.
        assert_eq!(full["costs"], json!({
            "monthBudgetCents": 200, "monthSpendCents": 50.5, "monthUtilizationPercent": 25.25,
        }));
        assert_eq!(full["queueDepth"], 1);
        api.patch(&format!("/api/companies/{}", id(&company)), &json!({ "budgetMonthlyCents": 101 })).ok(200);
        assert_eq!(api.get(&path).ok(200)["costs"]["monthUtilizationPercent"], json!(50.0));

        let badges = format!("/api/companies/{}/sidebar-badges", id(&company));
        let none = json!({ "approvals": 0, "assigned": 0, "budgetStops": 0, "failedRuns": 0, "inReview": 0, "inbox": 0,
            "stuck": 0,
        });
        assert_eq!(api.get(&badges).ok(200), none);
        let key = api.key(&ada);
        api.bearing(&key).get(&path).ok(200);
        let other = api.company("Other");
        let key = api.key(&api.agent(&other, "Spy"));
        for path in [path.as_str(), badges.as_str()] {
            api.bearing(&key).get(path).problem(403, "company_forbidden");
            let nowhere = path.replace(id(&company), NOTHING);
            api.get(&nowhere).problem(404, "not_found");
        }
    }

    fn an_agent_is_woken_for_a_reason(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let body = json!({
            "source": "automation", "triggerDetail": "ping", "reason": "look at it",
            "payload": { "a": 1 }, "idempotencyKey": "one",
        });
        let before = api.signals.count();
        let run = api.post(&wakeup(&ada), &body).ok(202);
        assert_eq!(
            (&run["status"], &run["coalesced"], &run["invocationSource"]),
            (&json!("queued"), &json!(false), &json!("automation"))
        );
        assert!(api.signals.count() > before, "the engine was not told");
        let again = api.post(&wakeup(&ada), &body);
        assert_eq!((again.header("idempotency-replayed"), again.ok(202)), (Some("true"), run.clone()));
        let other = json!({ "reason": "another", "idempotencyKey": "one" });
        api.post(&wakeup(&ada), &other).problem(422, "idempotency_key_reused");
        // The header goes before the body.
        let headers = [("Idempotency-Key", "two")];
        let second = api.send("POST", &wakeup(&ada), &headers, body.to_string().as_bytes()).ok(202);
        assert_eq!((&second["id"], &second["coalesced"]), (&run["id"], &json!(true)));
        api.send("POST", &wakeup(&ada), &[], b"").ok(202);

        for body in [
            json!({ "source": "whim" }), json!({ "triggerDetail": "x" }), json!({ "reason": "" }),
            json!({ "payload": [] }), json!({ "idempotencyKey": 5 }),
        ] {
            api.post(&wakeup(&ada), &body).problem(400, "invalid_json");
        }
        api.post(&wakeup(&ada), &json!({ "idempotencyKey": "" })).problem(400, "invalid_request");
        let long = json!({ "payload": { "x": "y".repeat(20_000) } });
        api.post(&wakeup(&ada), &long).problem(422, "invalid_field");
        let key = api.key(&bob);
        api.bearing(&key).post(&wakeup(&ada), &json!({})).problem(403, "forbidden");
        api.bearing(&key).post(&wakeup(&bob), &json!({})).ok(202);
        api.post(&format!("/api/agents/{NOTHING}/wakeup"), &json!({})).problem(404, "not_found");
        api.post(&format!("/api/agents/{}/pause", id(&ada)), &json!({})).ok(200);
        api.post(&wakeup(&ada), &json!({})).problem(409, "agent_paused");
        let off = json!({ "runtimeConfig": { "heartbeat": { "wakeOnDemand": false } } });
        api.patch(&format!("/api/agents/{}", id(&bob)), &off).ok(200);
        assert_eq!(
            api.post(&wakeup(&bob), &json!({})).ok(202),
            json!({ "status": "skipped", "reason": "wake_on_demand_off" })
        );
    }

    fn a_runtime_state_tells_why_an_agent_does_nothing(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let fresh = state(api, &ada);
        assert_eq!(
            (&fresh["lifecycle"], &fresh["status"], &fresh["lastRun"], &fresh["nextHeartbeatAt"]),
            (&json!("enabled"), &json!("active"), &Value::Null, &Value::Null)
        );
        let run = api.post(&wakeup(&ada), &json!({})).ok(202);
        let waiting = state(api, &ada);
        let wake = &waiting["pendingWakes"][0];
        assert_eq!((&wake["runId"], &wake["reasons"]), (&run["id"], &json!(["manual"])));
        assert_eq!(waiting["liveRuns"], json!([]));
        api.post(&format!("/api/heartbeat-runs/{}/cancel", id(&run)), &json!({})).ok(200);
        let timer = json!({ "runtimeConfig": { "heartbeat": { "intervalSec": 3600 } } });
        api.patch(&format!("/api/agents/{}", id(&ada)), &timer).ok(200);
        api.post(&format!("/api/agents/{}/pause", id(&ada)), &json!({})).ok(200);
        let paused = state(api, &ada);
        assert_eq!(
            (&paused["lifecycle"], &paused["pauseReason"], &paused["lastRun"]["status"]),
            (&json!("paused"), &json!("manual"), &json!("cancelled"))
        );
        assert_eq!((&paused["pendingWakes"], &paused["heartbeatIntervalSec"]), (&json!([]), &Value::Null));
        let spy = api.key(&api.agent(&api.company("Other"), "Spy"));
        let path = format!("/api/agents/{}/runtime-state", id(&ada));
        api.bearing(&spy).get(&path).problem(404, "not_found");
    }

    fn the_board_says_who_may_hire(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let path = format!("/api/agents/{}/permissions", id(&ada));
        for granted in [true, false] {
            let agent = api.patch(&path, &json!({ "canCreateAgents": granted })).ok(200);
            assert_eq!(agent["permissions"]["canCreateAgents"], granted);
        }
        api.patch(&path, &json!({})).problem(400, "invalid_json");
        api.patch(&path, &json!({ "canCreateAgents": "yes" })).problem(400, "invalid_json");
        let key = api.key(&ada);
        let grant = json!({ "canCreateAgents": true });
        api.bearing(&key).patch(&path, &grant).problem(403, "board_required");
        api.patch(&format!("/api/agents/{NOTHING}/permissions"), &grant).problem(404, "not_found");
    }

    fn the_events_of_a_run_come_oldest_first(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let run = api.post(&wakeup(&ada), &json!({})).ok(202);
        api.post(&format!("/api/heartbeat-runs/{}/cancel", id(&run)), &json!({})).ok(200);
        let path = format!("/api/heartbeat-runs/{}/events", id(&run));
        let events = api.get(&path).ok(200);
        let actions: Vec<_> = events.as_array().unwrap().iter().map(|it| &it["action"]).collect();
        assert_eq!(actions, ["heartbeat.invoked", "heartbeat.cancelled"]);
        let first = api.get(&format!("{path}?limit=1"));
        let next = first.header("x-next-cursor").unwrap().to_owned();
        assert_eq!(first.ok(200)[0], events[0]);
        assert_eq!(api.get(&format!("{path}?cursor={next}")).ok(200), json!([events[1]]));
        let spy = api.key(&api.agent(&api.company("Other"), "Spy"));
        api.bearing(&spy).get(&path).problem(404, "not_found");
    }
}
