//! Compares what the servers of these tests answer with the document: a client that was generated
//! from it must find every field that it was promised, and no answer that it was not told of.

use std::sync::LazyLock;

use serde_json::Value;
use ureq::http::HeaderMap;

use crate::schema_check;

/// The document.
pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    with_all_parameters(serde_json::from_slice(workforce_http::DOCUMENT).unwrap())
});

/// A document in which each operation has the parameters of its path among its own.
pub(crate) fn with_all_parameters(mut document: Value) -> Value {
    for item in document["paths"].as_object_mut().unwrap().values_mut() {
        let operations = item.as_object_mut().unwrap();
        let Some(Value::Array(shared)) = operations.remove("parameters") else {
            continue;
        };
        for operation in operations.values_mut() {
            let own = operation["parameters"].as_array().cloned();
            let all = shared.iter().cloned().chain(own.unwrap_or_default());
            operation["parameters"] = all.collect();
        }
    }
    document
}

/// Makes sure that an answer is one that the document tells of. What is asked of paths that it does
/// not know is not looked at.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, status: u16, headers: &HeaderMap, body: &[u8]) {
    let asked = if method == "HEAD" { "GET" } else { method };
    let Some(operation) = operation(asked, path) else {
        return;
    };
    let place = format!("{method} {path} {status}");
    let answers = &operation["responses"];
    let answer = answers.get(status.to_string());
    let answer = resolved(answer.unwrap_or(&answers["default"]));
    // The server's own last word, before any route is asked.
    if status == 408 {
        return;
    }
    assert!(
        answer.is_object(),
        "{place} is not described: {}",
        String::from_utf8_lossy(body)
    );
    for name in DOCUMENT["components"]["headers"]
        .as_object()
        .unwrap()
        .keys()
    {
        let is_described = answer["headers"].get(name).is_some();
        let is_sent = headers.contains_key(name.as_str());
        assert!(
            is_described || !is_sent,
            "{place} has the header {name}, which is not described"
        );
    }
    assert!(headers.contains_key("X-Request-Id"), "{place} has no id");
    if method == "HEAD" || body.is_empty() {
        return;
    }
    let sent = headers
        .get("content-type")
        .map_or("", |it| it.to_str().unwrap());
    let sent = sent.split(';').next().unwrap_or_default();
    let contents = answer["content"].as_object().unwrap();
    // A file has the type that it was uploaded with.
    let content = contents.get(sent).or_else(|| contents.get("*/*"));
    let content = content.unwrap_or_else(|| panic!("{place} has the type {sent:?}"));
    if content["schema"]["format"] == "binary" {
        return;
    }
    match sent {
        "application/x-ndjson" => assert_texts(&place, body, ""),
        "text/event-stream" => assert_texts(&place, body, "data: "),
        _ if sent == "application/json" || sent.ends_with("+json") => {
            let body: Value = serde_json::from_slice(body).unwrap();
            let faults = schema_check::faults(&DOCUMENT, &content["schema"], &body);
            assert!(
                faults.is_empty(),
                "{place} is not as described: {faults:#?}\n{body:#}"
            );
        }
        _ => {}
    }
}

/// Makes sure that the lines of a stream that begin so go on with a JSON text.
#[track_caller]
fn assert_texts(place: &str, body: &[u8], beginning: &str) {
    let body = std::str::from_utf8(body).unwrap();
    let texts = body.lines().filter_map(|line| line.strip_prefix(beginning));
    for text in texts.filter(|text| !text.is_empty()) {
        serde_json::from_str::<Value>(text)
            .unwrap_or_else(|error| panic!("{place}: {error}: {text}"));
    }
}

/// What a reference stands for, or the value itself.
pub(crate) fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(target) => DOCUMENT.pointer(target.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

/// Whether an answer tells of a header.
pub(crate) fn has_header(answer: &Value, name: &str) -> bool {
    answer["headers"].get(name).is_some()
}

/// The operation of a method and a path: the one whose template has the fewest parameters.
fn operation(method: &str, path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap_or_default();
    let parameters = |template: &str| template.matches('{').count();
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let templates = paths.iter().filter(|(template, _)| fits(template, path));
    let (_, item) = templates.min_by_key(|(template, _)| parameters(template))?;
    item.get(method.to_lowercase())
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(path).all(|(place, segment)| {
            *place == segment || place.starts_with('{') && !segment.is_empty()
        })
}
