use serde_json::{Value, json};

use crate::approvals::{self, act, now};
use crate::support::{Api, NOTHING, api_tests, id};

fn configured(api: &Api) -> Value {
    let company = api.company("Acme");
    let path = format!("/api/companies/{}/agents", id(&company));
    let body = json!({
        "name": "Ada",
        "adapterConfig": {
            "command": "true",
            "env": { "GITHUB_TOKEN": "t.o.ken", "HOST": "api.example.com" },
        },
    });
    api.post(&path, &body).ok(201)
}

api_tests! {
    fn a_configuration_has_a_history_and_a_way_back(api) {
        let ada = configured(api);
        let path = format!("/api/agents/{}", id(&ada));
        let revisions = format!("{path}/config-revisions");
        let change = json!({ "adapterConfig": { "command": "false", "env": { "GITHUB_TOKEN": "new" } } });
        api.patch(&path, &change).ok(200);
        let listed = api.get(&revisions).ok(200);
        let listed = listed.as_array().unwrap();
        assert_eq!(listed.len(), 2);
        let (second, first) = (&listed[0], &listed[1]);
        assert_eq!((&second["revision"], &first["revision"]), (&json!(2), &json!(1)));
        assert_eq!((&second["source"], &first["source"]), (&json!("patch"), &json!("create")));
        assert_eq!(second["changedKeys"], json!(["adapterConfig"]));
        assert_eq!(first["beforeConfig"], Value::Null);
        assert_eq!(second["beforeConfig"], first["afterConfig"]);
        assert_eq!(
            first["afterConfig"]["adapterConfig"]["env"],
            json!({ "GITHUB_TOKEN": "***REDACTED***", "HOST": "api.example.com" })
        );
        let text = api.get(&revisions).text;
        assert!(!text.contains("t.o.ken") && !text.contains("\"new\""));
        let one = format!("{revisions}/{}", id(first));
        assert_eq!(&api.get(&one).ok(200), first);

        let back = api.post(&format!("{one}/rollback"), &json!({}));
        assert_eq!(back.header("etag"), Some("\"3\""));
        let back = back.ok(200);
        assert_eq!(back["adapterConfig"]["command"], "true");
        assert_eq!(back["configRevision"], 3);
        assert_eq!(back["revision"]["source"], "rollback");
        assert_eq!(back["revision"]["rolledBackFromRevisionId"], first["id"]);
        let paged = api.get(&format!("{revisions}?limit=2"));
        assert!(paged.header("x-next-cursor").is_some());
        assert_eq!(paged.ok(200).as_array().unwrap().len(), 2);
    }

    fn a_rollback_is_refused_by_name(api) {
        let ada = configured(api);
        let path = format!("/api/agents/{}/config-revisions", id(&ada));
        let first = api.get(&path).ok(200)[0].clone();
        let back = format!("{path}/{}/rollback", id(&first));
        let bea = api.agent(&json!({ "id": ada["companyId"] }), "Bea");
        for nothing in [
            format!("{path}/{NOTHING}/rollback"),
            format!("{path}/x/rollback"),
            format!("/api/agents/{}/config-revisions/{}/rollback", id(&bea), id(&first)),
            format!("/api/agents/{NOTHING}/config-revisions/{}/rollback", id(&first)),
        ] {
            api.post(&nothing, &json!({})).problem(404, "not_found");
        }
        let (own, peer) = (api.key(&ada), api.key(&bea));
        api.bearing(&own).post(&back, &json!({})).problem(403, "board_required");
        api.bearing(&own).get(&path).ok(200);
        api.bearing(&peer).get(&path).problem(403, "forbidden");
        let stranger = api.agent(&api.company("Other"), "Stranger");
        let stranger = api.key(&stranger);
        api.bearing(&stranger).get(&path).problem(404, "not_found");
        api.send("POST", &back, &[], b"[]").problem(400, "invalid_json");
        api.get(&format!("{path}?cursor=x")).problem(400, "invalid_cursor");

        let managed = format!("/api/agents/{}", id(&ada));
        api.patch(&managed, &json!({ "reportsTo": id(&bea) })).ok(200);
        let under = api.get(&path).ok(200)[0].clone();
        api.post(&format!("/api/agents/{}/terminate", id(&bea)), &json!({})).ok(200);
        let problem = api
            .post(&format!("{path}/{}/rollback", id(&under)), &json!({}))
            .problem(422, "rollback_invalid");
        assert_eq!(problem["details"][0]["pointer"], "/reportsTo");
    }

    fn a_change_names_what_it_has_seen(api) {
        let ada = configured(api);
        let path = format!("/api/agents/{}", id(&ada));
        let send = |tag: &str, title: &str| {
            let body = json!({ "title": title }).to_string();
            api.send("PATCH", &path, &[("If-Match", tag)], body.as_bytes())
        };
        let tag = api.get(&path).header("etag").unwrap().to_owned();
        assert_eq!(tag, "\"1\"");
        let answer = send(&tag, "One");
        assert_eq!(answer.header("etag"), Some("\"2\""));
        answer.ok(200);
        let problem = send(&tag, "Two").problem(412, "revision_conflict");
        assert_eq!(problem["details"]["revision"], 2);
        send("\"other\"", "Two").problem(412, "revision_conflict");
        send("W/\"2\"", "Two").ok(200);
        send("*", "Three").ok(200);
        send("x", "Four").problem(400, "invalid_request");
        let first = api.get(&format!("{path}/config-revisions")).ok(200)[3].clone();
        let back = format!("{path}/config-revisions/{}/rollback", id(&first));
        api.send("POST", &back, &[("If-Match", "\"1\"")], b"")
            .problem(412, "revision_conflict");
        api.send("POST", &back, &[("If-Match", "\"4\"")], b"").ok(200);
    }

    fn the_board_agrees_to_what_it_has_seen(api) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let own = api.bearing(&key);
        let body = json!({ "type": "request_board_approval", "payload": { "question": "May I?" } });
        let asked = own.post(&approvals::of(&company), &body);
        assert_eq!(asked.header("etag"), Some("\"1\""));
        let asked = asked.ok(201);
        let decide = |decision: &str, tag: &str| {
            api.send("POST", &act(&asked, decision), &[("If-Match", tag)], b"{}")
        };
        let seen = api.get(&format!("/api/approvals/{}", id(&asked)));
        assert_eq!(seen.header("etag"), Some("\"1\""));
        let answer = decide("request-revision", "\"1\"");
        assert_eq!(answer.header("etag"), Some("\"2\""));
        answer.ok(200);
        // What the agent makes of it meanwhile is not what the board has read.
        let more = json!({ "payload": { "question": "May I do more?" } });
        let again = own.post(&act(&asked, "resubmit"), &more);
        assert_eq!(again.header("etag"), Some("\"3\""));
        assert_eq!(again.ok(200)["revision"], 3);
        for decision in ["approve", "reject", "request-revision"] {
            let problem = decide(decision, "\"2\"").problem(412, "revision_conflict");
            assert_eq!(problem["details"]["revision"], 3, "{decision}");
            decide(decision, "x").problem(400, "invalid_request");
        }
        assert_eq!(now(api, &asked)["status"], "pending");
        decide("approve", "\"3\"").ok(200);
        // What is decided says so, whatever was seen.
        decide("reject", "\"3\"").problem(422, "approval_not_pending");
    }
}
