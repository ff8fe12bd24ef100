//! The form for how an agent is set up: what it is called, and what its program is given.

mod body;
mod env;
mod fields;
mod findings;
mod inputs;
mod values;

use workforce_app::agents::AgentView;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::AgentId;
use workforce_domain::revision::AgentConfig;
use workforce_domain::secret::Secret;
use workforce_domain::string_enum::StringEnum as _;

pub(super) use body::{adapter_body, body};
pub(super) use env::{INLINE, described, inline_names, is_inline_value};
pub(crate) use fields::label;
pub(super) use findings::{Findings, by_field};
pub(super) use values::{env_untouched, values};

use super::new_issue::{Colleague, colleagues};
use crate::form::{Filled, Form};
use env::EnvRow;
use inputs::{Choice, Part, parts};

/// The programs, those first that most people have.
const PROGRAMS: [(AdapterType, &str); 8] = [
    (AdapterType::ClaudeLocal, "Claude Code"),
    (AdapterType::CodexLocal, "Codex"),
    (AdapterType::GeminiLocal, "Gemini"),
    (AdapterType::OpencodeLocal, "OpenCode"),
    (AdapterType::Cursor, "Cursor"),
    (AdapterType::PiLocal, "Pi"),
    (AdapterType::Process, "Any command"),
    (AdapterType::Http, "A service over HTTP"),
];

/// What people call a program.
pub(crate) fn program_word(adapter: AdapterType) -> &'static str {
    let mut programs = PROGRAMS.iter();
    let found = programs.find(|(known, _)| *known == adapter);
    found.map_or(adapter.as_str(), |(_, word)| word)
}

/// The program that a form names; the first one where it names none.
pub(super) fn adapter(form: &Form) -> AdapterType {
    AdapterType::parse(form.text("adapterType")).unwrap_or(AdapterType::ClaudeLocal)
}

/// What the form shows.
pub(super) struct AgentForm {
    pub(super) programs: Vec<Choice>,
    pub(super) managers: Vec<Colleague>,
    pub(super) parts: Vec<Part>,
    pub(super) env: Vec<EnvRow>,
    pub(super) secrets: Vec<(String, String)>,
    /// What the last check found.
    pub(super) findings: Option<Findings>,
}

impl AgentForm {
    pub(super) fn new(
        filled: &Filled,
        agents: &[AgentView],
        own: Option<AgentId>,
        secrets: &[Secret],
        present: Option<&AgentConfig>,
        findings: Option<Findings>,
    ) -> Self {
        let adapter = adapter(filled.form());
        let mut managers = colleagues(agents);
        managers.retain(|it| own.is_none_or(|own| it.id != own.to_string()));
        let programs = PROGRAMS.iter().map(|(program, word)| Choice {
            value: program.as_str(),
            word,
            is_chosen: *program == adapter,
        });
        Self {
            programs: programs.collect(),
            managers,
            parts: parts(filled, adapter, findings.as_ref()),
            env: env::rows(filled, present),
            secrets: secrets
                .iter()
                .map(|it| (it.id.to_string(), it.name.to_string()))
                .collect(),
            findings,
        }
    }
}
