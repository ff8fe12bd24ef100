//! What several operations have in common stands in the document once: equal parameters and equal
//! answers become components.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use serde_json::Value;
use workforce_app::Code;

use super::headers::ETAG;
use super::problems::{DEFAULT, codes_of, pascal};
use super::walk::{components, each_answer, each_operation, reference};
use workforce_http::headers::REPLAYED;

/// An answer with more codes than this that are not common to all of its status stays where it is:
/// nobody would read its name.
const LONGEST_NAME: usize = 3;

/// How often each of several equal things stands in a document. A value has no order, so that it
/// goes by its text.
#[derive(Default)]
struct Uses(BTreeMap<String, (Value, usize)>);

impl Uses {
    fn note(&mut self, value: &Value) {
        let known = self.0.entry(value.to_string());
        known.or_insert_with(|| (value.clone(), 0)).1 += 1;
    }

    /// Those that are used more than once, the most used first.
    fn shared(self) -> Vec<Value> {
        let mut shared: Vec<_> = self.0.into_values().filter(|(_, uses)| *uses > 1).collect();
        shared.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
        shared.into_iter().map(|(value, _)| value).collect()
    }
}

/// Makes components of the parameters that several operations have.
pub(super) fn share_parameters(document: &mut Value) {
    let mut uses = Uses::default();
    each_operation(document, &mut |_path, _method, operation| {
        let parameters = operation.get("parameters").and_then(Value::as_array);
        parameters
            .into_iter()
            .flatten()
            .for_each(|it| uses.note(it));
    });
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for parameter in uses.shared() {
        let [name, place] = ["name", "in"].map(|key| parameter[key].as_str().unwrap_or_default());
        // The most used parameter of a name has the plain one.
        let taken = components(document, "parameters").get(name).is_some();
        let name = if taken {
            format!("{name}-{place}")
        } else {
            name.to_owned()
        };
        if components(document, "parameters").get(&name).is_none() {
            components(document, "parameters")[&name] = parameter.clone();
            names.insert(parameter.to_string(), name);
        }
    }
    each_operation(document, &mut |_path, _method, operation| {
        let parameters = operation
            .get_mut("parameters")
            .and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            if let Some(name) = names.get(&parameter.to_string()) {
                *parameter = reference("parameters", name);
            }
        }
    });
}

/// Moves the parameters that all operations of a path have to the path.
pub(super) fn lift_parameters(document: &mut Value) {
    let paths = document["paths"].as_object_mut();
    for (_path, item) in paths.into_iter().flatten() {
        let Some(operations) = item.as_object_mut() else {
            continue;
        };
        let taken = |operation: &Value| operation["parameters"].as_array().cloned();
        let mut each = operations.values().map(|it| taken(it).unwrap_or_default());
        let first = each.next().unwrap_or_default();
        let common: Vec<Value> = each.fold(first, |mut common, own| {
            common.retain(|parameter| own.contains(parameter));
            common
        });
        if common.is_empty() {
            continue;
        }
        for operation in operations.values_mut().filter_map(Value::as_object_mut) {
            if let Some(own) = operation
                .get_mut("parameters")
                .and_then(Value::as_array_mut)
            {
                own.retain(|parameter| !common.contains(parameter));
                if own.is_empty() {
                    operation.remove("parameters");
                }
            }
        }
        operations.insert("parameters".to_owned(), common.into());
    }
}

