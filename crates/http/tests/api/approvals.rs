//! Asking the board, and the board's answers.

use serde_json::{Value, json};

use crate::support::{Answer, Api, NOTHING, api_tests, id};

/// The approvals of a company.
pub(crate) fn of(company: &Value) -> String {
    format!("/api/companies/{}/approvals", id(company))
}

/// An action on an approval.
pub(crate) fn act(approval: &Value, action: &str) -> String {
    format!("/api/approvals/{}/{action}", id(approval))
}

/// The approval as it is now.
pub(crate) fn now(api: &Api, approval: &Value) -> Value {
    api.get(&format!("/api/approvals/{}", id(approval))).ok(200)
}

/// What happened to an approval.
pub(crate) fn history(approval: &Value) -> Vec<&str> {
    let events = approval["events"].as_array().unwrap();
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

/// A question of an agent to the board.
pub(crate) fn question(api: &Api, company: &Value, asker: &Value) -> Value {
    let body = json!({
        "type": "agent_question",
        "requestedByAgentId": id(asker),
        "payload": { "question": "May I?" },
    });
    api.post(&of(company), &body).ok(201)
}

/// The place and kind of the fault of a body.
#[track_caller]
pub(crate) fn faulty(answer: &Answer, code: &str, pointer: &str) {
    let problem = answer.problem(422, code);
    assert_eq!(problem["details"][0]["pointer"], pointer, "{problem}");
}

/// A question that stands in a status.
fn standing(api: &Api, company: &Value, asker: &Value, status: &str) -> Value {
    let approval = question(api, company, asker);
    let action = match status {
        "approved" => "approve",
        "rejected" => "reject",
        "cancelled" => "cancel",
        "revision_requested" => "request-revision",
        _ => return approval,
    };
    api.post(&act(&approval, action), &json!({})).ok(200)
}

api_tests! {
    fn an_approval_is_asked_for_and_granted(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let key = api.key(&ada);
        let issue = api.issue(&company, &json!({ "title": "Ship" }));
        let other = api.issue(&company, &json!({ "title": "Tell" }));
        let body = json!({
            "type": "request_board_approval",
            "payload": { "issueId": issue["identifier"], "why": "now", "apiKey": "sesame" },
            "issueIds": [id(&other), id(&issue)],
        });
        let asked = api.bearing(&key).post(&of(&company), &body).ok(201);
        assert_eq!(asked["status"], "pending");
        assert_eq!(asked["type"], "request_board_approval");
        assert_eq!(asked["requestedByAgentId"], ada["id"]);
        assert_eq!(asked["linkedIssueIds"], json!([issue["id"], other["id"]]));
        assert_eq!(asked["payload"]["why"], "now");
        assert!(!asked.to_string().contains("sesame"));
        assert_eq!(asked["execution"], Value::Null);
        assert_eq!(asked["resubmitCount"], 0);
        assert_eq!(history(&asked), ["created"]);
        assert_eq!(asked["events"][0]["actorId"], ada["id"]);
        assert_eq!(asked, now(api, &asked));
        assert_eq!(asked, api.bearing(&key).get(&format!("/api/approvals/{}", id(&asked))).ok(200));

        let linked = api.get(&act(&asked, "issues")).ok(200);
        assert_eq!(linked[0]["id"], issue["id"]);
        assert_eq!(linked[1]["title"], "Tell");
        let of_issue = api.get(&format!("/api/issues/{}/approvals", id(&other))).ok(200);
        assert_eq!(of_issue, json!([asked]));

        let before = api.signals.count();
        let note = json!({ "decisionNote": "go on", "decidedByUserId": NOTHING });
        let granted = api.post(&act(&asked, "approve"), &note).ok(200);
        assert_eq!(granted["status"], "approved");
        assert_eq!(granted["decisionNote"], "go on");
        assert_eq!(granted["decidedBy"], "local-board");
        assert_eq!(granted["decidedByUserId"], Value::Null);
        assert!(granted["decidedAt"].is_string());
        assert_eq!(granted["warnings"], json!([]));
        assert_eq!(history(&granted), ["created", "approved"]);
        assert_eq!(granted["events"][1]["note"], "go on");
        assert!(api.signals.count() > before, "the engine was not told");
        let activity = format!("/api/companies/{}/activity?entityId={}", id(&company), id(&asked));
        let activity = api.get(&activity).ok(200);
        assert_eq!(activity[0]["action"], "approval.approved");
        assert_eq!(activity[0]["actorType"], "board");
    }

    fn every_event_in_every_status(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let statuses = ["pending", "approved", "rejected", "cancelled", "revision_requested"];
        let actions = ["approve", "reject", "request-revision", "resubmit", "cancel"];
        let mut table = String::new();
        for status in statuses {
            for action in actions {
                let approval = standing(api, &company, &ada, status);
                assert_eq!(approval["status"], status);
                let answer = api.post(&act(&approval, action), &json!({}));
                let outcome = match answer.status {
                    200 => answer.ok(200)["status"].as_str().unwrap().to_owned(),
                    _ => {
                        let problem = answer.json();
                        assert_eq!(answer.status, 422, "{problem}");
                        assert_eq!(problem["details"]["approvalId"], approval["id"]);
                        assert_eq!(problem["details"]["status"], status);
                        let after = now(api, &approval);
                        let left = (after["events"].clone(), after["status"].clone());
                        assert_eq!(left, (approval["events"].clone(), approval["status"].clone()));
                        format!("{}!", problem["code"].as_str().unwrap())
                    }
                };
                table.push_str(&format!("{status} {action}: {outcome}\n"));
            }
        }
        assert_eq!(
            table,
            "pending approve: approved\n\
             pending reject: rejected\n\
             pending request-revision: revision_requested\n\
             pending resubmit: invalid_transition!\n\
             pending cancel: cancelled\n\
             approved approve: approval_not_pending!\n\
             approved reject: approval_not_pending!\n\
             approved request-revision: approval_not_pending!\n\
             approved resubmit: approval_not_pending!\n\
             approved cancel: approval_not_pending!\n\
             rejected approve: approval_not_pending!\n\
             rejected reject: approval_not_pending!\n\
             rejected request-revision: approval_not_pending!\n\
             rejected resubmit: approval_not_pending!\n\
             rejected cancel: approval_not_pending!\n\
             cancelled approve: approval_not_pending!\n\
             cancelled reject: approval_not_pending!\n\
             cancelled request-revision: approval_not_pending!\n\
             cancelled resubmit: approval_not_pending!\n\
             cancelled cancel: approval_not_pending!\n\
             revision_requested approve: approved\n\
             revision_requested reject: rejected\n\
             revision_requested request-revision: approval_not_pending!\n\
             revision_requested resubmit: pending\n\
             revision_requested cancel: cancelled\n"
        );
    }

    fn a_revision_is_sent_again_with_another_payload_or_the_same(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let key = api.key(&ada);
        let asked = question(api, &company, &ada);
        let silent = api.post(&act(&asked, "request-revision"), &json!({ "decisionNote": " " }));
        let silent = silent.ok(200);
        assert_eq!(silent["warnings"].as_array().unwrap().len(), 1);
        assert_eq!(silent["decisionNote"], Value::Null);
        let again = api.bearing(&key).post(&act(&asked, "resubmit"), &json!({})).ok(200);
        assert_eq!((&again["status"], &again["resubmitCount"]), (&json!("pending"), &json!(1)));
        assert_eq!(again["payload"], asked["payload"]);
        assert_eq!(again["decidedAt"], Value::Null);
        api.post(&act(&asked, "request-revision"), &json!({ "decisionNote": "why?" })).ok(200);
        faulty(
            &api.bearing(&key).post(&act(&asked, "resubmit"), &json!({ "payload": {} })),
            "invalid_field",
            "/payload/question",
        );
        let changed = json!({ "payload": { "question": "May I, since it burns?", "more": 1 } });
        let again = api.bearing(&key).post(&act(&asked, "resubmit"), &changed).ok(200);
        assert_eq!(again["payload"], changed["payload"]);
        assert_eq!(again["resubmitCount"], 2);
        assert_eq!(
            history(&again),
            ["created", "revision_requested", "resubmitted", "revision_requested", "resubmitted"]
        );
        assert_eq!(again["events"][3]["note"], "why?");
    }

    fn a_list_is_filtered_and_walked_newest_first(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let first = question(api, &company, &ada);
        let strategy = json!({ "type": "approve_ceo_strategy", "payload": { "plan": "grow" } });
        let second = api.post(&of(&company), &strategy).ok(201);
        let third = standing(api, &company, &ada, "revision_requested");
        let fourth = standing(api, &company, &ada, "revision_requested");
        api.post(&act(&fourth, "resubmit"), &json!({})).ok(200);
        api.post(&act(&first, "approve"), &json!({})).ok(200);
        let listed = |query: &str| {
            let rows = api.get(&format!("{}{query}", of(&company))).ok(200);
            let rows = rows.as_array().unwrap().clone();
            rows.into_iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
        };
        let ids = [&fourth, &third, &second, &first].map(|it| it["id"].clone());
        assert_eq!(listed(""), ids);
        assert_eq!(listed("?status=pending"), [ids[0].clone(), ids[2].clone()]);
        assert_eq!(listed("?status=resubmitted"), [ids[0].clone()]);
        let some = "?status=approved,%20revision_requested,resubmitted";
        assert_eq!(listed(some), [ids[0].clone(), ids[1].clone(), ids[3].clone()]);
        assert_eq!(listed("?type=approve_ceo_strategy"), [ids[2].clone()]);
        let both = "?type=agent_question,approve_ceo_strategy&status=resubmitted,approved";
        assert_eq!(listed(both), [ids[0].clone(), ids[3].clone()]);
        assert!(listed("?type=hire_agent").is_empty());
        for query in ["?status=open", "?type=x", "?limit=0"] {
            api.get(&format!("{}{query}", of(&company))).problem(400, "invalid_request");
        }
        let page = api.get(&format!("{}?limit=3", of(&company)));
        assert_eq!(page.ok(200).as_array().unwrap().len(), 3);
        let cursor = page.header("x-next-cursor").unwrap().to_owned();
        assert_eq!(listed(&format!("?limit=3&cursor={cursor}")), [ids[3].clone()]);
    }

    fn who_asks_and_who_decides_come_from_the_credential(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let (ada_key, bob_key) = (api.key(&ada), api.key(&bob));
        let forged = json!({
            "type": "agent_question",
            "requestedByAgentId": id(&bob),
            "payload": { "question": "?" },
        });
        api.bearing(&ada_key).post(&of(&company), &forged).problem(403, "forbidden");
        let own = json!({
            "type": "agent_question",
            "requestedByAgentId": id(&ada),
            "requestedByUserId": NOTHING,
            "payload": { "question": "?" },
        });
        let asked = api.bearing(&ada_key).post(&of(&company), &own).ok(201);
        assert_eq!(asked["requestedByUserId"], Value::Null);
        for action in ["approve", "reject", "request-revision"] {
            let answer = api.bearing(&ada_key).post(&act(&asked, action), &json!({}));
            answer.problem(403, "board_required");
        }
        for action in ["resubmit", "cancel"] {
            let answer = api.bearing(&bob_key).post(&act(&asked, action), &json!({}));
            answer.problem(403, "forbidden");
        }
        let withdrawn = api.bearing(&ada_key).post(&act(&asked, "cancel"), &json!({})).ok(200);
        assert_eq!(withdrawn["status"], "cancelled");
        assert_eq!(history(&withdrawn), ["created", "cancelled"]);
        let unknown = json!({
            "type": "agent_question",
            "requestedByAgentId": NOTHING,
            "payload": { "question": "?" },
        });
        faulty(&api.post(&of(&company), &unknown), "reference_not_found", "/requestedByAgentId");
    }

    fn what_belongs_to_another_company_does_not_exist(api) {
        let (acme, evil) = (api.company("Acme"), api.company("Evil"));
        let (ada, eve) = (api.agent(&acme, "Ada"), api.agent(&evil, "Eve"));
        let asked = question(api, &acme, &ada);
        let issue = api.issue(&acme, &json!({ "title": "Secret" }));
        let key = api.key(&eve);
        let eve_acts = api.bearing(&key);
        eve_acts.get(&of(&acme)).problem(403, "company_forbidden");
        eve_acts.post(&of(&acme), &json!({ "type": "agent_question" })).problem(403, "company_forbidden");
        let hires = format!("/api/companies/{}/agent-hires", id(&acme));
        eve_acts.post(&hires, &json!({ "name": "Mole" })).problem(403, "company_forbidden");
        for path in ["", "/issues", "/comments"] {
            let path = format!("/api/approvals/{}{path}", id(&asked));
            eve_acts.get(&path).problem(404, "not_found");
        }
        for action in ["resubmit", "cancel"] {
            eve_acts.post(&act(&asked, action), &json!({})).problem(404, "not_found");
        }
        let comment = json!({ "body": "hm" });
        eve_acts.post(&act(&asked, "comments"), &comment).problem(404, "not_found");
        eve_acts.get(&format!("/api/issues/{}/approvals", id(&issue))).problem(404, "not_found");
        for name in [id(&issue), issue["identifier"].as_str().unwrap(), NOTHING, "x"] {
            let body = json!({ "type": "approve_issue_plan", "payload": { "issueId": name } });
            faulty(
                &eve_acts.post(&of(&evil), &body),
                "reference_not_found",
                "/payload/issueId",
            );
            let body = json!({
                "type": "request_board_approval",
                "payload": {},
                "issueIds": [name],
            });
            faulty(&eve_acts.post(&of(&evil), &body), "reference_not_found", "/issueIds/0");
        }
        let body = json!({
            "type": "agent_question",
            "requestedByAgentId": id(&ada),
            "payload": { "question": "?" },
        });
        faulty(&api.post(&of(&evil), &body), "reference_not_found", "/requestedByAgentId");
        for missing in ["x", NOTHING] {
            api.get(&format!("/api/approvals/{missing}")).problem(404, "not_found");
            api.post(&format!("/api/approvals/{missing}/approve"), &json!({})).problem(404, "not_found");
        }
    }

    fn comments_are_read_oldest_first_and_mentions_wake(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob Byte"));
        let asked = question(api, &company, &ada);
        let path = act(&asked, "comments");
        let runs = |agent: &Value| {
            let path = format!("/api/companies/{}/heartbeat-runs?agentId={}", id(&company), id(agent));
            api.get(&path).ok(200).as_array().unwrap().clone()
        };
        let before = runs(&ada).len();
        let first = api.post(&path, &json!({ "body": "@Bob Byte what do you think?" })).ok(201);
        assert_eq!(first["mentions"], json!([bob["id"]]));
        assert_eq!(first["approvalId"], asked["id"]);
        assert_eq!(runs(&bob).len(), 1);
        assert_eq!(runs(&bob)[0]["reason"], "issue_comment_mentioned");
        assert_eq!(runs(&ada).len(), before + 1, "the asker hears of what people write");
        let key = api.key(&ada);
        let second = api.bearing(&key).post(&path, &json!({ "body": "@Ada myself" })).ok(201);
        assert_eq!((&second["mentions"], &second["authorAgentId"]), (&json!([]), &ada["id"]));
        assert_eq!(runs(&ada).len(), before + 1, "nobody wakes itself");
        assert_eq!(api.get(&path).ok(200), json!([first, second]));
        assert_eq!(api.get(&format!("{path}?order=desc")).ok(200), json!([second, first]));
        let page = api.get(&format!("{path}?limit=1"));
        let cursor = page.header("x-next-cursor").unwrap().to_owned();
        let rest = api.get(&format!("{path}?limit=1&cursor={cursor}")).ok(200);
        assert_eq!(rest, json!([second]));
        api.post(&path, &json!({ "body": " " })).problem(400, "invalid_json");
        api.post(&path, &json!({})).problem(400, "invalid_json");
        api.get(&format!("{path}?order=up")).problem(400, "invalid_request");
    }

    fn malformed_requests_are_told_where(api) {
        let company = api.company("Acme");
        let path = of(&company);
        for body in [
            json!({}),
            json!({ "type": "approve_everything" }),
            json!({ "type": "agent_question", "payload": "x" }),
            json!({ "type": "agent_question", "payload": { "question": "?" }, "issueIds": "x" }),
            json!({ "type": "agent_question", "requestedByAgentId": "ada" }),
        ] {
            api.post(&path, &body).problem(400, "invalid_json");
        }
        let large = json!({ "question": "?", "more": "x".repeat(64 * 1024) });
        let large = json!({ "type": "agent_question", "payload": large });
        faulty(&api.post(&path, &large), "invalid_field", "/payload");
        let many: Vec<_> = (0..101).map(|_| NOTHING).collect();
        let many = json!({ "type": "request_board_approval", "issueIds": many });
        faulty(&api.post(&path, &many), "invalid_field", "/issueIds");
        let asked = json!({ "type": "request_board_approval" });
        let asked = api.post(&path, &asked).ok(201);
        let long = json!({ "decisionNote": "x".repeat(16 * 1024 + 1) });
        api.post(&act(&asked, "reject"), &long).problem(400, "invalid_json");
        api.post(&act(&asked, "approve"), &json!({ "force": "yes" })).problem(400, "invalid_json");
        for body in ["[]", "null"] {
            api.send("POST", &act(&asked, "cancel"), &[], body.as_bytes()).problem(400, "invalid_json");
        }
        let key = [("Idempotency-Key", "once")];
        let first = api.send("POST", &act(&asked, "approve"), &key, b"");
        let again = api.send("POST", &act(&asked, "approve"), &key, b"");
        assert_eq!(first.ok(200), again.ok(200));
        api.post(&act(&asked, "approve"), &json!({})).problem(422, "approval_not_pending");
    }
}
