use serde_json::json;

use super::*;
use crate::activity_log::document;
use crate::refusal::Code;

fn fault(config: Value) -> String {
    let fault = check_http(&document(config)).unwrap_err();
    format!("{} {}", fault.pointer, fault.message)
}

#[track_caller]
fn check_url(url: &str, is_admitted: bool) {
    let read = HttpConfig::read(&document(json!({ "url": url })));
    assert_eq!(read.is_ok(), is_admitted, "{url}: {read:?}");
}

#[test]
fn a_url_is_absolute_and_without_credentials() {
    for url in [
        "http://agents.example",
        "https://agents.example:8443/run?x=1",
        "http://10.0.0.1/",
        "http://[::1]:80/",
        "https://a_b.example/%20",
    ] {
        check_url(url, true);
    }
    for url in [
        "agents.example",
        "ftp://agents.example",
        "http://",
        "http:///path",
        "http://:80/",
        "http://a:b@agents.example/",
        "http://agents.example@10.0.0.1/",
        "http://agents.example\\@10.0.0.1/",
        "http://agents.example:0/",
        "http://agents.example:99999/",
        "http://agents.example:+80/",
        "http://[::1/",
        "http://[x]/",
        "http://agents.example/#part",
        "http://agents.example/ x",
        "http://b\u{fc}ro.example/",
        "HTTP://agents.example",
    ] {
        check_url(url, false);
    }
}

#[test]
fn only_methods_with_a_body_are_used() {
    let read = |method: &str| HttpConfig::read(&document(json!({ "method": method }))).is_ok();
    assert!(["POST", "PUT", "PATCH"].into_iter().all(read));
    assert!(!["GET", "DELETE", "post", ""].into_iter().any(read));
}

#[test]
fn headers_take_their_credentials_from_the_environment() {
    let config = document(json!({
        "headers": {
            "Authorization": "Bearer {{env.TOKEN}}",
            "X-Both": { "type": "plain", "value": "{{env.A}}-{{env.A}} {{env." },
        },
        "env": { "TOKEN": "t", "A": "a" },
    }));
    assert_eq!(check_http(&config), Ok(()));
    let read = HttpConfig::read(&config).unwrap();
    let env = [("TOKEN", "t"), ("A", "a")].map(|(name, value)| (name.into(), value.into()));
    let mut filled = read.filled_headers(&env).unwrap();
    filled.sort();
    assert_eq!(
        filled,
        [
            ("Authorization".into(), "Bearer t".into()),
            ("X-Both".into(), "a-a {{env.".into())
        ]
    );
    let broken = [
        ("TOKEN".into(), "a\r\nX: y".into()),
        ("A".into(), "a".into()),
    ];
    let fault = read.filled_headers(&broken).unwrap_err();
    assert_eq!(fault.pointer, "/adapterConfig/headers/Authorization");
    assert!(read.filled_headers(&[]).is_err());
}

#[test]
fn faults_name_their_place() {
    for (config, expected) in [
        (json!({ "url": 1 }), "/adapterConfig/url must be a string"),
        (
            json!({ "headers": { "A": "{{env.T}}" } }),
            "/adapterConfig/headers/A `env` has no variable `T`",
        ),
        (
            json!({ "headers": { "Host": "x" } }),
            "/adapterConfig/headers/Host workforce sets this header itself",
        ),
        (
            json!({ "headers": { "A b": "x" } }),
            "/adapterConfig/headers/A b no name that a header can have",
        ),
        (
            json!({ "headers": { "A": "x\r\ny" } }),
            "/adapterConfig/headers/A must be one line of ASCII of at most 8 KiB",
        ),
        (
            json!({ "payloadTemplate": [] }),
            "/adapterConfig/payloadTemplate must be an object",
        ),
        (
            json!({ "timeoutSec": 1, "timeoutMs": 2000 }),
            "/adapterConfig/timeoutMs says something else than timeoutSec; give one of them",
        ),
    ] {
        assert_eq!(fault(config), expected);
    }
    let secret = json!({ "headers": { "A": { "type": "secret_ref", "secretId": "x" } } });
    assert!(fault(secret).contains("{{env.NAME}}"));
}

#[test]
fn both_spellings_of_the_timeout_are_read() {
    let timeout = |config: Value| HttpConfig::read(&document(config)).unwrap().timeout;
    let half = Some(Duration::from_millis(500));
    assert_eq!(timeout(json!({ "timeoutSec": 0.5 })), half);
    assert_eq!(timeout(json!({ "timeoutMs": 500 })), half);
    assert_eq!(
        timeout(json!({ "timeoutMs": 500, "timeoutSec": 0.5 })),
        half
    );
    assert_eq!(timeout(json!({})), None);
    assert_eq!(timeout(json!({ "timeoutSec": 0 })), Some(Duration::ZERO));
}

#[test]
fn a_credential_in_clear_is_found_when_it_is_new() {
    let config =
        |value: &str| JsonMap::from(document(json!({ "headers": { "Authorization": value } })));
    let (clear, named) = (config("Bearer x"), config("Bearer {{env.T}}"));
    let none = JsonMap::new();
    let found = inline_credential(&none, &clear).map(|fault| fault.code);
    assert_eq!(found, Some(Code::SecretRequired));
    assert_eq!(inline_credential(&clear, &clear), None);
    assert_eq!(inline_credential(&none, &named), None);
}
