//! What the output of a program tells people: a line of it becomes passages to read.
//!
//! A line that is not understood is a passage as it was written, so nothing gets lost when a
//! program learns new ones.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod passage;
mod pi;

use serde_json::Value;

pub use passage::{Call, Passage, Reply, Usage};

use crate::program::AgentProgram;

/// A passage, and the mark of the line that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// What the caller named the line.
    pub mark: u64,
    /// What it tells.
    pub passage: Passage,
}

/// Reads lines of a program's output into passages, in order.
pub struct Transcript {
    program: AgentProgram,
    /// What was read so far.
    passages: Vec<Marked>,
    /// A text that comes in pieces. Most programs tell it once more when it is whole.
    begun: Option<(u64, String)>,
    mark: u64,
}

impl Transcript {
    /// Of the output of this program.
    #[must_use]
    pub const fn of(program: AgentProgram) -> Self {
        Self {
            program,
            passages: Vec::new(),
            begun: None,
            mark: 0,
        }
    }

    /// Reads a line, without its line break.
    pub fn line(&mut self, mark: u64, line: &str) {
        self.mark = mark;
        if line.trim().is_empty() {
            return;
        }
        let event = line.trim_start().starts_with('{').then_some(line);
        let event: Option<Value> = event.and_then(|line| serde_json::from_str(line).ok());
        let read = match self.program {
            AgentProgram::Claude | AgentProgram::Cursor => claude::read,
            AgentProgram::Codex => codex::read,
            AgentProgram::Gemini => gemini::read,
            AgentProgram::Opencode => opencode::read,
            AgentProgram::Pi => pi::read,
        };
        let is_read = event.is_some_and(|event| read(self, &event).is_some());
        if !is_read {
            self.put(Passage::Raw(line.to_owned()));
        }
    }

    /// The passages; a text that was begun and not told as a whole is the last.
    #[must_use]
    pub fn finish(mut self) -> Vec<Marked> {
        self.end_text();
        self.passages
    }

    fn put(&mut self, passage: Passage) {
        self.end_text();
        let mark = self.mark;
        self.passages.push(Marked { mark, passage });
    }

    /// A piece of a text.
    fn piece(&mut self, text: &str) {
        let begun = self.begun.get_or_insert_with(|| (self.mark, String::new()));
        begun.1.push_str(text);
    }

    /// The text of the pieces is told as a whole now.
    fn forget_text(&mut self) {
        self.begun = None;
    }

    fn end_text(&mut self) {
        if let Some((mark, text)) = self.begun.take()
            && !text.is_empty()
        {
            let passage = Passage::Said(text);
            self.passages.push(Marked { mark, passage });
        }
    }

    fn says(&mut self, text: &str) {
        if !text.is_empty() {
            self.put(Passage::Said(text.to_owned()));
        }
    }

    fn thinks(&mut self, text: &str) {
        if !text.is_empty() {
            self.put(Passage::Thought(text.to_owned()));
        }
    }

    /// What went wrong, also where the agent said it just now.
    fn fails(&mut self, why: String) {
        self.end_text();
        let said = Passage::Said(why);
        self.passages.pop_if(|last| last.passage == said);
        if let Passage::Said(why) = said {
            self.put(Passage::Failed(why));
        }
    }

    /// A call of a tool, unless it was told before.
    fn calls(&mut self, id: &str, tool: &str, input: &Value) {
        if id.is_empty() || self.call(id).is_none() {
            self.put(Passage::Called(Call::new(id, tool, input)));
        }
    }

    /// What came of a call; by itself when the call was not read. A second answer is the first
    /// one told again.
    fn answered(&mut self, id: &str, text: String, has_failed: bool) {
        let reply = Reply { text, has_failed };
        match self.call(id) {
            Some(call) => call.reply = Some(call.reply.take().unwrap_or(reply)),
            None => self.put(Passage::Answered(reply)),
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut Call> {
        let calls = self.passages.iter_mut().rev();
        calls
            .filter_map(|marked| match &mut marked.passage {
                Passage::Called(call) => Some(call),
                _ => None,
            })
            .find(|call| call.id == id)
    }
}

/// The text at a pointer; empty where there is none.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// The list at a pointer; empty where there is none.
fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// A text that may also be written as a list of parts; anything else as JSON.
fn joined(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().map(|part| match part.get("text") {
                Some(Value::String(text)) => text.clone(),
                _ => part.to_string(),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(other) => other.to_string(),
    }
}
