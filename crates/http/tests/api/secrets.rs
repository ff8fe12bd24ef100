use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::{Caller, Context, Signal, runs, secrets};
use workforce_domain::cost::PriceTable;
use workforce_domain::port::{ClaimRequest, TokenKind};
use workforce_testkit::ports;

use crate::support::{Api, NOTHING, api_tests, id};
use crate::uploads::{FORM, file, form, path as attachments_of};

const VALUE: &str = "hunter2 is \"it\"";

fn make(api: &Api, company: &Value, body: &Value) -> Value {
    api.post(&format!("/api/companies/{}/secrets", id(company)), body)
        .ok(201)
}

fn binding(secret: &Value, version: &Value) -> Value {
    json!({ "type": "secret_ref", "secretId": id(secret), "version": version })
}

/// Starts the run that waits, with the secrets of its agent; its id and token.
pub(crate) fn start(api: &Api, config: &Value) -> (String, String) {
    let (clock, ids, tokens, vault) = (
        ports::clock(),
        ports::ids(),
        ports::tokens(),
        ports::vault(),
    );
    let token = tokens.mint(TokenKind::Run);
    let signal = Signal::default();
    let ctx = Context {
        caller: &Caller::SYSTEM,
        now: clock.now(),
        server: ids.next().into(),
        ids: &*ids,
        tokens: &*tokens,
        vault: &*vault,
        prices: &PriceTable::EMPTY,
        strict_secrets: false,
        signal: &signal,
        company: None,
    };
    let request = ClaimRequest {
        instance: ids.next().into(),
        now: ctx.now,
        lease_until: ctx.now.plus(Duration::from_secs(60)),
        token_digest: token.digest,
        instance_cap: 10,
    };
    let config = document(config.clone());
    let store = api.store.shared();
    let claimed = store.write(|tx| runs::start(tx, &ctx, &request));
    let run = claimed.unwrap().unwrap().run;
    let resolved = store.write(|tx| secrets::resolve(tx, &ctx, &run, &config));
    resolved.unwrap();
    (run.id.to_string(), token.token)
}

