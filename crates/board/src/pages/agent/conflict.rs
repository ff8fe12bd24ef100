//! Two people change one agent: what the second one sees, and what is sent next.

use workforce_domain::revision::AgentConfig;

use super::super::agent_form::{env_untouched, label, values};
use crate::form::Form;

/// A field that two people gave different values.
pub(super) struct Conflict {
    pub(super) name: String,
    pub(super) label: &'static str,
    pub(super) theirs: String,
    pub(super) yours: String,
}

/// A form after somebody else changed the agent.
pub(super) struct Merged {
    /// What was typed, over what is stored by now.
    pub(super) form: Form,
    pub(super) conflicts: Vec<Conflict>,
    /// Fields that others changed and that were left alone in the form.
    pub(super) taken: Vec<&'static str>,
    /// Whether somebody changed variables.
    pub(super) is_env_changed: bool,
}

/// Brings together what was typed on top of `base` and what is stored by now. Where both changed
/// a field, what was typed stays in the form and both are shown.
pub(super) fn merged(
    mut form: Form,
    base: Option<&AgentConfig>,
    present: &AgentConfig,
    may_hire: bool,
) -> Merged {
    let before = base.map(|config| values(config, Some(may_hire)));
    let before = |name: &str| {
        let found = before.iter().flatten().find(|(its, _)| its == name);
        found.map(|(_, value)| value.as_str())
    };
    let (mut conflicts, mut taken) = (Vec::new(), Vec::new());
    for (name, now) in values(present, Some(may_hire)) {
        let Some(typed) = form.exact(&name).filter(|_| !name.starts_with("env/")) else {
            continue;
        };
        let typed = typed.trim();
        if typed == now || before(&name) == Some(now.as_str()) {
            continue;
        }
        if before(&name) == Some(typed) {
            taken.push(word(&name));
            form = form.with(&name, &now);
        } else {
            conflicts.push(Conflict {
                label: word(&name),
                theirs: now,
                yours: typed.to_owned(),
                name,
            });
        }
    }
    let is_env_changed = base.is_none_or(|base| {
        base.adapter_config.get("env") != present.adapter_config.get("env")
            && !env_untouched(&form, present)
    });
    Merged {
        form,
        conflicts,
        taken,
        is_env_changed,
    }
}

/// What a field is called.
pub(super) fn word(name: &str) -> &'static str {
    match name {
        "name" => "Name",
        "title" => "Job title",
        "role" => "Role",
        "reportsTo" => "Manager",
        "capabilities" => "What it can do",
        "adapterType" => "Program",
        "budgetMonthlyCents" => "Limit of a month",
        "permissions/canCreateAgents" => "May hire",
        other => label(other).unwrap_or("Another field"),
    }
}
