use std::io::Write;
use std::time::Instant;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::{Value, json};

use crate::raw::{answer, begin};
use crate::support::{HASTE, api_tests, hasty, id};

fn compressed<W: Write>(mut encoder: W, finish: impl FnOnce(W) -> Vec<u8>, body: &[u8]) -> Vec<u8> {
    encoder.write_all(body).unwrap();
    finish(encoder)
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let encoder = GzEncoder::new(Vec::new(), Compression::best());
    compressed(encoder, |it| it.finish().unwrap(), body)
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    compressed(encoder, |it| it.finish().unwrap(), body)
}

fn raw_deflate(body: &[u8]) -> Vec<u8> {
    let encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    compressed(encoder, |it| it.finish().unwrap(), body)
}

api_tests! {
    fn a_body_is_an_object(api) {
        let company = api.company("Acme");
        let (ada, issue) = (
            api.agent(&company, "Ada"),
            api.issue(&company, &json!({ "title": "Step" })),
        );
        let requests = [
            ("POST", "/api/companies".to_owned()),
            ("PATCH", format!("/api/agents/{}", id(&ada))),
            ("POST", format!("/api/agents/{}/keys", id(&ada))),
            ("POST", format!("/api/agents/{}/heartbeat/invoke", id(&ada))),
            ("POST", format!("/api/issues/{}/checkout", id(&issue))),
        ];
        for (method, path) in requests {
            for body in ["null", "[]", "[null]", "5", "true", "\"x\""] {
                let problem = api
                    .send(method, &path, &[], body.as_bytes())
                    .problem(400, "invalid_json");
                assert_eq!(problem["detail"], "must be an object", "{method} {path}");
            }
        }
    }

    fn an_action_takes_no_body_or_an_empty_one(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let issue = json!({ "title": "Step", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &issue);
        let paths = [
            format!("/api/issues/{}/release", id(&issue)),
            format!("/api/agents/{}/pause", id(&ada)),
            format!("/api/agents/{}/resume", id(&ada)),
            format!("/api/agents/{}/terminate", id(&ada)),
            format!("/api/companies/{}/pause", id(&company)),
            format!("/api/companies/{}/resume", id(&company)),
            format!("/api/companies/{}/archive", id(&company)),
            format!("/api/companies/{}/unarchive", id(&company)),
        ];
        for path in paths {
            for body in ["null", "[]", "5", "{"] {
                api.send("POST", &path, &[], body.as_bytes())
                    .problem(400, "invalid_json");
            }
            for body in ["", " \r\n\t ", "{}"] {
                api.send("POST", &path, &[], body.as_bytes()).ok(200);
            }
        }
    }

    fn a_body_may_be_compressed(api) {
        let plain = br#"{ "name": "Acme" }"#;
        for (coding, body) in [
            ("gzip", gzip(plain)),
            ("GZIP ", gzip(plain)),
            ("deflate", zlib(plain)),
            ("deflate", raw_deflate(plain)),
            ("identity", plain.to_vec()),
        ] {
            let made = api.send("POST", "/api/companies", &[("Content-Encoding", coding)], &body);
            assert_eq!(made.ok(201)["name"], "Acme", "{coding}");
        }
        for coding in ["br", "zstd", "gzip, gzip", "x"] {
            let refused = api.send("POST", "/api/companies", &[("Content-Encoding", coding)], plain);
            refused.problem(415, "unsupported_coding");
            assert_eq!(refused.header("accept-encoding"), Some("gzip, deflate"));
        }
        for coding in ["gzip", "deflate"] {
            api.send("POST", "/api/companies", &[("Content-Encoding", coding)], plain)
                .problem(400, "invalid_request");
        }
        // However little is sent, no more comes out of it than a body may have.
        let bomb = format!("{{\"name\": \"{}\"}}", "a".repeat(64 * 1024 * 1024));
        let gzip = [("Content-Encoding", "gzip")];
        let bomb = self::gzip(bomb.as_bytes());
        api.send("POST", "/api/companies", &gzip, &bomb).problem(413, "body_too_large");
    }

    fn a_byte_order_mark_counts_for_nothing(api) {
        let marked = "\u{feff}{\"name\": \"Acme\"}";
        let made = api.send("POST", "/api/companies", &[], marked.as_bytes());
        assert_eq!(made.ok(201)["name"], "Acme");
        let company = made.json();
        let path = format!("/api/companies/{}/pause", id(&company));
        api.send("POST", &path, &[], "\u{feff}".as_bytes()).ok(200);
        let twice = "\u{feff}\u{feff}{}";
        api.send("POST", "/api/companies", &[], twice.as_bytes()).problem(400, "invalid_json");
    }

    fn an_object_within_a_body_is_no_array(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let refused = |method: &str, path: &str, body: Value, pointer: &str| {
            let answer = api.send(method, path, &[], body.to_string().as_bytes());
            let problem = answer.problem(400, "invalid_json");
            assert_eq!(
                problem["details"],
                json!([{ "pointer": pointer, "message": "must be an object" }])
            );
        };
        let permissions = json!({ "name": "Bob", "permissions": [null] });
        let own = format!("/api/agents/{}", id(&ada));
        refused("PATCH", &own, permissions.clone(), "/permissions");
        let agents = format!("/api/companies/{}/agents", id(&company));
        refused("POST", &agents, permissions, "/permissions");
        let projects = format!("/api/companies/{}/projects", id(&company));
        let project = json!({ "name": "Site", "workspace": ["x", "/tmp"] });
        refused("POST", &projects, project, "/workspace");
        let granted = json!({ "permissions": { "canCreateAgents": true } });
        assert_eq!(
            api.patch(&own, &granted).ok(200)["permissions"],
            granted["permissions"]
        );
    }

    fn a_body_that_trickles_is_given_up(api = hasty) {
        let began = Instant::now();
        let answer = answer(&mut begin(api, "POST /api/companies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{".as_bytes()));
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("\"invalid_request\""), "{answer}");
        assert!(
            answer.contains("the body did not arrive in time"),
            "{answer}"
        );
        assert!(began.elapsed() >= HASTE);
        api.company("Acme");
    }

    fn a_body_that_says_it_is_too_large_is_not_waited_for(api) {
        let answer = answer(&mut begin(api, "POST /api/companies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2097153\r\n\r\n".as_bytes()));
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("\"body_too_large\""), "{answer}");
    }
}
