//! The variables of an agent. A value that was typed is sent once and never shown.

use serde_json::{Map, Value, json};
use workforce_app::agents::inline_value;
use workforce_domain::revision::AgentConfig;
use workforce_domain::secret::{SecretReference, VersionPick};
use workforce_http::problem::Problem;

use crate::form::{Filled, Form, fault};

/// How an inline value is told.
pub(in super::super) const INLINE: &str = "a value of its own";

/// So many empty rows are there for new variables.
const NEW: usize = 3;
/// More rows than an environment may have.
const MOST: usize = 210;

/// A variable as the page shows it.
pub(crate) struct EnvRow {
    /// What its fields begin with.
    pub(crate) at: String,
    /// Counts the rows for people.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// The name under which it is stored; empty for a new one.
    pub(crate) was: String,
    pub(crate) is_secret: bool,
    pub(crate) secret: String,
    pub(crate) version: String,
    /// A value is stored, and stays unless another is typed.
    pub(crate) keeps: bool,
    pub(crate) fault: Option<String>,
}

fn name(row: usize, field: &str) -> String {
    format!("env/{row}/{field}")
}

/// Whether a field of the form holds a value of a variable.
pub(in super::super) fn is_inline_value(field: &str) -> bool {
    field.starts_with("env/") && field.ends_with("/value")
}

fn stored(config: Option<&AgentConfig>) -> Option<&Map<String, Value>> {
    config?.adapter_config.get("env")?.as_object()
}

/// The variables with a value of their own.
pub(in super::super) fn inline_names(config: &AgentConfig) -> Vec<String> {
    let all = stored(Some(config)).into_iter().flatten();
    let inline = all.filter(|(_, binding)| inline_value(binding).is_some());
    inline.map(|(name, _)| name.clone()).collect()
}

/// A binding without its value.
pub(in super::super) fn described(binding: &Value) -> String {
    match SecretReference::read(binding) {
        Ok(Some(reference)) => {
            let version = match reference.version {
                VersionPick::Latest => "the newest version".to_owned(),
                VersionPick::Pinned(version) => format!("version {version}"),
            };
            format!("secret {}, {version}", reference.secret)
        }
        _ => INLINE.to_owned(),
    }
}

/// The texts that stand in the form for the stored variables.
pub(super) fn values(config: &AgentConfig) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for (row, (variable, binding)) in stored(Some(config)).into_iter().flatten().enumerate() {
        let mut put = |field, value: &str| values.push((name(row, field), value.to_owned()));
        put("name", variable);
        put("was", variable);
        match SecretReference::read(binding) {
            Ok(Some(reference)) => {
                put("kind", "secret");
                put("secret", &reference.secret.to_string());
                if let VersionPick::Pinned(version) = reference.version {
                    put("version", &version.to_string());
                }
            }
            _ => put("kind", "plain"),
        }
    }
    values
}

/// How many rows a form has.
fn count(form: &Form) -> usize {
    (0..MOST)
        .take_while(|row| form.exact(&name(*row, "name")).is_some())
        .count()
}

/// The rows of the page: those of the form, stored ones that it has not, and empty ones.
pub(super) fn rows(filled: &Filled, present: Option<&AgentConfig>) -> Vec<EnvRow> {
    let form = filled.form();
    let stored = stored(present);
    let is_stored = |variable: &str| stored.is_some_and(|env| env.contains_key(variable));
    let mut rows = Vec::new();
    let mut row = |variable: &str, was: &str, is_secret, secret: &str, version: &str| {
        let at = format!("env/{}", rows.len());
        let binding = stored.and_then(|env| env.get(was));
        rows.push(EnvRow {
            fault: filled
                .fault(&format!("adapterConfig/env/{variable}"))
                .or_else(|| filled.fault(&format!("{at}/value")))
                .map(str::to_owned),
            number: rows.len() + 1,
            at,
            name: variable.to_owned(),
            was: was.to_owned(),
            is_secret,
            secret: secret.to_owned(),
            version: version.to_owned(),
            keeps: binding.is_some_and(|binding| inline_value(binding).is_some()),
        });
    };
    let mut shown = Vec::new();
    for number in 0..count(form) {
        let text = |field| form.text(&name(number, field));
        let (variable, mut was) = (text("name"), text("was"));
        if variable.is_empty() && was.is_empty() {
            continue;
        }
        if !is_stored(was) {
            was = "";
        }
        shown.push(was.to_owned());
        let is_secret = text("kind") == "secret";
        row(variable, was, is_secret, text("secret"), text("version"));
    }
    for (variable, binding) in stored.into_iter().flatten() {
        if shown.contains(variable) {
            continue;
        }
        match SecretReference::read(binding) {
            Ok(Some(reference)) => {
                let version = match reference.version {
                    VersionPick::Latest => String::new(),
                    VersionPick::Pinned(version) => version.to_string(),
                };
                row(
                    variable,
                    variable,
                    true,
                    &reference.secret.to_string(),
                    &version,
                );
            }
            _ => row(variable, variable, false, "", ""),
        }
    }
    for _ in 0..NEW {
        row("", "", false, "", "");
    }
    rows
}

/// What the form changes of the stored variables.
pub(super) fn change(
    form: &Form,
    present: Option<&AgentConfig>,
) -> Result<Map<String, Value>, Problem> {
    let stored = stored(present);
    let mut change = Map::new();
    for row in 0..count(form) {
        let text = |field| form.text(&name(row, field));
        let (variable, was) = (text("name"), text("was"));
        let is_removed = variable.is_empty() || !text("remove").is_empty();
        if !was.is_empty() && (is_removed || variable != was) {
            // A row above may have given the name to another variable.
            change.entry(was).or_insert(Value::Null);
        }
        if is_removed {
            continue;
        }
        let before = stored.and_then(|env| env.get(variable));
        let binding = if text("kind") == "secret" {
            let secret = text("secret");
            if secret.is_empty() {
                return Err(fault(&name(row, "value"), "choose a secret"));
            }
            let version = match text("version") {
                "" => "latest",
                version => version,
            };
            json!({ "type": "secret_ref", "secretId": secret, "version": version })
        } else {
            let value = form.exact(&name(row, "value")).unwrap_or_default();
            if value.is_empty() {
                let keeps = was == variable
                    && before.is_some_and(|binding| inline_value(binding).is_some());
                if keeps {
                    continue;
                }
                return Err(fault(
                    &name(row, "value"),
                    "type its value, also if you did before",
                ));
            }
            json!({ "type": "plain", "value": value })
        };
        if !before.is_some_and(|before| is_same(before, &binding)) {
            change.insert(variable.to_owned(), binding);
        }
    }
    Ok(change)
}

/// Whether two references are to the same.
fn is_same(before: &Value, after: &Value) -> bool {
    match (SecretReference::read(before), SecretReference::read(after)) {
        (Ok(Some(before)), Ok(Some(after))) => before == after,
        _ => before == after,
    }
}
