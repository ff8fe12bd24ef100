//! The form as the body of the same call of the interface: what differs from what is stored.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use workforce_domain::revision::AgentConfig;
use workforce_http::problem::Problem;

use super::fields::PARTS;
use super::values::{PERMISSION, values};
use super::{adapter, env};
use crate::form::{Form, cents, fault, put};

const ADAPTER: &str = "adapterConfig/";
const HEARTBEAT: &str = "runtimeConfig/heartbeat";
const BUDGET: &str = "budgetMonthlyCents";

/// What a form says that is not so already.
struct Changed<'a> {
    form: &'a Form,
    before: HashMap<String, String>,
}

impl<'a> Changed<'a> {
    fn new(form: &'a Form, present: Option<&AgentConfig>, may_hire: Option<bool>) -> Self {
        let before = present.map_or_else(Vec::new, |config| values(config, may_hire));
        Self {
            form,
            before: before.into_iter().collect(),
        }
    }

    /// What was typed into a field, where that is another text than before.
    fn text(&self, name: &str) -> Option<String> {
        let typed = self.form.exact(name)?.trim().to_owned();
        let before = self.before.get(name).map_or("", String::as_str);
        (typed != before).then_some(typed)
    }
}

/// The body of the call that makes an agent, or changes the one that is stored.
///
/// # Errors
/// The first field that is not what it must be.
pub(in super::super) fn body(
    form: &Form,
    present: Option<&AgentConfig>,
    may_hire: Option<bool>,
) -> Result<Value, Problem> {
    let changed = Changed::new(form, present, may_hire);
    let mut body = adapter_change(&changed, present)?;
    for name in ["name", "role", "title", "capabilities", "reportsTo"] {
        let Some(text) = changed.text(name) else {
            continue;
        };
        let must_be = matches!(name, "name" | "role") && present.is_some();
        let value = match text.is_empty() && !must_be {
            true => Value::Null,
            false => json!(text),
        };
        body.insert(name.to_owned(), value);
    }
    if present.is_none() && !body.contains_key("name") {
        body.insert("name".to_owned(), json!(""));
    }
    if let Some(text) = changed.text(BUDGET) {
        let cents = match text.is_empty() {
            true => Some(0),
            false => cents(&text),
        };
        let message = "must be an amount in dollars, such as 90 or 90.50";
        body.insert(
            BUDGET.to_owned(),
            json!(cents.ok_or_else(|| fault(BUDGET, message))?),
        );
    }
    if let Some(text) = changed.text(PERMISSION).filter(|text| !text.is_empty()) {
        put(&mut body, PERMISSION, json!(text == "true"));
    }
    if !form.text("allowSameName").is_empty() {
        body.insert("allowSameName".to_owned(), json!(true));
    }
    if let Some(heartbeat) = heartbeat(&changed, present)? {
        put(&mut body, HEARTBEAT, Value::Object(heartbeat));
    }
    Ok(Value::Object(body))
}

/// The body of the call that checks the program.
///
/// # Errors
/// The first field that is not what it must be.
pub(in super::super) fn adapter_body(
    form: &Form,
    present: Option<&AgentConfig>,
) -> Result<Value, Problem> {
    let changed = Changed::new(form, present, None);
    let mut body = adapter_change(&changed, present)?;
    body.entry("adapterConfig").or_insert_with(|| json!({}));
    Ok(Value::Object(body))
}

fn adapter_change(
    changed: &Changed<'_>,
    present: Option<&AgentConfig>,
) -> Result<Map<String, Value>, Problem> {
    let mut body = Map::new();
    let adapter = adapter(changed.form);
    if let Some(text) = changed.text("adapterType") {
        body.insert("adapterType".to_owned(), json!(text));
    }
    for field in PARTS.iter().flat_map(|(_, fields)| fields.iter()) {
        if !field.name.starts_with(ADAPTER) || !field.is_of(adapter) {
            continue;
        }
        if let Some(text) = changed.text(field.name) {
            put(&mut body, field.name, field.value(&text)?);
        }
    }
    let env = env::change(changed.form, present)?;
    if !env.is_empty() {
        put(&mut body, "adapterConfig/env", Value::Object(env));
    }
    Ok(body)
}

/// The whole of what is said of its timer, since it is replaced as a whole; `None` where nothing
/// of it changes.
fn heartbeat(
    changed: &Changed<'_>,
    present: Option<&AgentConfig>,
) -> Result<Option<Map<String, Value>>, Problem> {
    let before = present.and_then(|config| config.runtime_config.get("heartbeat"));
    let mut heartbeat = match before {
        Some(Value::Object(heartbeat)) => heartbeat.clone(),
        _ => Map::new(),
    };
    let mut is_changed = false;
    for field in PARTS.iter().flat_map(|(_, fields)| fields.iter()) {
        let Some(key) = field.name.strip_prefix(HEARTBEAT) else {
            continue;
        };
        let key = key.trim_start_matches('/');
        let Some(text) = changed.text(field.name) else {
            continue;
        };
        is_changed = true;
        match field.value(&text)? {
            Value::Null => heartbeat.remove(key),
            value => heartbeat.insert(key.to_owned(), value),
        };
    }
    Ok(is_changed.then_some(heartbeat))
}
