//! What is stored of an agent, as the texts that stand in the form.

use serde_json::Value;
use workforce_app::masking::masked;
use workforce_domain::Document;
use workforce_domain::revision::AgentConfig;
use workforce_domain::string_enum::StringEnum as _;

use super::env;
use super::fields::PARTS;
use crate::form::Form;
use crate::html::money::typed;

/// Whether it may hire, which is no part of the configuration.
pub(super) const PERMISSION: &str = "permissions/canCreateAgents";

/// The texts that stand in the form for a configuration; nothing of them is a credential.
pub(in super::super) fn values(
    config: &AgentConfig,
    may_hire: Option<bool>,
) -> Vec<(String, String)> {
    let text = |text: Option<String>| text.unwrap_or_default();
    let mut values = vec![
        ("name", config.name.to_string()),
        (
            "title",
            text(config.title.as_ref().map(ToString::to_string)),
        ),
        ("role", config.role.to_string()),
        (
            "reportsTo",
            text(config.reports_to.map(|id| id.to_string())),
        ),
        (
            "capabilities",
            text(config.capabilities.as_ref().map(ToString::to_string)),
        ),
        ("adapterType", config.adapter_type.as_str().to_owned()),
        ("budgetMonthlyCents", typed(config.budget_monthly_cents)),
    ];
    values.extend(may_hire.map(|may| (PERMISSION, may.to_string())));
    let mut values: Vec<_> = values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let shown = masked(config.adapter_config.clone());
    for field in PARTS.iter().flat_map(|(_, fields)| fields.iter()) {
        let found = at(&shown, &config.runtime_config, field.name);
        let text = found.map_or_else(String::new, |value| field.text(value));
        values.push((field.name.to_owned(), text.trim().to_owned()));
    }
    values.extend(env::values(config));
    values
}

/// What stands at the place that the name of a field tells.
fn at<'a>(adapter: &'a Document, runtime: &'a Document, name: &str) -> Option<&'a Value> {
    let (document, place) = name.split_once('/')?;
    let document = match document {
        "adapterConfig" => adapter,
        _ => runtime,
    };
    let mut names = place.split('/');
    let first = document.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// Whether the environment in the form is the one that is stored.
pub(in super::super) fn env_untouched(form: &Form, config: &AgentConfig) -> bool {
    env::change(form, Some(config)).is_ok_and(|change| change.is_empty())
}
