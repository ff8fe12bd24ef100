//! What differs between two configurations of an agent, in words, without any credential.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use workforce_app::masking::masked;
use workforce_domain::revision::AgentConfig;
use workforce_domain::secret::REDACTED;

use super::super::agent_form::{INLINE, described};
use super::conflict::word;
use crate::html::people::Staff;

/// So much of a value is shown.
const SHOWN: usize = 300;
/// As deep as values are taken apart.
const DEPTH: usize = 3;

/// A value that changed.
pub(super) struct Difference {
    pub(super) what: String,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

/// A value, and how it is shown.
struct Entry {
    value: Value,
    shown: String,
}

/// What differs between two configurations.
pub(super) fn differences(
    before: Option<&AgentConfig>,
    after: &AgentConfig,
    staff: &Staff,
) -> Vec<Difference> {
    let old = before.map_or_else(BTreeMap::new, |config| entries(config, staff));
    let new = entries(after, staff);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        if was.map(|it| &it.value) == is.map(|it| &it.value) {
            continue;
        }
        let old = was.map(|it| it.shown.clone());
        let mut new = is.map(|it| it.shown.clone());
        // Both are hidden, and not the same.
        if old.is_some() && old == new {
            new = new.map(|shown| format!("another: {shown}"));
        }
        found.push(Difference {
            what: called(name),
            old,
            new,
        });
    }
    found
}

/// What a value is called.
fn called(name: &str) -> String {
    if let Some(variable) = name.strip_prefix("adapterConfig/env/") {
        return format!("Variable {variable}");
    }
    match (name, word(name)) {
        ("instructions/version", _) => "Version of its files".to_owned(),
        ("instructions/entryFile", _) => "First file".to_owned(),
        ("instructions/mode", _) => "Instructions".to_owned(),
        ("instructions/rootPath", _) => "Folder of the files".to_owned(),
        (name, "Another field") => name.replace('/', " "),
        (_, word) => word.to_owned(),
    }
}

/// All values of a configuration by their places.
fn entries(config: &AgentConfig, staff: &Staff) -> BTreeMap<String, Entry> {
    let mut hidden = config.clone();
    hidden.adapter_config = masked(hidden.adapter_config);
    let (plain, hidden) = (json(config), json(&hidden));
    let mut entries = BTreeMap::new();
    flatten("", &plain, &hidden, 0, &mut entries);
    if let (Some(entry), Some(manager)) = (entries.get_mut("reportsTo"), config.reports_to) {
        entry.shown = staff.agent(manager).name;
    }
    if let Some(entry) = entries.get_mut("budgetMonthlyCents") {
        entry.shown = match config.budget_monthly_cents {
            0 => "no limit".to_owned(),
            cents => format!("${}.{:02}", cents / 100, cents % 100),
        };
    }
    entries
}

fn json(config: &AgentConfig) -> Value {
    serde_json::to_value(config).unwrap_or_default()
}

fn flatten(
    at: &str,
    plain: &Value,
    hidden: &Value,
    depth: usize,
    entries: &mut BTreeMap<String, Entry>,
) {
    let is_variable = at.starts_with("adapterConfig/env/");
    if let (Value::Object(members), false) = (plain, is_variable || depth > DEPTH) {
        for (name, value) in members {
            let place = match at {
                "" => name.clone(),
                at => format!("{at}/{name}"),
            };
            let hidden = hidden.get(name).unwrap_or(&Value::Null);
            flatten(&place, value, hidden, depth + 1, entries);
        }
        return;
    }
    if plain.is_null() {
        return;
    }
    let shown = match hidden {
        // No value of a variable is shown, whatever the variable is called.
        _ if is_variable => described(plain),
        Value::String(text) if text == REDACTED => INLINE.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let entry = Entry {
        value: plain.clone(),
        shown: cut(shown),
    };
    entries.insert(at.to_owned(), entry);
}

fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or_default();
            format!("{shown} …")
        }
    }
}
