//! What a request says that nobody reads is told, or refused (docs/access.md#unknown-fields).

use serde_json::{Value, json};

use crate::support::{api_tests, id};

const STRICT: (&str, &str) = ("Prefer", "handling=strict");

api_tests! {
    fn what_nobody_reads_is_told(api) {
        let company = api.company("Acme");
        let issues = format!("/api/companies/{}/issues", id(&company));
        let body = json!({ "title": "Step", "assignee": "Eva", "colour": "red" });
        let made = api.post(&issues, &body);
        made.ok(201);
        let warning = made.header("x-workforce-warning").unwrap();
        assert!(warning.contains("/assignee (did you mean assignee"), "{warning}");
        assert!(warning.contains("/colour"), "{warning}");
        let listed = api.get(&format!("{issues}?priorty=high&limit=5"));
        listed.ok(200);
        let warning = listed.header("x-workforce-warning").unwrap();
        assert_eq!(warning, "ignored: ?priorty (did you mean priority?)");
        // Everything here is known.
        for known in [
            api.post(&issues, &json!({ "title": "Step", "idempotencyKey": "k" })),
            api.get(&format!("{issues}?status=todo&limit=5&strict=false")),
            api.get(&issues),
            // Its body is read in two parts.
            api.post(
                &format!("/api/companies/{}/agent-hires", id(&company)),
                &json!({ "name": "Ada", "role": "engineer", "sourceIssueIds": [] }),
            ),
        ] {
            assert_eq!(known.header("x-workforce-warning"), None);
        }
    }

    fn whoever_wants_that_is_refused_what_nobody_reads(api) {
        let company = api.company("Acme");
        let issues = format!("/api/companies/{}/issues", id(&company));
        let body = json!({ "title": "Step", "assignee": "Eva" });
        for refused in [
            api.send("POST", &issues, &[STRICT], body.to_string().as_bytes()),
            api.post(&format!("{issues}?strict=true"), &body),
        ] {
            let problem = refused.problem(422, "unknown_field");
            let fault = &problem["details"][0];
            assert_eq!(fault["pointer"], "/assignee");
            assert!(fault["didYouMean"].as_str().unwrap().starts_with("assignee"), "{fault}");
        }
        let query = format!("{issues}?prority=high");
        let problem = api.send("GET", &query, &[STRICT], b"").problem(422, "unknown_field");
        assert_eq!(problem["details"][0]["pointer"], "?prority");
        api.send("GET", &issues, &[STRICT], b"").ok(200);
        assert_eq!(api.get(&issues).json(), json!([]));
    }

    fn what_is_like_a_limit_or_a_status_is_never_dropped(api) {
        let company = api.company("Acme");
        let path = |what: &str| format!("/api/companies/{}/{what}", id(&company));
        let named = |extra: &str, value: Value| {
            let mut body = json!({ "name": "Ada", "role": "engineer" });
            body[extra] = value;
            body
        };
        for (misspelt, meant) in [
            ("budgetMonthlyCent", "budgetMonthlyCents"),
            ("budget", "budgetMonthlyCents"),
            ("budget_monthly_cents", "budgetMonthlyCents"),
        ] {
            let refused = api.post(&path("agents"), &named(misspelt, json!(500)));
            let problem = refused.problem(422, "unknown_field");
            let fault = &problem["details"][0];
            assert_eq!(fault["pointer"], format!("/{misspelt}"));
            assert_eq!(fault["didYouMean"], meant);
        }
        assert_eq!(api.get(&path("agents")).json(), json!([]));
        let refused = api.get(&path("issues?statuss=done"));
        let problem = refused.problem(422, "unknown_field");
        assert_eq!(problem["details"][0]["didYouMean"], "status");
        let issue = api.issue(&company, &json!({ "title": "Step" }));
        let moved = api.patch(&format!("/api/issues/{}", id(&issue)), &json!({ "staus": "done" }));
        moved.problem(422, "unknown_field");
    }

    fn what_is_hostile_is_told_briefly(api) {
        let company = api.company("Acme");
        let issues = format!("/api/companies/{}/issues", id(&company));
        let mut body = serde_json::Map::new();
        body.insert("title".into(), json!("Step"));
        for number in 0..5000 {
            body.insert(format!("x\r\n{number}{}", "é".repeat(50)), json!(1));
        }
        let made = api.post(&issues, &Value::Object(body));
        made.ok(201);
        let warning = made.header("x-workforce-warning").unwrap();
        assert!(warning.len() < 8000 && warning.is_ascii(), "{}", warning.len());
    }
}
