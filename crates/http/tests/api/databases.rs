//! The same life of a company on either database.

use serde_json::json;

use crate::support::{api_tests, id};

api_tests! {
    fn a_company_lives(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let at = |part: &str| format!("/api/companies/{}/{part}", id(&company));
        let key = api.key(&ada);
        let own = api.bearing(&key);
        let issue = api.issue(&company, &json!({ "title": "Step", "status": "todo" }));
        let path = format!("/api/issues/{}", id(&issue));
        own.post(&format!("{path}/checkout"), &json!({})).ok(200);
        let keyed = [("Idempotency-Key", "k")];
        let comment = json!({ "body": "on it" });
        let comments = format!("{path}/comments");
        let first = own.send_with("POST", &comments, &keyed, &comment).ok(201);
        assert_eq!(
            own.send_with("POST", &comments, &keyed, &comment).ok(201),
            first
        );
        assert_eq!(api.get(&comments).ok(200), json!([first]));
        let cost = json!({ "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 0.3 });
        own.post(&at("cost-events"), &cost).ok(201);
        let summary = api.get(&at("costs/summary"));
        assert!(
            summary.text.contains("\"spendCents\":0.3,"),
            "{}",
            summary.text
        );
        own.patch(&path, &json!({ "status": "done" })).ok(200);
        assert_eq!(
            api.get(&at("issues?status=done")).ok(200)[0]["id"],
            issue["id"]
        );
        let activity = api.get(&at("activity?limit=1")).ok(200);
        assert_eq!(activity[0]["action"], "issue.updated");
        api.get("/api/health/ready").ok(200);
    }
}
