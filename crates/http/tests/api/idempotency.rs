use serde_json::{Value, json};

use crate::support::{Answer, Api, api_tests, id};

fn keyed(api: &Api, path: &str, key: &str, body: &Value) -> Answer {
    api.send(
        "POST",
        path,
        &[("Idempotency-Key", key)],
        body.to_string().as_bytes(),
    )
}

api_tests! {
    fn a_repeated_request_is_carried_out_once(api) {
        let first = keyed(api, "/api/companies", "k1", &json!({ "name": "Acme" }));
        assert_eq!(first.header("idempotency-replayed"), None);
        let second = keyed(api, "/api/companies", "k1", &json!({ "name": "Acme" }));
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(first.ok(201), second.ok(201));
        assert_eq!(
            api.get("/api/companies").ok(200).as_array().unwrap().len(),
            1
        );
        let other = keyed(api, "/api/companies", "k1", &json!({ "name": "Other" }));
        other.problem(422, "idempotency_key_reused");
        keyed(api, "/api/companies", "k2", &json!({ "name": "Acme" })).ok(201);
    }

    fn whoever_has_an_answer_may_repeat_the_request_at_once(api) {
        let path = format!("/api/companies/{}/goals", id(&api.company("Acme")));
        for number in 0..150 {
            let key = number.to_string();
            let first = keyed(api, &path, &key, &json!({ "title": key })).ok(201);
            assert_eq!(keyed(api, &path, &key, &json!({ "title": key })).ok(201), first);
        }
    }

    fn a_refused_request_keeps_nothing(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/issues", id(&company));
        let body = json!({ "title": "x", "status": "in_progress" });
        keyed(api, &path, "k", &body).problem(422, "assignee_required");
        keyed(api, &path, "k", &json!({ "title": "x" })).ok(201);
    }

    fn keys_belong_to_their_caller_and_have_a_form(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/goals", id(&company));
        let body = json!({ "title": "x" });
        let key = api.key(&api.agent(&company, "Ada"));
        let boards = keyed(api, &path, "k", &body).ok(201);
        let headers = [("Idempotency-Key", "k")];
        let agents = api
            .bearing(&key)
            .send_with("POST", &path, &headers, &body)
            .ok(201);
        assert_ne!(boards["id"], agents["id"]);
        for odd in ["", &"k".repeat(201)] {
            keyed(api, &path, odd, &body).problem(400, "invalid_request");
        }
    }

    fn a_repeated_credential_is_the_same_and_lies_sealed(api) {
        let path = format!(
            "/api/agents/{}/keys",
            id(&api.agent(&api.company("Acme"), "Ada"))
        );
        let first = keyed(api, &path, "k", &json!({})).ok(201);
        let second = keyed(api, &path, "k", &json!({}));
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(second.ok(201), first);
        assert!(!api.store.holds(first["key"].as_str().unwrap()));
        assert!(api.store.holds(first["prefix"].as_str().unwrap()));
    }

    fn many_repetitions_at_once_make_one_record(api) {
        let body = json!({ "name": "Acme" });
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| keyed(api, "/api/companies", "k", &body).status))
                .collect();
            let statuses: Vec<u16> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            assert!(statuses.contains(&201), "{statuses:?}");
            assert!(
                statuses.iter().all(|status| [201, 409].contains(status)),
                "{statuses:?}"
            );
        });
        assert_eq!(
            api.get("/api/companies").ok(200).as_array().unwrap().len(),
            1
        );
    }
}
