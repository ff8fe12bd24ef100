//! What a run is told: who the agent is, the rules it works by, why it was
//! woken, and what to do next (docs/heartbeats.md#prompt).

mod comments;
mod condition;
mod draft;
mod facts;
mod fence;
mod next_steps;
mod reasons;
mod system_part;
mod template;
mod user_part;

use sha2::{Digest, Sha256};
use workforce_domain::execution_workspace::WorktreeFinding;
use workforce_domain::port::ClaimedRun;

pub use comments::{NewComment, NewComments, Writer};
pub use facts::{
    DecisionFacts, IssueFacts, IssueLine, IssueLines, MAX_CHILDREN, MAX_PARENTS, MAX_WAITING,
    PromptFacts, facts,
};

use crate::conventions::MAX_LAYER;

/// A prompt is at most so many bytes, both parts together.
pub const MAX_PROMPT: usize = 256 * 1024;
/// The entry file of the instructions takes at most so many of them.
pub const MAX_ENTRY_FILE: usize = 64 * 1024;
/// The description of the issue.
pub const MAX_DESCRIPTION: usize = 8 * 1024;
/// All comments, the newest first served.
pub const MAX_COMMENTS: usize = 16 * 1024;
/// One comment.
pub const MAX_COMMENT: usize = 4 * 1024;
/// The agent's own prompt template.
pub const MAX_TEMPLATE: usize = 32 * 1024;
/// What a former session hands over.
pub const MAX_HAND_OVER: usize = 16 * 1024;
/// The names of the files that an agent may read on.
const MAX_INDEX: usize = 8 * 1024;
/// What the board adds to a decision.
const MAX_NOTE: usize = 8 * 1024;
/// What the caller of a wake wants the agent to know.
const MAX_PAYLOAD: usize = 4 * 1024;
/// A title, a name or a label, none of which may be longer.
const MAX_LINE: usize = 2_000;
/// A path, or the name of a branch.
const MAX_PATH: usize = 1_024;
/// What is told of an issue in a line beside its title.
const BESIDE_TITLE: usize = 128;
/// The words of workforce itself, with the lines that stand once.
const MAX_WORDS: usize = 32 * 1024;

// The parts fit, so that the whole needs no cut of its own. Children are told
// of runs about an issue, and what waits to others.
const _: () = assert!(
    MAX_ENTRY_FILE
        + MAX_INDEX
        + MAX_LAYER
        + MAX_DESCRIPTION
        + MAX_COMMENTS
        + MAX_NOTE
        + MAX_PAYLOAD
        + MAX_HAND_OVER
        + MAX_TEMPLATE
        + (MAX_PARENTS + MAX_CHILDREN) * (MAX_LINE + BESIDE_TITLE)
        + MAX_WORDS
        <= MAX_PROMPT
        && MAX_WAITING <= MAX_CHILDREN
);

/// How an agent uses the interface, in Markdown. Every run finds it as
/// [`SKILL_FILE`].
pub const SKILL: &str = include_str!("skill.md");

/// The name of the file with [`SKILL`].
pub const SKILL_FILE: &str = "workforce.md";

/// The instructions of a run, as far as its prompt shows them.
#[derive(Clone, Copy, Debug)]
pub struct InstructionCopy<'a> {
    /// The folder of the copy.
    pub folder: &'a str,
    /// The path of the entry file within it.
    pub entry_file: &'a str,
    /// What the entry file holds.
    pub entry: &'a str,
    /// The paths of the other files within it.
    pub others: &'a [&'a str],
}

/// Where a run works.
#[derive(Clone, Copy, Debug)]
pub struct WorkingPlace<'a> {
    /// Its working directory.
    pub cwd: &'a str,
    /// The branch of the worktree.
    pub branch: Option<&'a str>,
    /// The branch that the work is merged into.
    pub base_branch: Option<&'a str>,
    /// What was found in the worktree.
    pub findings: &'a [WorktreeFinding],
}

/// All that a prompt is made from.
#[derive(Clone, Copy, Debug)]
pub struct PromptInput<'a> {
    /// The run, its wake, its agent and its company.
    pub claimed: &'a ClaimedRun,
    /// What the store tells beyond that.
    pub facts: &'a PromptFacts,
    /// The instructions; `None` for an agent without any.
    pub instructions: Option<InstructionCopy<'a>>,
    /// The path of the run's copy of [`SKILL`].
    pub skill: Option<&'a str>,
    /// What [`project_layer`](crate::conventions::project_layer) tells.
    pub project_layer: Option<&'a str>,
    /// Where the run works; `None` for one that works elsewhere than on this
    /// computer.
    pub place: Option<WorkingPlace<'a>>,
    /// The agent's own `promptTemplate`.
    pub template: Option<&'a str>,
    /// What a former session of the agent hands over to a new one.
    pub hand_over: Option<&'a str>,
    /// Whether the program goes on with a session that it kept, so that it knows
    /// the system part already.
    pub resumed: bool,
}

/// What a run is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Who the agent is and the rules it works by, for the system prompt.
    pub system: String,
    /// Why it was woken and what to do.
    pub user: String,
    /// Whether something was left out; the text says where.
    pub cut: bool,
    /// The placeholders of the template that mean nothing, the first of them.
    pub unknown_placeholders: Vec<String>,
}

impl Prompt {
    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.system.len() + self.user.len()
    }

    /// True for a prompt without any text.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// SHA-256 of both parts in lower-case hexadecimal.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        // The length keeps the two parts apart.
        hash.update(self.system.len().to_be_bytes());
        hash.update(&self.system);
        hash.update(&self.user);
        data_encoding::HEXLOWER.encode(&hash.finalize())
    }

    /// Both parts in one text, for a program that takes no system prompt.
    pub fn joined(&self) -> String {
        format!("{}\n{}", self.system, self.user)
    }
}

/// Writes the prompt of a run. The user's part begins with why the agent was
/// woken, in a session that goes on too.
pub fn compose(input: &PromptInput<'_>) -> Prompt {
    let system = system_part::write(input);
    let user = user_part::write(input);
    let (task, unknown_placeholders) = template::fill(input);
    let mut last = user;
    last.section("your task");
    last.push_fenced(&task);
    Prompt {
        cut: system.is_cut() || last.is_cut(),
        system: system.into_text(),
        user: last.into_text(),
        unknown_placeholders,
    }
}
