use serde_json::{Value, json};

use crate::support::{NOTHING, api_tests, closed, id};

api_tests! {
    fn a_presented_credential_never_falls_back_to_the_board(api) {
        for authorization in [
            "Bearer",
            "Bearer ",
            "Bearer x",
            "Bearer wfk_a_b",
            "Basic eDp5",
            "x",
            "",
        ] {
            let answer = api.send(
                "GET",
                "/api/companies",
                &[("Authorization", authorization)],
                b"",
            );
            answer.problem(401, "credential_invalid");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }

    fn of_two_credentials_none_counts(api) {
        let (ada, eve) = (api.agent(&api.company("Acme"), "Ada"), api.agent(&api.company("Other"), "Eve"));
        let keys = [api.key(&ada), api.key(&eve)].map(|key| format!("Bearer {key}"));
        let both = [("Authorization", keys[0].as_str()), ("Authorization", keys[1].as_str())];
        api.send("GET", "/api/agents/me", &both, b"").problem(401, "credential_invalid");
        api.send("GET", "/api/agents/me", &both[..1], b"").ok(200);
    }

    fn a_run_header_alone_is_no_credential(api) {
        for name in ["X-Service-Run-Id", "X-Paperclip-Run-Id"] {
            let answer = api.send("GET", "/api/companies", &[(name, NOTHING)], b"");
            answer.problem(401, "credential_missing");
        }
    }

    fn an_empty_run_header_is_present_all_the_same(api) {
        let key = api.key(&api.agent(&api.company("Acme"), "Ada"));
        for name in ["X-Service-Run-Id", "X-Paperclip-Run-Id"] {
            for run in ["", "  "] {
                let headers = [(name, run)];
                api.send("GET", "/api/companies", &headers, b"")
                    .problem(401, "credential_missing");
                api.bearing(&key)
                    .send_with("GET", "/api/agents/me", &headers, &Value::Null)
                    .problem(400, "invalid_run_id");
            }
        }
    }

    fn nobody_is_the_board_where_credentials_are_needed(api = closed) {
        api.get("/api/companies").problem(401, "credential_missing");
        assert_eq!(api.get("/api/health").ok(200)["deploymentMode"], "token");
    }

    fn an_unknown_run_is_ignored_with_a_warning_and_a_malformed_one_refused(api) {
        let key = api.key(&api.agent(&api.company("Acme"), "Ada"));
        let ask = |run: &str| {
            let headers = [("X-Service-Run-Id", run)];
            api.bearing(&key)
                .send_with("GET", "/api/agents/me", &headers, &Value::Null)
        };
        let answer = ask(NOTHING);
        answer.ok(200);
        assert!(answer.header("x-workforce-warning").is_some());
        ask("not-an-id").problem(400, "invalid_run_id");
    }

    fn who_asks_is_settled_before_what_is_asked(api) {
        let key = api.key(&api.agent(&api.company("Acme"), "Ada"));
        let broken = [("Authorization", "Bearer x")];
        api.send("POST", "/api/companies", &broken, b"{")
            .problem(401, "credential_invalid");
        api.send("GET", "/api/goals/x", &broken, b"")
            .problem(401, "credential_invalid");
        let agent = format!("Bearer {key}");
        let agent = [("Authorization", agent.as_str())];
        api.send("POST", "/api/companies", &agent, b"{")
            .problem(403, "board_required");
    }

    fn other_companies_are_out_of_reach(api) {
        let (acme, evil) = (api.company("Acme"), api.company("Evil"));
        let key = api.key(&api.agent(&evil, "Eve"));
        let eve = api.bearing(&key);
        let goal = json!({ "title": "Grow" });
        let goal = api
            .post(&format!("/api/companies/{}/goals", id(&acme)), &goal)
            .ok(201);
        let issue = api.issue(&acme, &json!({ "title": "Secret" }));

        assert_eq!(eve.get("/api/companies").ok(200)[0]["id"], evil["id"]);
        for part in [
            "",
            "/agents",
            "/goals",
            "/projects",
            "/issues",
            "/activity",
            "/costs/summary",
        ] {
            let path = format!("/api/companies/{}{part}", id(&acme));
            eve.get(&path).problem(403, "company_forbidden");
        }
        for path in [
            format!("/api/goals/{}", id(&goal)),
            format!("/api/issues/{}", id(&issue)),
            format!("/api/issues/{}", issue["identifier"].as_str().unwrap()),
            format!("/api/issues/{}/comments", id(&issue)),
        ] {
            let foreign = eve.get(&path).problem(404, "not_found");
            assert!(!foreign.to_string().contains("Secret"));
        }
        let linked = json!({ "title": "x", "goalId": id(&goal) });
        let own = format!("/api/companies/{}/issues", id(&evil));
        let foreign = eve.post(&own, &linked).problem(422, "reference_not_found");
        let missing = json!({ "title": "x", "goalId": NOTHING });
        let missing = eve.post(&own, &missing).problem(422, "reference_not_found");
        assert_eq!(foreign["details"], missing["details"]);
    }
}
