//! What is typed into a field as a value, a value as it is typed, and a field as it is shown.

use serde_json::{Map, Number, Value, json};
use workforce_domain::agent::AdapterType;
use workforce_http::problem::Problem;

use super::fields::{Field, Input, PARTS};
use super::findings::{Finding, Findings};
use crate::form::{Filled, fault};

impl Field {
    /// The value that was typed; `null` for an empty field.
    pub(super) fn value(&self, text: &str) -> Result<Value, Problem> {
        if text.is_empty() {
            return Ok(Value::Null);
        }
        let wrong = |message| fault(self.name, message);
        Ok(match self.input {
            Input::Choice(_) if text == "true" || text == "false" => json!(text == "true"),
            Input::Line | Input::Area | Input::Choice(_) => json!(text),
            Input::Number => {
                let number: Result<Number, _> = serde_json::from_str(text);
                json!(number.map_err(|_no_number| wrong("must be a number"))?)
            }
            Input::Lines => json!(text.lines().collect::<Vec<_>>()),
            Input::Json => {
                serde_json::from_str(text).map_err(|_no_json| wrong("must be a JSON object"))?
            }
            Input::Headers => {
                let header = |line: &str| {
                    let (name, value) = line.split_once(':')?;
                    Some((name.trim().to_owned(), json!(value.trim())))
                };
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let headers: Option<Map<_, _>> = lines.map(header).collect();
                let message = "each line must be a name, a colon and a value";
                Value::Object(headers.ok_or_else(|| wrong(message))?)
            }
        })
    }

    /// A value as it is typed.
    pub(super) fn text(&self, value: &Value) -> String {
        let plain = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match (self.input, value) {
            (_, Value::Null) => String::new(),
            (Input::Lines, Value::Array(lines)) => {
                let lines: Vec<_> = lines.iter().map(plain).collect();
                lines.join("\n")
            }
            (Input::Headers, Value::Object(headers)) => {
                let header = |(name, binding): (&String, &Value)| {
                    let value = binding.get("value").unwrap_or(binding);
                    format!("{name}: {}", plain(value))
                };
                let headers: Vec<_> = headers.iter().map(header).collect();
                headers.join("\n")
            }
            (Input::Json, value) => serde_json::to_string_pretty(value).unwrap_or_default(),
            (_, value) => plain(value),
        }
    }
}

/// Something to choose.
pub(crate) struct Choice {
    pub(crate) value: &'static str,
    pub(crate) word: &'static str,
    pub(crate) is_chosen: bool,
}

/// A field as the page shows it.
pub(crate) struct Shown {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) value: String,
    pub(crate) is_area: bool,
    pub(crate) is_number: bool,
    pub(crate) choices: Vec<Choice>,
    pub(crate) found: Vec<Finding>,
}

/// Fields that belong together.
pub(crate) struct Part {
    pub(crate) title: &'static str,
    pub(crate) fields: Vec<Shown>,
}

/// The fields of a program with what stands in them.
pub(super) fn parts(
    filled: &Filled,
    adapter: AdapterType,
    findings: Option<&Findings>,
) -> Vec<Part> {
    let shown = |field: &Field| {
        let value = filled.value(field.name).to_owned();
        let choices = match field.input {
            Input::Choice(choices) => choices,
            _ => &[],
        };
        let choices = choices.iter().map(|(its, word)| Choice {
            value: its,
            word,
            is_chosen: *its == value,
        });
        Shown {
            name: field.name,
            label: field.label,
            hint: field.hint,
            choices: choices.collect(),
            is_area: matches!(
                field.input,
                Input::Area | Input::Lines | Input::Headers | Input::Json
            ),
            is_number: matches!(field.input, Input::Number),
            found: findings.map_or_else(Vec::new, |found| found.at(field.name)),
            value,
        }
    };
    PARTS
        .iter()
        .map(|(title, fields)| Part {
            title,
            fields: fields
                .iter()
                .filter(|field| field.is_of(adapter))
                .map(shown)
                .collect(),
        })
        .collect()
}
