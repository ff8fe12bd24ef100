use serde_json::{Value, json};

use crate::support::{Api, NOTHING, api_tests, id};

fn project(api: &Api, company: &Value, body: &Value) -> String {
    let at = format!("/api/companies/{}/projects", id(company));
    id(&api.post(&at, body).ok(201)).to_owned()
}

fn put(api: &Api, path: &str, body: &Value) -> crate::support::Answer {
    api.send("PUT", path, &[], body.to_string().as_bytes())
}

api_tests! {
    fn conventions_are_read_written_and_summed_up(api) {
        let company = api.company("Acme");
        let project = project(api, &company, &json!({ "name": "Site" }));
        let path = format!("/api/projects/{project}/conventions");
        assert_eq!(api.get(&path).ok(200), json!({
            "projectId": project, "backstory": "", "conventionsMd": "", "compactContext": null,
            "compactSource": null, "compactStale": false, "extraReferences": [],
            "updatedAt": null,
        }));

        let whole = json!({
            "backstory": "A shop. It sells tea.", "conventionsMd": "# Rules\n\n- Never push.\n",
            "extraReferences": ["docs/a.md", { "url": "https://x.example" }],
        });
        let written = put(api, &path, &whole).ok(200);
        assert_eq!(written["extraReferences"], whole["extraReferences"]);
        assert!(written["updatedAt"].is_string());

        let short = api.post(&format!("{path}/compact"), &json!({})).ok(200);
        assert_eq!(
            (&short["compactContext"], &short["compactSource"], &short["compactStale"]),
            (
                &json!("A shop. It sells tea.\n\n# Rules\n\n- Never push."),
                &json!("generated"),
                &json!(false),
            )
        );
        let changed = api.patch(&path, &json!({ "backstory": "A bar." })).ok(200);
        assert_eq!(
            (&changed["compactStale"], &changed["conventionsMd"]),
            (&json!(true), &whole["conventionsMd"])
        );
        let by_hand = api.patch(&path, &json!({ "compactContext": "Be kind." })).ok(200);
        assert_eq!(
            (&by_hand["compactContext"], &by_hand["compactSource"], &by_hand["compactStale"]),
            (&json!("Be kind."), &json!("manual"), &json!(false))
        );
        // What is left out is emptied, and the short form goes with it.
        let replaced = put(api, &path, &json!({ "conventionsMd": "- x" })).ok(200);
        assert_eq!(
            (&replaced["backstory"], &replaced["compactContext"], &replaced["extraReferences"]),
            (&json!(""), &Value::Null, &json!([]))
        );
        assert_eq!(api.get(&path).ok(200), replaced);
    }

    fn further_sources_are_any_json(api) {
        let company = api.company("Acme");
        let project = project(api, &company, &json!({ "name": "Site" }));
        let path = format!("/api/projects/{project}/conventions");
        for sources in [
            json!({ "style": "docs/style.md", "deep": { "a": [1.5, null] } }),
            json!("docs/a.md"),
            json!(7),
            json!(false),
            json!({}),
            json!([[["a"]], null]),
        ] {
            let body = json!({ "extraReferences": sources });
            for answer in [put(api, &path, &body), api.patch(&path, &body), api.get(&path)] {
                assert_eq!(answer.ok(200)["extraReferences"], sources);
            }
            // Nothing else is what an omission leaves alone.
            let kept = api.patch(&path, &json!({ "backstory": "B" })).ok(200);
            assert_eq!(kept["extraReferences"], sources);
        }
        let none = json!({ "extraReferences": null });
        for answer in [put(api, &path, &none), api.patch(&path, &none), put(api, &path, &json!({}))] {
            assert_eq!(answer.ok(200)["extraReferences"], json!([]));
        }
    }

    fn a_short_form_keeps_to_its_bound(api) {
        let company = api.company("Acme");
        let project = project(api, &company, &json!({ "name": "Site" }));
        let path = format!("/api/projects/{project}/conventions");
        let rules: String = (0..4000).map(|n| format!("- Never use thing {n}.\n")).collect();
        api.patch(&path, &json!({ "conventionsMd": rules })).ok(200);
        for (query, bound) in [("", 2000), ("?maxChars=400", 400), ("?maxChars=8000", 8000)] {
            let short = api.send("POST", &format!("{path}/compact{query}"), &[], b"").ok(200);
            let length = short["compactContext"].as_str().unwrap().chars().count();
            assert!(length <= bound && length > bound / 2, "{length} of {bound}");
        }
        for query in ["399", "8001", "-1", "x", "1e3", "400&maxChars=500"] {
            api.send("POST", &format!("{path}/compact?maxChars={query}"), &[], b"")
                .problem(400, "invalid_request");
        }
    }

    fn what_cannot_be_kept_is_refused(api) {
        let company = api.company("Acme");
        let project = project(api, &company, &json!({ "name": "Site" }));
        let path = format!("/api/projects/{project}/conventions");
        for body in [
            json!({ "backstory": 5 }),
            json!({ "conventionsMd": "x".repeat(200 * 1024 + 1) }),
            json!({ "backstory": "a\u{0}" }),
        ] {
            api.patch(&path, &body).problem(400, "invalid_json");
            put(api, &path, &body).problem(400, "invalid_json");
        }
        api.patch(&path, &json!({ "compactContext": [] })).problem(400, "invalid_json");
        let many = json!({ "extraReferences": { "a": "x".repeat(64 * 1024) } });
        api.patch(&path, &many).problem(422, "invalid_field");
        put(api, &path, &many).problem(422, "invalid_field");
        assert_eq!(api.get(&path).ok(200)["updatedAt"], Value::Null);
        for nowhere in [NOTHING, "x"] {
            let path = format!("/api/projects/{nowhere}/conventions");
            api.get(&path).problem(404, "not_found");
            put(api, &path, &json!({})).problem(404, "not_found");
            api.patch(&path, &json!({})).problem(404, "not_found");
            api.post(&format!("{path}/compact"), &json!({})).problem(404, "not_found");
        }
    }

    fn agents_read_and_their_lead_writes(api) {
        let company = api.company("Acme");
        let (lead, worker) = (api.agent(&company, "Lead"), api.agent(&company, "Worker"));
        let body = json!({ "name": "Site", "leadAgentId": id(&lead) });
        let project = project(api, &company, &body);
        let path = format!("/api/projects/{project}/conventions");
        let key = api.key(&lead);
        api.bearing(&key).patch(&path, &json!({ "backstory": "Once." })).ok(200);
        let key = api.key(&worker);
        let worker = api.bearing(&key);
        assert_eq!(worker.get(&path).ok(200)["backstory"], "Once.");
        worker.patch(&path, &json!({ "backstory": "No." })).problem(403, "forbidden");
        worker.send("PUT", &path, &json!({})).problem(403, "forbidden");
        worker.post(&format!("{path}/compact"), &json!({})).problem(403, "forbidden");
        // Nobody takes the lead for itself.
        let at = format!("/api/projects/{project}");
        let me = json!({ "leadAgentId": worker.get("/api/agents/me").ok(200)["id"] });
        worker.patch(&at, &me).problem(403, "forbidden");
        let other = api.company("Other");
        let key = api.key(&api.agent(&other, "Spy"));
        api.bearing(&key).get(&path).problem(404, "not_found");
    }
}
