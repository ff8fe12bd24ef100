use serde_json::json;

use crate::support::{api_tests, id};

api_tests! {
    fn the_server_tells_that_it_is_well(api) {
        assert_eq!(api.get("/api/health").ok(200)["status"], "ok");
        assert_eq!(api.get("/api/health/ready").ok(200)["status"], "ready");
        let metrics = api.get("/metrics");
        assert_eq!(metrics.status, 200);
        assert!(
            metrics
                .text
                .contains("workforce_http_requests_total{class=\"2xx\"} 2")
        );
    }

    fn unknown_paths_and_methods_are_problems(api) {
        for path in ["/", "/api", "/api/nothing", "/api/companies/", "/x/y/z"] {
            api.get(path).problem(404, "route_not_found");
        }
        let answer = api.send("DELETE", "/api/companies", &[], b"");
        answer.problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, POST, HEAD"));
        api.send("POST", "/api/openapi.json", &[], b"")
            .problem(405, "method_not_allowed");
        let head = api.send("HEAD", "/api/companies", &[], b"");
        assert_eq!((head.status, head.text.as_str()), (200, ""));
    }

    fn literal_parts_of_a_path_win_and_escapes_are_read(api) {
        let company = api.company("Shop");
        let id = id(&company);
        let escaped = id.replace('-', "%2D");
        assert_eq!(api.get(&format!("/api/companies/{escaped}")).ok(200)["id"], id);
        api.get(&format!("/api/companies%2F{id}")).problem(404, "route_not_found");
        api.get(&format!("/api/companies/{id}%2Fissues")).problem(404, "not_found");
        api.get("/api/companies//issues").problem(404, "route_not_found");
        // Not the agent whose short name is `me`.
        api.get("/api/agents/me").problem(401, "agent_required");
        api.get("/api/agents/you").problem(404, "not_found");
    }

    fn every_answer_carries_the_request_id(api) {
        let sent = |id: &str| {
            let answer = api.send("GET", "/api/health", &[("X-Request-Id", id)], b"");
            answer.header("x-request-id").unwrap().to_owned()
        };
        assert_eq!(sent("my-request.1"), "my-request.1");
        for odd in ["with space", &"x".repeat(200), "<script>"] {
            assert_ne!(sent(odd), odd);
        }
        let answer = api.get("/nothing");
        assert!(answer.header("x-workforce-version").is_some());
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }

    fn pages_of_other_sites_get_nothing_done(api) {
        let rebound = api.send("GET", "/api/companies", &[("Host", "evil.example")], b"");
        rebound.problem(403, "origin_forbidden");
        api.send("GET", "/api/companies", &[("Host", "board.example")], b"")
            .ok(200);
        let body = br#"{"name":"x"}"#;
        for origin in ["https://evil.example", "null", "http://localhost:1"] {
            let answer = api.send("POST", "/api/companies", &[("Origin", origin)], body);
            answer.problem(403, "origin_forbidden");
        }
        api.send(
            "GET",
            "/api/companies",
            &[("Origin", "https://evil.example")],
            b"",
        )
        .ok(200);
        api.send(
            "POST",
            "/api/companies",
            &[("Origin", "https://board.example")],
            body,
        )
        .ok(201);
    }

    fn bodies_need_no_content_type_and_have_a_limit(api) {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/json",
        ] {
            let body = br#"{"name":"x","unknown":{"a":[1]}}"#;
            api.send("POST", "/api/companies", &[("Content-Type", kind)], body)
                .ok(201);
        }
        let large = json!({ "name": "x", "description": "y".repeat(3 * 1024 * 1024) });
        api.post("/api/companies", &large)
            .problem(413, "body_too_large");
        let fitting = json!({ "name": "x", "description": "y".repeat(200 * 1024) });
        api.post("/api/companies", &fitting).ok(201);
    }

    fn what_is_not_json_is_told_so(api) {
        let deep = format!(r#"{{"name":{}"#, "[".repeat(200_000));
        let bodies = [
            &b"{"[..],
            b"[1]",
            b"null",
            b"\xff",
            br#"{"name":"\u0000"}"#,
            br#"{"name":"x","other":"\u0000"}"#,
            br#"{"name":"x","other":[{"z":1,"\u0024serde_json::private::RawValue":"1"}]}"#,
            deep.as_bytes(),
        ];
        for body in bodies {
            let answer = api.send("POST", "/api/companies", &[], body);
            answer.problem(400, "invalid_json");
            assert!(answer.text.len() < 2000);
        }
        assert_eq!(api.get("/api/companies").ok(200), json!([]));
    }

    fn what_nests_as_deep_as_may_be_is_read_again_wherever_it_is_told(api) {
        let nested = |levels: usize| (0..levels).fold(json!(1), |within, _level| json!({ "a": within }));
        let company = api.company("Acme");
        let agent = format!("/api/agents/{}", id(&api.agent(&company, "Ada")));
        let company = id(&company);
        let wants = json!({ "requireBoardApprovalForNewAgents": true });
        api.patch(&format!("/api/companies/{company}"), &wants).ok(200);
        let draft = json!({ "name": "Bob", "role": "engineer", "metadata": nested(98) });
        for levels in [99, 98] {
            api.patch(&agent, &json!({ "metadata": nested(levels) })).ok(200);
            api.patch(&agent, &json!({ "adapterConfig": nested(levels) })).ok(200);
        }
        api.patch(&agent, &json!({ "metadata": nested(100) }))
            .problem(400, "invalid_json");
        let hire = format!("/api/companies/{company}/agent-hires");
        api.post(&hire, &draft).ok(201);
        for list in ["activity", "agents", "approvals"] {
            let rows = api.get(&format!("/api/companies/{company}/{list}")).ok(200);
            assert!(!rows.as_array().unwrap().is_empty(), "{list}");
        }
        let revisions = api.get(&format!("{agent}/config-revisions")).ok(200);
        assert_eq!(revisions[0]["afterConfig"]["adapterConfig"], nested(98));
    }

    fn large_answers_are_compressed_for_those_who_ask(api) {
        let company = api.company("Acme");
        let goals = format!("/api/companies/{}/goals", id(&company));
        let gzip = [("Accept-Encoding", "gzip")];
        let small = api.send("GET", "/api/companies", &gzip, b"");
        assert_eq!(small.header("content-encoding"), None);
        let goal = json!({ "title": "x", "description": "y".repeat(100_000) });
        api.post(&goals, &goal).ok(201);
        assert_eq!(api.get(&goals).header("content-encoding"), None);
        let length = api.travelled_length(&goals, &gzip);
        assert!(length < 10_000, "{length}");
    }

    fn who_takes_no_encoding_is_answered_without_one(api) {
        for impossible in ["identity;q=0", "*;q=0", "br, identity;q=0", "br, *;q=0"] {
            let headers = [("Accept-Encoding", impossible)];
            let answer = api.send("GET", "/api/companies", &headers, b"");
            assert_eq!(answer.header("content-encoding"), None, "{impossible}");
            answer.ok(200);
            api.send("GET", "/api/nothing", &headers, b"").problem(404, "route_not_found");
        }
    }
}
