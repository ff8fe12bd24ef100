use serde_json::{Value, json};

use crate::support::{NOTHING, api_tests, id};

api_tests! {
    fn an_issue_shows_where_it_belongs(api) {
        let company = api.company("Acme");
        let at = |part: &str| format!("/api/companies/{}/{part}", id(&company));
        let goal = api
            .post(
                &at("goals"),
                &json!({ "title": "Grow", "level": "company" }),
            )
            .ok(201);
        let project = json!({ "name": "Site", "goalIds": [id(&goal)] });
        let project = api.post(&at("projects"), &project).ok(201);
        let parent = api.issue(
            &company,
            &json!({ "title": "Epic", "projectId": id(&project), "goalId": id(&goal) }),
        );
        let child = api.issue(
            &company,
            &json!({ "title": "Step", "parentId": id(&parent) }),
        );
        assert_eq!(child["identifier"], "ACM-2");
        assert_eq!(
            (&child["status"], &child["priority"]),
            (&json!("backlog"), &json!("medium"))
        );
        assert_eq!(
            (&child["started_at"], &child["completedAt"]),
            (&Value::Null, &Value::Null)
        );

        let detail = api.get("/api/issues/acm-2").ok(200);
        assert_eq!(detail["id"], child["id"]);
        assert_eq!(
            (&detail["project"], &detail["goal"]),
            (&Value::Null, &Value::Null)
        );
        let ancestor = &detail["ancestors"][0];
        assert_eq!(ancestor["id"], parent["id"]);
        assert_eq!(
            ancestor["project"]["goals"],
            json!([{ "id": goal["id"], "title": "Grow" }])
        );
        assert_eq!(ancestor["goal"]["title"], "Grow");
        assert_eq!(ancestor["goal"]["level"], "company");
    }

    fn a_checkout_is_won_once_and_tells_why_it_is_lost(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let issue = api.issue(&company, &json!({ "title": "Step", "status": "todo" }));
        let path = format!("/api/issues/{}/checkout", id(&issue));
        let take = |agent: &Value| json!({ "agentId": id(agent), "expectedStatuses": ["todo"] });
        let key = api.key(&ada);
        let won = api.bearing(&key).post(&path, &take(&ada)).ok(200);
        assert_eq!(
            (&won["status"], &won["assigneeAgentId"]),
            (&json!("in_progress"), &ada["id"])
        );
        assert_eq!(won["lease"]["agentId"], ada["id"]);
        assert!(won["started_at"].is_string() && won["started_at"] == won["startedAt"]);
        api.bearing(&key).post(&path, &take(&ada)).ok(200);

        let lost = api.bearing(&api.key(&bob)).post(&path, &take(&bob));
        let lost = lost.problem(409, "checkout_conflict");
        assert_eq!(lost["retryable"], false);
        assert_eq!(lost["details"]["reason"], "other_assignee");
        assert_eq!(lost["details"]["holderAgentId"], ada["id"]);
        api.bearing(&key)
            .post(&path, &take(&bob))
            .problem(403, "forbidden");

        let release = format!("/api/issues/{}/release", id(&issue));
        api.bearing(&api.key(&bob))
            .post(&release, &json!({}))
            .problem(409, "not_holder");
        let free = api
            .bearing(&key)
            .send("POST", &release, &Value::Null)
            .ok(200);
        assert_eq!(
            (&free["status"], &free["assigneeAgentId"]),
            (&json!("todo"), &Value::Null)
        );
        assert_eq!(free["lease"], Value::Null);
    }

    fn ten_agents_at_once_make_one_owner(api) {
        let company = api.company("Acme");
        let issue = api.issue(&company, &json!({ "title": "Step", "status": "todo" }));
        let path = format!("/api/issues/{}/checkout", id(&issue));
        let agents: Vec<_> = (0..10)
            .map(|n| api.agent(&company, &format!("Agent {n}")))
            .collect();
        let keys: Vec<_> = agents.iter().map(|agent| api.key(agent)).collect();
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let threads: Vec<_> = keys
                .iter()
                .map(|key| scope.spawn(|| api.bearing(key).post(&path, &json!({})).status))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(
            statuses.iter().filter(|status| **status == 200).count(),
            1,
            "{statuses:?}"
        );
        assert_eq!(
            statuses.iter().filter(|status| **status == 409).count(),
            9,
            "{statuses:?}"
        );
    }

    fn an_issue_is_changed_and_commented_in_one_call(api) {
        let company = api.company("Acme");
        let issue = api.issue(&company, &json!({ "title": "Step", "status": "todo" }));
        let path = format!("/api/issues/{}", id(&issue));
        let change = json!({ "status": "done", "priority": "high", "comment": "finished" });
        let done = api.patch(&path, &change).ok(200);
        assert_eq!(
            (&done["status"], &done["priority"]),
            (&json!("done"), &json!("high"))
        );
        assert!(done["completed_at"].is_string() && done["completed_at"] == done["completedAt"]);
        assert_eq!(done["comment"]["body"], "finished");

        let illegal = json!({ "status": "blocked", "comment": "lost" });
        let problem = api
            .patch(&path, &illegal)
            .problem(422, "invalid_transition");
        assert_eq!(problem["details"]["from"], "done");
        assert_eq!(problem["details"]["allowed"], json!(["backlog", "todo"]));
        let comments = api.get(&format!("{path}/comments")).ok(200);
        assert_eq!(comments.as_array().unwrap().len(), 1);
        api.patch(&path, &json!({ "status": "nope" }))
            .problem(400, "invalid_json");
        api.patch(&path, &json!({ "companyId": NOTHING }))
            .problem(422, "field_not_writable");
        let hidden = api
            .patch(&path, &json!({ "hiddenAt": "2026-01-01T00:00:00Z" }))
            .ok(200);
        assert!(hidden["hiddenAt"].is_string());
        assert_eq!(
            api.patch(&path, &json!({ "hiddenAt": null })).ok(200)["hiddenAt"],
            Value::Null
        );
    }

    fn comments_mention_reopen_and_have_an_order(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada Lovelace");
        let issue = api.issue(&company, &json!({ "title": "Step", "status": "done" }));
        let path = format!("/api/issues/{}/comments", id(&issue));
        let before = api.signals.count();
        let first = api
            .post(&path, &json!({ "body": "ask @Ada Lovelace please" }))
            .ok(201);
        assert_eq!(first["mentions"], json!([ada["id"]]));
        assert!(api.signals.count() > before, "the engine was not told");
        let second = api
            .post(&path, &json!({ "body": "again", "reopen": true }))
            .ok(201);
        assert_eq!(
            api.get(&format!("/api/issues/{}", id(&issue))).ok(200)["status"],
            "todo"
        );
        assert_eq!(api.get(&path).ok(200), json!([second, first]));
        assert_eq!(
            api.get(&format!("{path}?order=asc")).ok(200),
            json!([first, second])
        );
        api.post(&path, &json!({ "body": " " }))
            .problem(400, "invalid_json");
        api.post(&path, &json!({})).problem(400, "invalid_json");
        let activity = api
            .get(&format!("/api/issues/{}/activity", id(&issue)))
            .ok(200);
        assert_eq!(activity[0]["action"], "issue.comment_added");
    }

    fn filters_narrow_and_urgency_orders(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let low = api.issue(
            &company,
            &json!({ "title": "low", "priority": "low", "status": "todo" }),
        );
        let body = json!({ "title": "high", "priority": "high", "assigneeAgentId": id(&ada) });
        let high = api.issue(&company, &body);
        let key = api.key(&ada);
        let list = |query: &str| {
            let path = format!("/api/companies/{}/issues{query}", id(&company));
            let rows = api.bearing(&key).get(&path).ok(200);
            rows.as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect::<Vec<_>>()
        };
        let (low, high) = (low["id"].clone(), high["id"].clone());
        assert_eq!(list(""), [high.clone(), low.clone()]);
        assert_eq!(list("?status=todo,%20blocked"), std::slice::from_ref(&low));
        assert_eq!(list("?assigneeAgentId=me"), std::slice::from_ref(&high));
        assert_eq!(list("?assigneeAgentId=null"), [low]);
        assert_eq!(list(&format!("?assigneeAgentId={}", id(&ada))), [high]);
        assert!(list("?assigneeUserId=me").is_empty());
    }

    fn an_agent_hands_an_issue_back_to_the_board(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let agent = api.bearing(&api.key(&ada));
        let issues = format!("/api/companies/{}/issues", id(&company));
        let listed = |query: &str| api.get(&format!("{issues}?{query}")).ok(200);
        let work = json!({ "title": "Work", "status": "todo", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &work);
        let path = format!("/api/issues/{}", id(&issue));

        let made = api.post("/api/board-tokens", &json!({ "name": "CI" })).ok(201);
        let (token, other) = (id(&made), "local-board");
        for member in [token, other, "start-token"] {
            let body = json!({ "assigneeUserId": member, "status": "in_review" });
            let mine = json!({ "assigneeAgentId": id(&ada), "status": "todo" });
            agent
                .post(&format!("{path}/checkout"), &json!({ "agentId": id(&ada) }))
                .ok(200);
            let given = agent.patch(&path, &body).ok(200);
            assert_eq!(
                (&given["assigneeUserId"], &given["assigneeAgentId"], &given["status"]),
                (&json!(member), &Value::Null, &json!("in_review"))
            );
            let found = listed(&format!("assigneeUserId={member}"));
            assert_eq!(found[0]["id"], issue["id"], "{found}");
            assert_eq!(listed("assigneeAgentId=null"), json!([]));
            // Whoever is asked to look at it is not set to work on it.
            agent.post(&format!("{path}/checkout"), &json!({ "agentId": id(&ada) }))
                .problem(409, "checkout_conflict");
            api.patch(&path, &mine).ok(200);
            assert_eq!(listed(&format!("assigneeUserId={member}")), json!([]));
        }
        // Neither of the two is both, and taking one away leaves the other.
        let both = json!({ "assigneeUserId": other, "assigneeAgentId": id(&ada) });
        api.patch(&path, &both).problem(422, "invalid_field");
        api.post(&issues, &json!({ "title": "T", "assigneeUserId": other, "assigneeAgentId": id(&ada) }))
            .problem(422, "invalid_field");
        let kept = api.patch(&path, &json!({ "assigneeUserId": null })).ok(200);
        assert_eq!(kept["assigneeAgentId"], ada["id"]);
        api.patch(&path, &json!({ "assigneeUserId": other })).ok(200);
        let kept = api.patch(&path, &json!({ "assigneeAgentId": null })).ok(200);
        assert_eq!(kept["assigneeUserId"], other);
        assert_eq!(listed("assigneeUserId=me")[0]["id"], issue["id"]);
        let freed = api.patch(&path, &json!({ "assigneeUserId": null })).ok(200);
        assert_eq!(freed["assigneeUserId"], Value::Null);

        let begun = json!({ "title": "T", "status": "in_progress", "assigneeUserId": other });
        assert_eq!(api.post(&issues, &begun).ok(201)["assigneeUserId"], other);
        let revoke = format!("/api/board-tokens/{token}");
        api.send("DELETE", &revoke, &[], b"").ok(200);
        api.patch(&path, &json!({ "assigneeUserId": token })).problem(422, "reference_not_found");
        api.get(&format!("{issues}?assigneeUserId=x")).problem(400, "invalid_request");
    }

    fn nothing_is_assigned_to_a_person_that_does_not_exist(api) {
        let company = api.company("Acme");
        let nobody = json!({ "title": "Step", "assigneeUserId": null });
        let issue = api.issue(&company, &nobody);
        let path = format!("/api/issues/{}", id(&issue));
        assert_eq!(
            api.patch(&path, &nobody).ok(200)["assigneeUserId"],
            Value::Null
        );
        let issues = format!("/api/companies/{}/issues", id(&company));
        for person in [NOTHING, "somebody", "token:x", ""] {
            let body = json!({ "title": "Other", "assigneeUserId": person });
            for answer in [api.post(&issues, &body), api.patch(&path, &body)] {
                let problem = answer.problem(422, "reference_not_found");
                assert_eq!(problem["details"][0]["pointer"], "/assigneeUserId");
            }
        }
        assert_eq!(api.get(&path).ok(200)["title"], "Step");
    }
}
