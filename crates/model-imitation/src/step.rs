//! What is played for one call of the model.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::step_form::StepForm;

/// What is played for one call of the model.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "StepForm", into = "StepForm")]
pub enum Step {
    /// The model answers.
    Reply(Reply),
    /// The API refuses the request.
    Failure(Failure),
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

impl From<Failure> for Step {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub(crate) text: String,
    pub(crate) commands: Vec<String>,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) thinking: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) pace: Pace,
}

impl Reply {
    /// A final answer. In its text `{turn}` stands for the number of the turn, `{prompts}` for all
    /// prompts of the session, joined with " | ", and `{result}` for the last result of a tool; a
    /// prompt is cut after 200 characters, a result after 300.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A call of the program's shell tool.
    #[must_use]
    pub fn shell(command: impl Into<String>) -> Self {
        Self::shells([command])
    }

    /// Several calls of the program's shell tool in one answer.
    #[must_use]
    pub fn shells(commands: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            commands: commands.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Says something before the calls; as in [`text`](Self::text).
    #[must_use]
    pub fn say(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Gives each call more arguments, those of them that the tool knows.
    #[must_use]
    pub fn arguments<'a>(mut self, more: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let more = more
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        self.arguments.extend(more);
        self
    }

    /// Puts a block of reasoning before all else.
    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.thinking = text.into();
        self
    }

    /// Reports this usage; 100 tokens of input and 10 of output unless told otherwise.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.pace.delay = delay;
        self
    }

    /// Waits after each event of a stream.
    #[must_use]
    pub fn chunk_delay(mut self, delay: Duration) -> Self {
        self.pace.chunk_delay = delay;
        self
    }

    /// Is silent for so long in the middle of a stream.
    #[must_use]
    pub fn hangs(mut self, silence: Duration) -> Self {
        self.pace.hang = silence;
        self
    }

    /// Cuts the connection in the middle of a stream.
    #[must_use]
    pub fn drops(mut self) -> Self {
        self.pace.drop = true;
        self
    }
}

/// A refusal of the API.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) times: Option<u32>,
    pub(crate) retry_after: Option<Duration>,
}

impl Failure {
    /// Refuses every request of this step.
    #[must_use]
    pub const fn of(kind: ErrorKind) -> Self {
        Self {
            kind,
            times: None,
            retry_after: None,
        }
    }

    /// Refuses the first `times` requests only, then the next step is played.
    #[must_use]
    pub const fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Tells the client when to try again, in whole seconds.
    #[must_use]
    pub const fn retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time);
        self
    }
}

/// Why the API refuses. Each API has its own status and text for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The key is not valid.
    Auth,
    /// Too many requests in a short time.
    RateLimit,
    /// No money is left.
    Quota,
    /// The service has too much to do.
    Overloaded,
    /// The service broke.
    Server,
    /// The conversation is longer than the model can read.
    Context,
    /// This HTTP status, with the body of [`ErrorKind::Server`].
    #[serde(untagged)]
    Status(u16),
}

/// The tokens that an answer reports, before each API makes its own sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Read afresh, without what came from or went into the cache.
    pub input: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Written into the cache.
    pub cache_write: u64,
    /// Written, with the reasoning.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// What a reply reports that was given no usage.
    pub(crate) const USUAL: Self = Self {
        input: 100,
        cached: 0,
        cache_write: 0,
        output: 10,
        reasoning: 0,
    };

    /// All that was read.
    pub(crate) const fn prompt(&self) -> u64 {
        self.input + self.cached + self.cache_write
    }

    pub(crate) const fn total(&self) -> u64 {
        self.prompt() + self.output
    }
}

/// How fast an answer is sent, and whether it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    pub(crate) delay: Duration,
    pub(crate) chunk_delay: Duration,
    pub(crate) hang: Duration,
    pub(crate) drop: bool,
}
