//! The prompt of a run, for whoever is told it (docs/heartbeats.md#prompt).

use workforce_app::prompt::{
    self, InstructionCopy, Prompt, PromptFacts, PromptInput, WorkingPlace,
};
use workforce_domain::run::PromptDigest;

use crate::run_context::RunContext;

/// What the prompt of a run depends on beside the run.
#[derive(Clone, Copy)]
pub(super) struct PromptTerms<'a> {
    /// The agent's own `promptTemplate`.
    pub(super) template: Option<&'a str>,
    /// The working directory; `None` for an agent elsewhere, which can read no file
    /// of this computer.
    pub(super) cwd: Option<&'a str>,
    /// What a former session hands over to a new one.
    pub(super) hand_over: Option<&'a str>,
    /// Whether a session goes on.
    pub(super) is_resumed: bool,
}

/// Composes the prompt of a run.
pub(super) fn compose(context: &RunContext, facts: &PromptFacts, terms: PromptTerms<'_>) -> Prompt {
    let copy = context.copy.as_ref();
    let readable = copy.filter(|_| terms.cwd.is_some());
    let folder = copy.map(|copy| copy.folder.to_string_lossy());
    let skill = readable.map(|copy| copy.skill.to_string_lossy());
    let others: Vec<&str> = readable
        .iter()
        .flat_map(|copy| copy.others.iter().map(String::as_str))
        .collect();
    let instructions = copy
        .zip(folder.as_deref())
        .map(|(copy, folder)| InstructionCopy {
            folder,
            entry_file: &copy.entry_name,
            entry: &copy.entry_text,
            others: &others,
        });
    let worktree = context.worktree.as_ref();
    let prompt = prompt::compose(&PromptInput {
        claimed: &context.claimed,
        facts,
        instructions,
        skill: skill.as_deref(),
        project_layer: context.project_layer.as_deref(),
        place: terms.cwd.map(|cwd| WorkingPlace {
            cwd,
            branch: worktree.map(|it| it.record.branch.as_str()),
            base_branch: worktree.map(|it| it.record.base_branch.as_str()),
            findings: worktree.map_or(&[], |it| &it.findings),
        }),
        template: terms.template,
        hand_over: terms.hand_over,
        resumed: terms.is_resumed,
    });
    for name in &prompt.unknown_placeholders {
        tracing::warn!(run = %context.claimed.run.id, name, "a prompt template names nothing");
    }
    prompt
}

/// The prompt as the log shows it.
pub(super) fn preamble(context: &RunContext, prompt: &Prompt) -> String {
    let text = prompt.joined();
    let text = context.patterns.scrub(&text).unwrap_or(text);
    format!(
        "[prompt: {} bytes, sha256 {}]\n{text}\n[end of the prompt]\n",
        prompt.len(),
        prompt.digest()
    )
}

/// The prompt as the run shows it.
pub(super) fn digest(prompt: &Prompt) -> PromptDigest {
    PromptDigest {
        sha256: prompt.digest(),
        bytes: i32::try_from(prompt.len()).unwrap_or(i32::MAX),
    }
}
