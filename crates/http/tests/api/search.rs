use serde_json::{Value, json};

use crate::support::{Api, NOTHING, api_tests, id};

/// Text as it stands in a query string.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn titles(list: &Value) -> Vec<&str> {
    let rows = list.as_array().unwrap();
    rows.iter()
        .map(|row| row["title"].as_str().unwrap())
        .collect()
}

/// The titles that a query string lists.
fn listed(api: &Api, company: &Value, query: &str) -> Vec<String> {
    let list = api
        .get(&format!("/api/companies/{}/issues?{query}", id(company)))
        .ok(200);
    titles(&list).into_iter().map(str::to_owned).collect()
}

fn found(api: &Api, company: &Value, typed: &str) -> Vec<String> {
    listed(api, company, &format!("q={}", encoded(typed)))
}

api_tests! {
    fn issues_are_found_by_their_words(api) {
        let (company, other) = (api.company("Acme"), api.company("Bolt"));
        let low = json!({ "title": "Fix the Café login", "priority": "low" });
        let low = api.issue(&company, &low);
        api.issue(&company, &json!({ "title": "Other", "description": "login is broken" }));
        let said = api.issue(&company, &json!({ "title": "Printer" }));
        let comments = format!("/api/issues/{}/comments", id(&said));
        api.post(&comments, &json!({ "body": "no LOGIN either; 로그인을 고쳐" })).ok(201);
        api.issue(&company, &json!({ "title": "Urgent login", "priority": "critical" }));
        api.issue(&other, &json!({ "title": "login" }));

        let all = ["Urgent login", "Fix the Café login", "Other", "Printer"];
        assert_eq!(found(api, &company, "login"), all);
        assert_eq!(found(api, &company, " cafe LOG "), ["Fix the Café login"]);
        assert_eq!(found(api, &company, "printer login"), ["Printer"]);
        assert_eq!(found(api, &company, "로그인"), ["Printer"]);
        assert_eq!(found(api, &company, "login OR other"), [""; 0]);
        assert_eq!(found(api, &company, "acm-1")[0], "Fix the Café login");
        assert_eq!(found(api, &other, "login"), ["login"]);
        assert_eq!(listed(api, &company, "q="), listed(api, &company, ""));

        let path = format!("/api/issues/{}", id(&low));
        api.patch(&path, &json!({ "title": "Sign-in", "status": "todo" })).ok(200);
        assert_eq!(found(api, &company, "cafe"), [""; 0]);
        assert_eq!(found(api, &company, "sign"), ["Sign-in"]);
        api.patch(&path, &json!({ "status": "blocked" })).ok(200);
        assert_eq!(found(api, &company, "signin sign-in"), [""; 0]);
        assert_eq!(found(api, &company, "sign-in"), ["Sign-in"]);
        api.patch(&path, &json!({ "hiddenAt": "2026-01-01T00:00:00Z" })).ok(200);
        assert_eq!(found(api, &company, "sign"), [""; 0]);
        api.send("DELETE", &format!("/api/issues/{}", id(&said)), &[], b"").ok(200);
        assert_eq!(found(api, &company, "로그인"), [""; 0]);
    }

    fn a_search_goes_with_every_filter_and_in_pages(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let labels = format!("/api/companies/{}/labels", id(&company));
        let bug = api.post(&labels, &json!({ "name": "bug", "color": "#ff0000" })).ok(201);
        let idea = api.post(&labels, &json!({ "name": "idea", "color": "#00ff00" })).ok(201);
        let goal = format!("/api/companies/{}/goals", id(&company));
        let goal = api.post(&goal, &json!({ "title": "Grow" })).ok(201);
        let parent = api.issue(&company, &json!({ "title": "walnut epic" }));
        api.issue(&company, &json!({
            "title": "walnut 1", "priority": "high", "status": "todo", "goalId": id(&goal),
            "assigneeAgentId": id(&ada), "labelIds": [id(&bug)],
        }));
        api.issue(&company, &json!({
            "title": "walnut 2", "priority": "low", "parentId": parent["identifier"],
            "labelIds": [id(&bug), id(&idea)],
        }));
        api.issue(&company, &json!({ "title": "pecan", "labelIds": [id(&idea)] }));
        let (bug, idea) = (id(&bug), id(&idea));
        for (query, expected) in [
            ("status=todo,%20blocked&q=walnut".to_owned(), vec!["walnut 1"]),
            ("priority=low,high&q=walnut".into(), vec!["walnut 1", "walnut 2"]),
            (format!("assigneeAgentId={}&q=walnut", id(&ada)), vec!["walnut 1"]),
            ("assigneeAgentId=null&q=walnut".into(), vec!["walnut epic", "walnut 2"]),
            (format!("goalId={}&q=walnut", id(&goal)), vec!["walnut 1"]),
            (format!("parentId={}&q=walnut", id(&parent)), vec!["walnut 2"]),
            ("parentId=acm-1".into(), vec!["walnut 2"]),
            (format!("parentId={NOTHING}"), vec![]),
            (format!("labelId={bug}&q=walnut"), vec!["walnut 1", "walnut 2"]),
            (format!("labelId={bug}"), vec!["walnut 1", "walnut 2"]),
            (format!("labelId={bug},%20{idea},"), vec!["walnut 1", "pecan", "walnut 2"]),
            (format!("labelId={idea}&priority=low"), vec!["walnut 2"]),
            (format!("labelId={NOTHING}"), vec![]),
        ] {
            assert_eq!(listed(api, &company, &query), expected, "{query}");
        }
        for query in ["q=walnut", &format!("labelId={bug},{idea}")] {
            let whole = listed(api, &company, query);
            let mut path = format!("/api/companies/{}/issues?{query}&limit=1", id(&company));
            let mut walked = Vec::new();
            loop {
                let answer = api.get(&path);
                let rows = answer.ok(200);
                walked.extend(titles(&rows).into_iter().map(str::to_owned));
                let Some(link) = answer.header("link") else { break };
                let (next, _) = link.trim_start_matches('<').split_once('>').unwrap();
                path = next.to_owned();
            }
            assert_eq!(walked, whole, "{query}");
        }
        let path = format!("/api/companies/{}/issues", id(&company));
        let cursor = api.get(&format!("{path}?q=walnut&limit=1"));
        let cursor = cursor.header("x-next-cursor").unwrap();
        api.get(&format!("{path}?cursor={cursor}")).problem(400, "invalid_cursor");
        let cursor = api.get(&format!("{path}?limit=1"));
        let cursor = cursor.header("x-next-cursor").unwrap();
        api.get(&format!("{path}?q=walnut&cursor={cursor}")).problem(400, "invalid_cursor");
    }

    fn whatever_is_typed_is_text(api) {
        let company = api.company("Acme");
        api.issue(&company, &json!({ "title": "plain", "description": "a \"b\" c:d (e) f*g" }));
        for typed in [
            "\"", "'", "\\", "*", "(", ")", "AND", "OR NOT", "NEAR(a, 2)", "title:plain", "^a",
            "a:*", "!a | b & c", "{title}:x", "--", ";", "%", "_", "🚀", "👨‍👩‍👧", "\u{301}\u{301}",
            "\u{202e}abc", "\u{1}\u{7f}", "\u{feff}", "界", "ﷺ", "<script>",
        ] {
            found(api, &company, typed);
        }
        let long = "x".repeat(500);
        found(api, &company, &long);
        found(api, &company, &"a b ".repeat(125));
        found(api, &company, &"界".repeat(500));
        let path = format!("/api/companies/{}/issues", id(&company));
        for (query, pointer) in [
            (format!("q={}", "x".repeat(501)), "?q"),
            (format!("q={}", "x".repeat(5_000)), "?q"),
            ("q=a&q=b".into(), "?q"),
            ("q=a%00b".into(), "?q"),
            ("labelId=x".into(), "?labelId"),
            (format!("labelId={}", vec![NOTHING.replace('8', "7"); 3].join(",").replace(',', ";")), "?labelId"),
            ("parentId=x".into(), "?parentId"),
            ("status=nope".into(), "?status"),
            ("priority=nope".into(), "?priority"),
        ] {
            let problem = api.get(&format!("{path}?{query}")).problem(400, "invalid_request");
            assert_eq!(problem["details"][0]["pointer"], pointer, "{query}");
        }
    }

    fn an_issue_tells_which_projects_it_mentions(api) {
        let (company, other) = (api.company("Acme"), api.company("Bolt"));
        let project = |company: &Value, name: &str| {
            let path = format!("/api/companies/{}/projects", id(company));
            api.post(&path, &json!({ "name": name })).ok(201)
        };
        let (site, shop) = (project(&company, "Site"), project(&company, "Shop"));
        let foreign = project(&other, "Foreign");
        let link = |project: &Value| format!("[x](project://{})", id(project));
        let issue = api.issue(&company, &json!({
            "title": format!("See {}", link(&shop)),
            "description": format!("{} {} {}", link(&site), link(&shop), link(&foreign)),
            "projectId": id(&site),
        }));
        let path = format!("/api/issues/{}", id(&issue));
        let detail = api.get(&path).ok(200);
        assert_eq!(detail["mentionedProjects"], json!([shop, site]));
        assert_eq!(detail["project"], site);
        assert_eq!(detail["activeWorkflowSessionId"], Value::Null);
        api.patch(&path, &json!({ "title": "x", "description": null })).ok(200);
        assert_eq!(api.get(&path).ok(200)["mentionedProjects"], json!([]));
    }

    fn an_agent_does_not_make_the_same_child_twice(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let (ada_key, bob_key) = (api.key(&ada), api.key(&bob));
        let parent = api.issue(&company, &json!({ "title": "Epic", "billingCode": "B-1" }));
        let path = format!("/api/companies/{}/issues", id(&company));
        let body = json!({ "title": "Step one", "parentId": id(&parent) });
        let first = api.bearing(&ada_key).post(&path, &body).ok(201);
        assert_eq!(first["deduplicated"], Value::Null);
        assert_eq!(first["billingCode"], "B-1");
        let again = json!({ "title": "STEP  one", "parentId": parent["identifier"], "priority": "low" });
        let again = api.bearing(&ada_key).post(&path, &again).ok(200);
        assert_eq!((&again["id"], &again["deduplicated"]), (&first["id"], &json!(true)));
        assert_eq!(again["priority"], "medium");
        // Another agent, another parent, no parent, the board: all of them mean it.
        api.bearing(&bob_key).post(&path, &body).ok(201);
        api.bearing(&ada_key).post(&path, &json!({ "title": "Step one" })).ok(201);
        api.bearing(&ada_key).post(&path, &json!({ "title": "Step one" })).ok(201);
        api.post(&path, &body).ok(201);
        api.post(&path, &body).ok(201);
        // What has ended may be asked for again.
        api.patch(&format!("/api/issues/{}", id(&first)), &json!({ "status": "done" })).ok(200);
        let second = api.bearing(&ada_key).post(&path, &body).ok(201);
        assert_ne!(second["id"], first["id"]);

        let reviewed = |title: &str, key: &str, agent: &Value| json!({
            "title": title, "parentId": id(&parent),
            "delegation": { "kind": "review", "key": key, "targetPath": title },
            "assigneeAgentId": id(agent),
        });
        let one = api.bearing(&ada_key).post(&path, &reviewed("a", "src", &ada)).ok(201);
        let same = api.bearing(&ada_key).post(&path, &reviewed("b", "src", &ada)).ok(200);
        assert_eq!(same["id"], one["id"]);
        api.bearing(&ada_key).post(&path, &reviewed("a", "docs", &ada)).ok(201);
        api.bearing(&bob_key).post(&path, &reviewed("a", "src", &bob)).ok(201);
    }

    fn an_idempotency_key_names_a_child(api) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let parent = api.issue(&company, &json!({ "title": "Epic" }));
        let path = format!("/api/companies/{}/issues", id(&company));
        let send = |name: &str, title: &str| {
            let body = json!({ "title": title, "parentId": id(&parent) });
            api.bearing(&key).send_with("POST", &path, &[("Idempotency-Key", name)], &body)
        };
        let first = send("one", "Step").ok(201);
        assert_eq!(send("one", "Step").ok(201), first);
        // The answers are forgotten after a day; the child is not.
        let forget = "DELETE FROM idempotency_keys";
        api.store.execute(forget);
        let again = send("one", "Step, said otherwise").ok(200);
        assert_eq!((&again["id"], &again["deduplicated"]), (&first["id"], &json!(true)));
        assert_ne!(send("two", "Step").ok(201)["id"], first["id"]);
    }

    fn of_many_that_ask_at_once_one_makes_the_child(api) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let parent = api.issue(&company, &json!({ "title": "Epic" }));
        let path = format!("/api/companies/{}/issues", id(&company));
        let body = json!({ "title": "Step", "parentId": id(&parent) });
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let ask = || api.bearing(&key).post(&path, &body).status;
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(
            statuses.iter().filter(|status| **status == 201).count(),
            1,
            "{statuses:?}"
        );
        assert_eq!(
            statuses.iter().filter(|status| **status == 200).count(),
            5,
            "{statuses:?}"
        );
    }
}
