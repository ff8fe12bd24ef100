//! The APIs of models.

mod anthropic;
mod chat;
mod gemini;
mod refusal;
mod responses;

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, Event, Written};
use crate::conversation::Transcript;
use crate::ids::Ids;
use crate::step::ErrorKind;

/// An API of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Messages of Anthropic.
    Anthropic,
    /// Responses of OpenAI.
    Responses,
    /// Chat Completions of OpenAI.
    Chat,
    /// Generate Content of Google.
    Gemini,
}

/// A refusal in the form of an API.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Api {
    /// What the request says so far.
    pub(crate) fn read(self, body: &Value) -> Transcript {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// The messages of the request, as they came.
    pub(crate) fn messages(self, body: &Value) -> &Value {
        match self {
            Self::Anthropic | Self::Chat => &body["messages"],
            Self::Responses => &body["input"],
            Self::Gemini => &body["contents"],
        }
    }

    /// The JSON schema that the answer must obey, where the request asks for one.
    pub(crate) fn wanted_schema(self, body: &Value) -> Option<&Value> {
        let schema = match self {
            Self::Anthropic => match &body["output_format"]["schema"] {
                Value::Null => &body["output_config"]["format"]["schema"],
                schema => schema,
            },
            Self::Responses => &body["text"]["format"]["schema"],
            Self::Chat => &body["response_format"]["json_schema"]["schema"],
            Self::Gemini => return gemini::wanted_schema(body),
        };
        (!schema.is_null()).then_some(schema)
    }

    pub(crate) fn write(self, answer: &Answer<'_>) -> Written {
        match self {
            Self::Anthropic => anthropic::write(answer),
            Self::Responses => responses::write(answer),
            Self::Chat => chat::write(answer),
            Self::Gemini => gemini::write(answer),
        }
    }

    /// A refusal. One for a while names the time in the body too, as far as the
    /// API does so.
    pub(crate) fn refuse(self, kind: ErrorKind, wait: Option<Duration>) -> Refusal {
        match self {
            Self::Anthropic => refusal::of_anthropic(kind, wait),
            Self::Responses | Self::Chat => refusal::of_openai(kind, wait),
            Self::Gemini => refusal::of_gemini(kind),
        }
    }

    /// The events that tell a refusal within a stream, where the API tells it so.
    pub(crate) fn refuse_in_stream(self, kind: ErrorKind, ids: &Ids) -> Option<Vec<Event>> {
        let is_told = self == Self::Responses && kind == ErrorKind::Context;
        is_told.then(|| responses::failure(&self.refuse(kind, None).body["error"], ids))
    }

    /// The answer to a request that only asks how many tokens it has.
    pub(crate) fn count(self, tokens: usize) -> Value {
        match self {
            Self::Gemini => serde_json::json!({"totalTokens": tokens}),
            _ => serde_json::json!({"input_tokens": tokens}),
        }
    }
}