/// Makes components of the answers that several operations have.
pub(super) fn share_answers(document: &mut Value) {
    let mut uses: BTreeMap<String, Uses> = BTreeMap::new();
    each_operation(document, &mut |_path, _method, operation| {
        each_answer(operation, &mut |status, answer| {
            let uses = uses.entry(status.to_owned()).or_default();
            uses.note(&Value::Object(answer.clone()));
        });
    });
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (status, uses) in uses {
        let shared = uses.shared();
        let common = common(&shared);
        for answer in shared {
            let name = match &codes_of(&answer)[..] {
                [] => success_name(&answer),
                _ if status == DEFAULT => Some("Refused".to_owned()),
                codes => name(&status, codes, &common),
            };
            let responses = components(document, "responses");
            if let Some(name) = name.filter(|name| responses.get(name).is_none()) {
                names.insert(answer.to_string(), name.clone());
                responses[name] = answer;
            }
        }
    }
    each_operation(document, &mut |_path, _method, operation| {
        each_answer(operation, &mut |_status, answer| {
            let text = Value::Object(answer.clone()).to_string();
            if let Some(name) = names.get(&text) {
                *answer = reference("responses", name)
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
            }
        });
    });
}

/// The codes that all answers with several codes have.
fn common(answers: &[Value]) -> Vec<Code> {
    let mut sets = answers.iter().map(codes_of).filter(|codes| codes.len() > 1);
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, codes| {
        common
            .into_iter()
            .filter(|code| codes.contains(code))
            .collect()
    })
}

/// The name of a success: that of its schema, with what is special about it.
fn success_name(answer: &Value) -> Option<String> {
    let schema = &answer["content"]["application/json"]["schema"];
    let is_list = schema["type"] == "array";
    let named = if is_list { &schema["items"] } else { schema };
    let name = named["$ref"].as_str()?.rsplit('/').next()?;
    let beginning = answer["headers"].as_object().map_or("", |headers| {
        if headers.contains_key(REPLAYED) {
            "Repeatable"
        } else if headers.contains_key(ETAG) {
            "Tagged"
        } else {
            ""
        }
    });
    Some(format!(
        "{beginning}{name}{}",
        if is_list { "s" } else { "" }
    ))
}

/// The name of a refusal: that of its code, or that of its status with the codes that not all
/// answers of the status have, as in `NotAllowedOrBoardRequired`.
fn name(status: &str, codes: &[Code], common: &[Code]) -> Option<String> {
    let own = codes.iter().filter(|code| !common.contains(code));
    let own: Vec<String> = own.map(|code| pascal(*code)).collect();
    let is_of_all = codes.len() > 1 && !common.is_empty();
    let phrase = is_of_all.then(|| phrase(status)).flatten();
    let parts: Vec<String> = match (codes, own.len()) {
        ([one], _) => vec![pascal(*one)],
        (_, ..=LONGEST_NAME) => phrase.into_iter().chain(own).collect(),
        _ => return None,
    };
    Some(parts.join("Or"))
}

/// What a status is called, as a name: `ServiceUnavailable`. One code of 403 has the name of the
/// status itself.
fn phrase(status: &str) -> Option<String> {
    let status = StatusCode::from_bytes(status.as_bytes()).ok()?;
    let phrase = match status {
        StatusCode::FORBIDDEN => "Not Allowed",
        status => status.canonical_reason()?,
    };
    Some(phrase.replace(' ', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_named_after_their_codes() {
        let common = [Code::RunMismatch, Code::OriginForbidden];
        assert_eq!(
            name("404", &[Code::NotFound], &[]).as_deref(),
            Some("NotFound")
        );
        assert_eq!(name("403", &common, &common).as_deref(), Some("NotAllowed"));
        let board = [
            Code::BoardRequired,
            Code::RunMismatch,
            Code::OriginForbidden,
        ];
        assert_eq!(
            name("403", &board, &common).as_deref(),
            Some("NotAllowedOrBoardRequired")
        );
        let both = [Code::CompanyNotActive, Code::RequestInProgress];
        assert_eq!(
            name("409", &both, &[]).as_deref(),
            Some("CompanyNotActiveOrRequestInProgress")
        );
        let many = [
            Code::Cycle,
            Code::TooDeep,
            Code::InvalidField,
            Code::EnvReserved,
        ];
        assert_eq!(name("422", &many, &[]), None);
    }
}
