use std::convert::Infallible;

use serde_json::json;
use workforce_domain::actor::Scope;
use workforce_domain::port::Failure;

use crate::support::{Api, NOTHING, api_tests, id};

api_tests! {
    fn an_invoked_heartbeat_waits_and_can_be_stopped(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&ada));
        let before = api.signals.count();
        let run = api.send("POST", &invoke, &[], b"").ok(202);
        assert_eq!(
            (&run["status"], &run["coalesced"]),
            (&json!("queued"), &json!(false))
        );
        assert_eq!(
            (&run["reason"], &run["invocationSource"]),
            (&json!("manual"), &json!("on_demand"))
        );
        assert!(api.signals.count() > before, "the engine was not told");
        let again = api.post(&invoke, &json!({ "payload": { "a": 1 } })).ok(202);
        assert_eq!(
            (&again["id"], &again["coalesced"]),
            (&run["id"], &json!(true))
        );

        let of_company = |part: &str| {
            api.get(&format!("/api/companies/{}/{part}", id(&company)))
                .ok(200)
        };
        assert_eq!(of_company("live-runs")[0]["id"], run["id"]);
        assert_eq!(
            of_company("heartbeat-runs?status=queued")[0]["id"],
            run["id"]
        );
        assert_eq!(of_company("heartbeat-runs?status=running"), json!([]));
        let path = format!("/api/heartbeat-runs/{}", id(&run));
        assert_eq!(api.get(&path).ok(200)["id"], run["id"]);
        let cancelled = api
            .send("POST", &format!("{path}/cancel"), &[], b"")
            .ok(200);
        assert_eq!(cancelled["status"], "cancelled");
        api.send("POST", &format!("{path}/cancel"), &[], b"")
            .problem(409, "run_not_live");
        assert_eq!(of_company("live-runs"), json!([]));
    }

    fn who_cannot_run_cannot_be_invoked(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&ada));
        api.bearing(&api.key(&bob))
            .post(&invoke, &json!({}))
            .problem(403, "forbidden");
        api.post(&format!("/api/agents/{}/pause", id(&ada)), &json!({}))
            .ok(200);
        let problem = api.post(&invoke, &json!({})).problem(409, "agent_paused");
        assert_eq!(problem["details"]["pauseReason"], "manual");
    }

    fn a_log_is_read_in_pieces(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let run = api
            .post(
                &format!("/api/agents/{}/heartbeat/invoke", id(&ada)),
                &json!({}),
            )
            .ok(202);
        let path = format!("/api/heartbeat-runs/{}/log", id(&run));
        let piece = api.get(&format!("{path}?offset=5&limitBytes=10")).ok(200);
        assert_eq!(
            piece,
            json!({
                "runId": run["id"], "content": "5678901234", "offset": 5, "nextOffset": 15,
                "totalBytes": 100, "complete": false,
            })
        );
        assert_eq!(api.get(&path).ok(200)["nextOffset"], 100);
        for query in [
            "limitBytes=0",
            "limitBytes=99999999",
            "offset=-1",
            "offset=x",
        ] {
            api.get(&format!("{path}?{query}"))
                .problem(400, "invalid_request");
        }
        api.get(&format!("/api/heartbeat-runs/{NOTHING}/log"))
            .problem(404, "not_found");
    }

    fn an_issue_shows_its_runs(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let body = json!({ "title": "Step", "status": "todo", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &body);
        let path = format!("/api/issues/{}", id(&issue));
        let runs = api.get(&format!("{path}/runs")).ok(200);
        assert_eq!(runs[0]["reason"], "issue_assigned");
        assert_eq!(api.get(&format!("{path}/live-runs")).ok(200), runs);
        assert_eq!(api.get(&format!("{path}/active-run")).ok(200), runs[0]);
        let idle = api.issue(&company, &json!({ "title": "Idle" }));
        api.get(&format!("/api/issues/{}/active-run", id(&idle)))
            .problem(404, "not_found");
    }

    fn a_log_of_another_server_is_not_passed_off_as_whole(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&ada));
        let ended = |bytes: i64| {
            let run = api.post(&invoke, &json!({})).ok(202);
            wrote(api, id(&run), bytes, "the end");
            let path = format!("/api/heartbeat-runs/{}", id(&run));
            api.post(&format!("{path}/cancel"), &json!({})).ok(200);
            format!("{path}/log")
        };
        let whole = api.get(&ended(100)).ok(200);
        assert_eq!(
            (&whole["complete"], whole.get("note")),
            (&json!(true), None)
        );

        let log = ended(200);
        // A log over its cap is shorter than what was written, and whole all the same.
        let capped = api.get(&log).ok(200);
        assert_eq!(
            (&capped["complete"], &capped["nextOffset"]),
            (&json!(true), &json!(100))
        );
        api.logs.resize(0);
        let elsewhere = api.get(&log).ok(200);
        assert_eq!(
            (&elsewhere["complete"], &elsewhere["content"]),
            (&json!(false), &json!("the end"))
        );
        let note = elsewhere["note"].as_str().unwrap();
        assert!(note.contains("another server"), "{note}");
        let later = api.get(&format!("{log}?offset=7")).ok(200);
        assert_eq!(later["content"], "");
    }
}

/// Has a run that waits say that its output was this long and ended so.
fn wrote(api: &Api, run: &str, bytes: i64, tail: &str) {
    let id = run.parse().unwrap();
    let saved: Result<(), Failure<Infallible>> = api.store.write(|tx| {
        let mut run = tx.runs_mut().lock(Scope::SYSTEM, id)?.unwrap();
        run.log_bytes = bytes;
        run.log_tail = Some(tail.to_owned());
        Ok(tx.runs_mut().save(&run)?)
    });
    saved.unwrap();
}
