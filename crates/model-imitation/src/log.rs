//! What the imitation was asked.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::api::Api;
use crate::step::{ErrorKind, Usage};

/// A request that came in, and how it was answered.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// Its number since the start of the imitation, from 1.
    pub number: usize,
    /// When it came, since the start of the imitation.
    #[serde(serialize_with = "as_seconds")]
    pub at: Duration,
    /// What it was taken for.
    pub kind: Kind,
    /// The HTTP method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// Every header, with its name in lower case; "***" stands for the value of a credential.
    pub headers: BTreeMap<String, String>,
    /// The last four characters of the API key.
    pub key: String,
    /// The length of the body.
    pub bytes: usize,
    /// The HTTP status of the answer.
    pub status: u16,
    /// What the model was asked, when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<ModelCall>,
    /// The body of a request to the sink.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Why the answer did not end, when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// What a request was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A call of the model for which a step of the script was played.
    Step,
    /// A call of the model that is none of the agent's turns: a title, a summary, a routing.
    Side,
    /// A call of the model that was refused, as the script or a bad key wants it.
    Error,
    /// A question how many tokens a call has.
    Count,
    /// A question for the list of models.
    Models,
    /// An attempt to talk by WebSocket, which is refused.
    WebSocket,
    /// A request to `/imitation/sink/...`, as scripted commands make.
    Sink,
    /// A call of the model that could not be understood.
    NotUnderstood,
    /// Anything else.
    Unknown,
}

/// What the model was asked.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ModelCall {
    /// The API of the request.
    pub api: Api,
    /// The model's name.
    pub model: String,
    /// Whether the answer was to be streamed.
    pub is_stream: bool,
    /// Every message of the conversation, as it came.
    pub messages: Vec<Message>,
    /// What the user asked for in this session so far; the last is what it is about now. What a
    /// program adds in the user's role by itself is left out.
    pub prompts: Vec<String>,
    /// The system prompt.
    pub system: String,
    /// The names of the tools that the model may call.
    pub tools: Vec<String>,
    /// The one of them that runs commands.
    pub shell_tool: Option<String>,
    /// What a tool gave back last in this turn; empty before it did.
    pub last_result: String,
    /// Which step of its rule was played, from 0.
    pub step: Option<usize>,
    /// What was refused.
    pub error: Option<ErrorKind>,
    /// The usage that was reported.
    pub usage: Option<Usage>,
}

impl ModelCall {
    /// Which prompt of the session it is about, from 1.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.prompts.len()
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Its role; the type of its item where it has none.
    pub role: String,
    /// Its length as JSON.
    pub bytes: usize,
}

/// Why an answer did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The script wanted it.
    Dropped,
    /// The client went away.
    ClientGone,
}

fn as_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
