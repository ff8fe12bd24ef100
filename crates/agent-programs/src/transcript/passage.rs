use serde_json::Value;

use crate::output::json::amount;
use crate::usage::{MicroCents, TokenUsage};

/// Something that a program's output tells people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// What the agent was told.
    Told(String),
    /// What it said.
    Said(String),
    /// What it thought.
    Thought(String),
    /// A tool it called.
    Called(Call),
    /// The answer to a call that is not among the passages.
    Answered(Reply),
    /// What was used until then, or since the last time, as the program counts.
    Used(Usage),
    /// What the program says about its own work, such as that it tries again.
    Noted(String),
    /// What went wrong.
    Failed(String),
    /// A line that was not understood.
    Raw(String),
}

/// The call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub(super) id: String,
    /// The name of the tool.
    pub tool: String,
    /// What it is about, in one line.
    pub about: String,
    /// All that it was called with.
    pub input: String,
    /// What came of it; `None` as long as that is not told.
    pub reply: Option<Reply>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What the agent was answered.
    pub text: String,
    /// Whether the call failed.
    pub has_failed: bool,
}

/// What was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The tokens.
    pub tokens: TokenUsage,
    /// What they cost, where the program tells that.
    pub cost: Option<MicroCents>,
}

/// The fields of an input that say best what a call is about.
const TELLING: [&str; 9] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "description",
];

impl Call {
    pub(super) fn new(id: &str, tool: &str, input: &Value) -> Self {
        let telling = TELLING.iter().find_map(|name| input.get(name)?.as_str());
        let is_all = input.as_object().is_some_and(|fields| fields.len() == 1);
        let input = match telling {
            Some(text) if is_all => text.to_owned(),
            _ => serde_json::to_string_pretty(input).unwrap_or_default(),
        };
        let about = telling.map_or_else(|| input.clone(), str::to_owned);
        Self {
            id: id.to_owned(),
            tool: tool.to_owned(),
            about: about.lines().next().unwrap_or_default().to_owned(),
            input,
            reply: None,
        }
    }
}

impl Usage {
    /// The counts at these pointers: fresh input, cache reads, cache writes, and all parts of the
    /// output. `None` where there is no count of the input.
    pub(super) fn read(
        value: &Value,
        [input, cached_read, cached_write]: [&str; 3],
        output: &[&str],
    ) -> Option<Self> {
        let count = |pointer: &&str| value.pointer(pointer).and_then(Value::as_u64);
        let tokens = TokenUsage {
            input: count(&input)?,
            cached_read: count(&cached_read).unwrap_or(0),
            cached_write: count(&cached_write).unwrap_or(0),
            output: output.iter().filter_map(count).fold(0, u64::saturating_add),
        };
        Some(Self { tokens, cost: None })
    }

    /// With a cost in dollars.
    pub(super) fn costing(mut self, dollars: Option<&Value>) -> Self {
        self.cost = dollars.and_then(amount);
        self
    }
}