api_tests! {
    fn a_secret_is_the_token_for_repositories(api) {
        let company = api.company("Acme");
        let body = |name: &str, prefix: &str| {
            json!({ "name": name, "value": VALUE, "tokenFor": prefix })
        };
        let made = make(api, &company, &body("one", "GitHub.com/Acme"));
        assert_eq!(made["tokenFor"], "github.com/acme");
        let list = format!("/api/companies/{}/secrets", id(&company));
        let same = api.post(&list, &body("two", "github.com/acme"));
        let same = same.problem(422, "invalid_field");
        assert_eq!(same["details"][0]["pointer"], "/tokenFor", "{same}");
        for bad in ["https://github.com", "github.com/", "", "a b"] {
            let refused = api.post(&list, &body("two", bad)).problem(400, "invalid_json");
            assert!(!refused.to_string().contains("hunter2"), "{refused}");
        }
        for (name, one) in [("x", "github.com/Acme/x.git"), ("y", "github.com/acme/y.git/")] {
            let kept = make(api, &company, &body(name, one));
            assert_eq!(kept["tokenFor"], format!("github.com/acme/{name}"));
        }
        let same = api.post(&list, &body("z", "github.com/acme/x"));
        same.problem(422, "invalid_field");
        let other = make(api, &company, &body("two", "github.com"));
        let path = |secret: &Value| format!("/api/secrets/{}", id(secret));
        let taken = json!({ "tokenFor": "github.com/acme" });
        api.patch(&path(&other), &taken).problem(422, "invalid_field");
        api.patch(&path(&made), &taken).ok(200);
        let cleared = api.patch(&path(&made), &json!({ "tokenFor": null })).ok(200);
        assert_eq!(cleared["tokenFor"], Value::Null);
        assert_eq!(cleared["latestVersion"], 1);
        api.patch(&path(&other), &taken).ok(200);
        // Another company may have a token for the same.
        make(api, &api.company("Other"), &body("one", "github.com/acme"));
    }

    fn a_secret_is_made_and_only_told_about(api) {
        let company = api.company("Acme");
        let body = json!({ "name": "token", "value": VALUE, "description": "what for" });
        let made = make(api, &company, &body);
        assert_eq!(made["companyId"], company["id"]);
        assert_eq!(
            (&made["name"], &made["provider"], &made["latestVersion"], &made["externalRef"]),
            (&json!("token"), &json!("local_encrypted"), &json!(1), &Value::Null)
        );
        let path = format!("/api/secrets/{}", id(&made));
        assert_eq!(api.get(&path).ok(200), made);
        let list = format!("/api/companies/{}/secrets", id(&company));
        assert_eq!(api.get(&list).ok(200), json!([made]));

        let changed = api.patch(&path, &json!({ "name": "other", "description": null })).ok(200);
        assert_eq!((&changed["name"], &changed["latestVersion"]), (&json!("other"), &json!(1)));
        assert_eq!(api.patch(&path, &json!({ "value": "v2" })).ok(200)["latestVersion"], 2);
        let rotate = format!("{path}/rotate");
        assert_eq!(api.post(&rotate, &json!({ "value": "v3" })).ok(200)["latestVersion"], 3);
        let versions = api.get(&format!("{path}/versions?limit=2"));
        assert!(versions.header("x-next-cursor").is_some());
        let versions = versions.ok(200);
        assert_eq!((&versions[0]["version"], &versions[1]["version"]), (&json!(3), &json!(2)));

        for told in [&list, &path, &format!("/api/companies/{}/activity", id(&company))] {
            assert!(!api.get(told).text.contains("hunter2"));
        }
        assert_eq!(api.send("DELETE", &path, &[], b"").ok(200), json!({ "ok": true }));
        api.get(&path).problem(404, "not_found");
    }

    fn what_cannot_be_a_secret_is_refused(api) {
        let company = api.company("Acme");
        let list = format!("/api/companies/{}/secrets", id(&company));
        let long = "x".repeat(64 * 1024);
        let longer = format!("{long}x");
        let name = "n".repeat(129);
        for (body, pointer) in [
            (json!({ "value": "v" }), "/name"),
            (json!({ "name": "a" }), "/value"),
            (json!({ "name": "a", "value": "" }), "/value"),
            (json!({ "name": "a", "value": 5 }), "/value"),
            (json!({ "name": "a", "value": longer }), "/value"),
            (json!({ "name": " ", "value": "v" }), "/name"),
            (json!({ "name": name, "value": "v" }), "/name"),
        ] {
            let answer = api.post(&list, &body);
            let problem = answer.problem(400, "invalid_json");
            assert_eq!(problem["details"][0]["pointer"], pointer);
            assert!(answer.text.len() < 2000, "it quotes the value");
        }
        make(api, &company, &json!({ "name": "n".repeat(128), "value": long }));
        make(api, &company, &json!({ "name": "token", "value": VALUE }));
        api.post(&list, &json!({ "name": "token", "value": "v" })).problem(409, "duplicate_name");
        for provider in ["aws_secrets_manager", "gcp_secret_manager", "vault", "x"] {
            let body = json!({ "name": "b", "provider": provider, "externalRef": "x" });
            api.post(&list, &body).problem(501, "secret_provider_unsupported");
        }
        for (body, pointer) in [
            (json!({ "provider": "env", "externalRef": "A", "value": "v" }), "/value"),
            (json!({ "provider": "env" }), "/externalRef"),
            (json!({ "provider": "env", "externalRef": "WORKFORCE_X" }), "/externalRef"),
            (json!({ "provider": "file", "externalRef": "/etc/passwd" }), "/externalRef"),
            (json!({ "provider": "file", "externalRef": "a/../../b" }), "/externalRef"),
        ] {
            let mut body = body;
            body["name"] = json!("b");
            let problem = api.post(&list, &body).problem(422, "invalid_field");
            assert_eq!(problem["details"][0]["pointer"], pointer);
        }
        let outside = json!({ "name": "b", "provider": "env", "externalRef": "FORGE_TOKEN" });
        let outside = make(api, &company, &outside);
        let path = format!("/api/secrets/{}", id(&outside));
        api.patch(&path, &json!({ "value": "v" })).problem(422, "invalid_field");
        api.post(&format!("{path}/rotate"), &json!({})).problem(400, "invalid_json");
        let path = format!("/api/companies/{NOTHING}/secrets");
        api.get(&path).problem(404, "not_found");
        api.post(&path, &json!({ "name": "a", "value": "v" })).problem(404, "not_found");
    }

    fn agents_are_turned_away(api) {
        let company = api.company("Acme");
        let secret = make(api, &company, &json!({ "name": "token", "value": VALUE }));
        let ada = api.agent(&company, "Ada");
        let key = api.key(&ada);
        let ada_asks = api.bearing(&key);
        let of_company = format!("/api/companies/{}/secrets", id(&company));
        let path = format!("/api/secrets/{}", id(&secret));
        let body = json!({ "name": "x", "value": "v" });
        let none = Value::Null;
        for (method, path, body) in [
            ("GET", of_company.clone(), &none),
            ("POST", of_company, &body),
            ("GET", path.clone(), &none),
            ("PATCH", path.clone(), &body),
            ("DELETE", path.clone(), &none),
            ("POST", format!("{path}/rotate"), &body),
            ("GET", format!("{path}/versions"), &none),
            ("DELETE", format!("{path}/versions/1"), &none),
            ("GET", format!("{path}/usage"), &none),
            ("POST", format!("/api/agents/{}/env/A/to-secret", id(&ada)), &none),
            ("GET", "/api/secrets/rotate-key".to_owned(), &none),
            ("POST", "/api/secrets/rotate-key".to_owned(), &none),
        ] {
            ada_asks.send(method, &path, body).problem(403, "board_required");
        }
    }

    fn a_secret_in_use_stays_unless_it_is_forced(api) {
        let company = api.company("Acme");
        let secret = make(api, &company, &json!({ "name": "token", "value": VALUE }));
        let path = format!("/api/secrets/{}", id(&secret));
        for value in ["v2", "v3"] {
            api.patch(&path, &json!({ "value": value })).ok(200);
        }
        let ada = api.agent(&company, "Ada");
        let agent = format!("/api/agents/{}", id(&ada));
        let env = json!({ "A": binding(&secret, &json!(2)), "B": binding(&secret, &json!("latest")) });
        let changed = api.patch(&agent, &json!({ "adapterConfig": { "env": env } })).ok(200);
        assert_eq!(changed["adapterConfig"]["env"], env);
        let usage = api.get(&format!("{path}/usage")).ok(200);
        assert_eq!(
            usage,
            json!({ "runs": [], "agents": [
                { "agentId": id(&ada), "agentName": "Ada", "variable": "A", "pinnedVersion": 2 },
                { "agentId": id(&ada), "agentName": "Ada", "variable": "B", "pinnedVersion": null },
            ]})
        );
        let delete = |path: &str| api.send("DELETE", path, &[], b"");
        let problem = delete(&path).problem(409, "secret_in_use");
        assert_eq!(problem["details"]["agentIds"], json!([id(&ada)]));
        let version = |number: &str| format!("{path}/versions/{number}");
        let pinned = delete(&version("2")).problem(409, "secret_version_pinned");
        assert_eq!(pinned["details"]["agentIds"], json!([id(&ada)]));
        delete(&version("3")).problem(422, "secret_version_newest");
        for number in ["4", "0", "-1", "x", "99999999999"] {
            delete(&version(number)).problem(404, "not_found");
        }
        delete(&version("1")).ok(200);
        delete(&format!("{path}?force=maybe")).problem(400, "invalid_request");
        delete(&format!("{path}?force=true")).ok(200);
        delete(&path).problem(404, "not_found");
        // The agent is as it was, and can be changed.
        assert_eq!(api.get(&agent).ok(200)["adapterConfig"]["env"], env);
        api.patch(&agent, &json!({ "title": "Engineer" })).ok(200);
    }

    fn references_are_checked_when_they_are_saved(api) {
        let (acme, evil) = (api.company("Acme"), api.company("Evil"));
        let own = make(api, &acme, &json!({ "name": "token", "value": VALUE }));
        let foreign = make(api, &evil, &json!({ "name": "token", "value": VALUE }));
        let agents = format!("/api/companies/{}/agents", id(&acme));
        let hire = |env: Value| {
            api.post(&agents, &json!({ "name": "Ada", "adapterConfig": { "env": env } }))
        };
        let missing = json!({ "id": NOTHING });
        let problems = [&foreign, &missing].map(|secret| {
            hire(json!({ "T": binding(secret, &json!("latest")) })).problem(422, "secret_not_found")
        });
        assert_eq!(problems[0]["details"], problems[1]["details"]);
        hire(json!({ "T": binding(&own, &json!(2)) })).problem(422, "secret_not_found");
        hire(json!({ "T": binding(&own, &json!(0)) })).problem(422, "invalid_field");
        hire(json!({ "T": binding(&own, &json!("newest")) })).problem(422, "invalid_field");
        hire(json!({ "T": binding(&own, &json!(1)) })).ok(201);
    }

    fn an_inline_value_is_hidden_and_can_become_a_secret(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let path = format!("/api/agents/{}", id(&ada));
        let config = json!({
            "env": { "TOKEN": VALUE, "MODEL": "m" }, "headers": { "Authorization": VALUE },
        });
        let shown = api.patch(&path, &json!({ "adapterConfig": config })).ok(200)["adapterConfig"].clone();
        assert_eq!(
            shown,
            json!({
                "env": { "TOKEN": "***REDACTED***", "MODEL": "m" },
                "headers": { "Authorization": "***REDACTED***" },
            })
        );
        // What is shown can be sent back, in part and as a whole.
        for replace in [false, true] {
            let body = json!({ "adapterConfig": shown, "replaceAdapterConfig": replace });
            assert_eq!(api.patch(&path, &body).ok(200)["adapterConfig"], shown);
        }
        let convert = |variable: &str, body: Value| {
            api.post(&format!("{path}/env/{variable}/to-secret"), &body)
        };
        let converted = convert("TOKEN", json!({})).ok(201);
        assert_eq!(
            (&converted["agentId"], &converted["variable"], &converted["secret"]["name"]),
            (&ada["id"], &json!("TOKEN"), &json!("TOKEN"))
        );
        let env = &api.get(&path).ok(200)["adapterConfig"]["env"];
        assert_eq!(env["TOKEN"], binding(&converted["secret"], &json!("latest")));
        convert("TOKEN", json!({})).problem(422, "invalid_field");
        convert("NONE", json!({})).problem(404, "not_found");
        convert("MODEL", json!({ "name": "TOKEN" })).problem(409, "duplicate_name");
        convert("MODEL", json!({ "name": "" })).problem(400, "invalid_json");
        api.post(&format!("/api/agents/{NOTHING}/env/A/to-secret"), &json!({}))
            .problem(404, "not_found");
    }

    fn what_a_run_writes_is_free_of_its_secrets_in_every_field(api) {
        let company = api.company("Acme");
        let secret = make(api, &company, &json!({ "name": "token", "value": VALUE }));
        let ada = api.agent(&company, "Ada");
        let agent = format!("/api/agents/{}", id(&ada));
        let config = json!({ "env": {
            "SECRET": binding(&secret, &json!("latest")), "MY_TOKEN": "inline token",
        }});
        api.patch(&agent, &json!({ "adapterConfig": config })).ok(200);
        let body = json!({ "title": "Work", "status": "todo", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &body);
        let (run, token) = start(api, &config);
        assert_eq!(api.get(&format!("/api/secrets/{}/usage", id(&secret))).ok(200)["runs"][0]["runId"], run);

        let text = format!("a {VALUE} b inline token c {token} d");
        let clean = "a ***REDACTED*** b ***REDACTED*** c ***REDACTED*** d";
        let path = format!("/api/issues/{}", id(&issue));
        let key = api.key(&ada);
        let header = [("X-Service-Run-Id", run.as_str())];
        let by_token = api.bearing(&token);
        let by_key = api.bearing(&key);
        let comment = json!({ "body": text });
        let comments = format!("{path}/comments");
        let posted = [
            by_token.post(&comments, &comment).ok(201),
            by_key.send_with("POST", &comments, &header, &json!({ "body": text.replace(&token, &key) })).ok(201),
        ];
        for posted in posted {
            assert_eq!(posted["body"], clean);
            assert_eq!(posted["createdByRunId"], run);
        }
        let sub = json!({
            "title": text, "description": text, "parentId": id(&issue), "delegation": { "note": [text] },
        });
        let sub = by_token.post(&format!("/api/companies/{}/issues", id(&company)), &sub).ok(201);
        assert_eq!((&sub["title"], &sub["description"]), (&json!(clean), &json!(clean)));
        let change = json!({ "capabilities": text, "metadata": { "deep": [{ "er": text }] } });
        let changed = by_token.patch(&agent, &change).ok(200);
        assert_eq!(changed["capabilities"], clean);
        assert_eq!(changed["metadata"]["deep"][0]["er"], clean);
        let cost = json!({ "agentId": id(&ada), "model": text, "provider": text, "costCents": 0.25 });
        let cost = by_token.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);
        assert_eq!((&cost["model"], &cost["costCents"]), (&json!(clean), &json!(0.25)));
        let name = format!("of inline token, {token}.txt");
        let header = [("Authorization", &*format!("Bearer {token}")), ("Content-Type", FORM)];
        let attachments = attachments_of(&company, &issue);
        let attached = api.send("POST", &attachments, &header, &form(&[file(&name, b"text")])).ok(201);
        assert_eq!(attached["originalFilename"], "of ***REDACTED***, ***REDACTED***.txt");
        // Without the run its credential is still taken out.
        let outside = by_key.post(&comments, &json!({ "body": format!("my key is {key}") })).ok(201);
        assert_eq!(outside["body"], "my key is ***REDACTED***");
        for path in ["activity", "issues", "agents"] {
            let shown = api.get(&format!("/api/companies/{}/{path}", id(&company))).text;
            assert!(!shown.contains("hunter2") && !shown.contains("inline token"), "{shown}");
        }
    }

    fn a_repeated_request_with_a_value_leaves_no_trace_of_it(api) {
        let company = api.company("Acme");
        let list = format!("/api/companies/{}/secrets", id(&company));
        let send = |value: &str| {
            let body = json!({ "name": "token", "value": value }).to_string();
            api.send("POST", &list, &[("Idempotency-Key", "k")], body.as_bytes())
        };
        let first = send(VALUE).ok(201);
        let second = send(VALUE);
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(second.ok(201), first);
        send("other").problem(422, "idempotency_key_reused");
        let other = api.send("POST", "/api/companies", &[("Idempotency-Key", "k")], b"{\"name\":\"B\"}");
        other.problem(422, "idempotency_key_reused");
    }

    fn keys_from_outside_are_changed_outside(api) {
        let status = api.get("/api/secrets/rotate-key").ok(200);
        assert_eq!(
            (&status["source"], &status["complete"], &status["formerKeyIds"]),
            (&json!("environment"), &json!(true), &json!([]))
        );
        let problem = api.post("/api/secrets/rotate-key", &json!({}))
            .problem(409, "key_rotation_unavailable");
        assert!(problem["detail"].as_str().unwrap().contains("WORKFORCE_MASTER_KEY_PREVIOUS"));
    }

    fn a_secret_keeps_a_name_of_its_own_and_a_value_where_it_belongs(api) {
        let company = api.company("Acme");
        let taken = make(api, &company, &json!({ "name": "taken", "value": VALUE }));
        let kept = make(api, &company, &json!({
            "name": "kept", "provider": "env", "externalRef": "KEPT",
        }));
        let path = format!("/api/secrets/{}", id(&kept));
        let rename = json!({ "name": taken["name"] });
        api.patch(&path, &rename).problem(409, "duplicate_name");
        let answer = api.post(&format!("{path}/rotate"), &json!({ "value": "v" }));
        let problem = answer.problem(422, "invalid_field");
        assert_eq!(problem["details"][0]["pointer"], "/value");
        assert_eq!(api.get(&path).ok(200), kept);
    }
}
