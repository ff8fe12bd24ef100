//! What an interface asks for and answers, as it is published.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::schema::{faults, parameter_faults};

/// The described part of an interface.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Description {
    #[serde(default)]
    null_where_absent: bool,
    /// By path and method.
    paths: BTreeMap<String, BTreeMap<String, Operation>>,
}

#[derive(Debug, Deserialize)]
struct Operation {
    parameters: Vec<Parameter>,
    body: Option<Value>,
    answers: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Parameter {
    name: String,
    r#in: String,
    #[serde(default)]
    required: bool,
    schema: Value,
}

/// An operation that a request asks for.
#[derive(Debug)]
pub(crate) struct Match<'a> {
    /// The path as it is described, which tells operations apart.
    pub(crate) template: &'a str,
    /// What stands in the request's path for the names in braces, decoded.
    pub(crate) path: BTreeMap<String, String>,
    operation: &'a Operation,
    null_where_absent: bool,
}

impl Description {
    pub(crate) fn read(text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(description) => description,
            Err(error) => panic!("a description cannot be read: {error}"),
        }
    }

    /// The operation of a method and the segments of a path.
    pub(crate) fn find(&self, method: &str, segments: &[String]) -> Option<Match<'_>> {
        let method = method.to_ascii_lowercase();
        self.paths.iter().find_map(|(template, operations)| {
            let operation = operations.get(&method)?;
            Some(Match {
                template,
                path: fill(template, segments)?,
                operation,
                null_where_absent: self.null_where_absent,
            })
        })
    }
}

/// The names in braces with what stands in their place.
fn fill(template: &str, segments: &[String]) -> Option<BTreeMap<String, String>> {
    let names: Vec<&str> = template.trim_start_matches('/').split('/').collect();
    if names.len() != segments.len() {
        return None;
    }
    let mut filled = BTreeMap::new();
    for (name, segment) in names.iter().zip(segments) {
        match name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) => {
                filled.insert(name.to_owned(), segment.clone());
            }
            None if name == segment => {}
            None => return None,
        }
    }
    Some(filled)
}

impl Match<'_> {
    /// What is wrong with a request.
    pub(crate) fn request_faults(
        &self,
        query: &BTreeMap<String, String>,
        body: Option<&Value>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        let parameters = &self.operation.parameters;
        for parameter in parameters {
            let given = match parameter.r#in.as_str() {
                "path" => self.path.get(&parameter.name),
                _ => query.get(&parameter.name),
            };
            match given {
                Some(text) => {
                    let faults = parameter_faults(&parameter.schema, text);
                    let faults = faults.iter();
                    found.extend(faults.map(|fault| format!("{}: {fault}", parameter.name)));
                }
                None if parameter.required => found.push(format!("no {}", parameter.name)),
                None => {}
            }
        }
        for name in query.keys() {
            let is_known = |it: &Parameter| it.r#in == "query" && it.name == *name;
            if !parameters.iter().any(is_known) {
                found.push(format!("the query has `{name}`, which is not described"));
            }
        }
        match (&self.operation.body, body) {
            (Some(schema), Some(body)) => found.extend(faults(schema, body, false)),
            (Some(_), None) => found.push("there is no body".to_owned()),
            (None, Some(_)) => found.push("a body is not described".to_owned()),
            (None, None) => {}
        }
        found
    }

    /// What is wrong with an answer, if one of its status is described.
    pub(crate) fn answer_faults(&self, status: u16, body: &Value) -> Vec<String> {
        match self.operation.answers.get(&status.to_string()) {
            Some(schema) => faults(schema, body, self.null_where_absent),
            None if status < 300 => vec![format!("{status} is not described")],
            None => Vec::new(),
        }
    }
}
