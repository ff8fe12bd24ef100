//! The answer to a call of the model.

use serde_json::{Value, json};

use super::{Content, Played, Stage};
use crate::answer::{Answer, Written};
use crate::api::Api;
use crate::choice::{Choice, Seen, choose};
use crate::conversation::{Conversation, list};
use crate::ids::Ids;
use crate::log::{Kind, LoggedRequest, Message, ModelCall};
use crate::request::Incoming;
use crate::step::{Failure, Reply, Step, Usage};
use crate::tools::{self, Tool, example};

/// How much of a prompt and of a result an answer repeats, in characters.
const REPEATED_PROMPT: usize = 200;
const REPEATED_RESULT: usize = 300;

/// What a path says of a call; in other APIs the body says it.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) model: &'a str,
    pub(super) is_stream: bool,
}

impl Stage {
    pub(super) fn call(
        &self,
        api: Api,
        named: Option<Named<'_>>,
        request: &Incoming,
        entry: &mut LoggedRequest,
    ) -> Played {
        let played = self.try_call(api, named, request, entry);
        played.unwrap_or_else(|error| {
            entry.kind = Kind::NotUnderstood;
            let message = format!("not understood: {error}");
            let error = json!({"message": message, "type": "invalid_request_error"});
            Played::json(400, json!({"error": error}))
        })
    }

    fn try_call(
        &self,
        api: Api,
        named: Option<Named<'_>>,
        request: &Incoming,
        entry: &mut LoggedRequest,
    ) -> serde_json::Result<Played> {
        let body: Value = serde_json::from_slice(&request.body)?;
        let call = Call::of(api, named, &body);
        let log = entry.call.insert(call.logged());
        let seen = Seen {
            conversation: &call.conversation,
            model: call.model,
            key: request.key(),
            has_shell: call.shell().is_some(),
        };
        let choice = self.with(|memory| choose(&memory.script, &mut memory.failures, &seen))?;
        let is_side = matches!(choice, Choice::Side(_));
        let (index, step) = choice.into_parts();
        log.step = index;
        let mut reply = match step {
            Step::Reply(reply) => reply,
            Step::Failure(failure) => {
                entry.kind = Kind::Error;
                log.error = Some(failure.kind);
                return Ok(self.fail(&call, failure));
            }
        };
        entry.kind = if is_side { Kind::Side } else { Kind::Step };
        if is_side && let Some(schema) = api.wanted_schema(&body) {
            reply.text = example(schema).to_string();
        }
        log.usage = Some(usage_of(&reply));
        let written = call.answered(&reply, &self.ids);
        Ok(Played {
            pace: reply.pace,
            content: if call.is_stream {
                Content::Events(written.events)
            } else {
                Content::Json(written.whole)
            },
            ..Played::json(200, Value::Null)
        })
    }

    fn fail(&self, call: &Call<'_>, failure: Failure) -> Played {
        let events = call.api.refuse_in_stream(failure.kind, &self.ids);
        if let Some(events) = events.filter(|_| call.is_stream) {
            return Played {
                content: Content::Events(events),
                ..Played::json(200, Value::Null)
            };
        }
        let refusal = call.api.refuse(failure.kind, failure.retry_after);
        Played {
            retry_after: failure.retry_after,
            ..Played::json(refusal.status, refusal.body)
        }
    }
}

/// A call of the model, as far as a script cares.
struct Call<'a> {
    api: Api,
    model: &'a str,
    is_stream: bool,
    messages: &'a Value,
    system: String,
    conversation: Conversation,
    tools: Vec<Tool>,
}

impl<'a> Call<'a> {
    fn of(api: Api, named: Option<Named<'a>>, body: &'a Value) -> Self {
        let transcript = api.read(body);
        let Named { model, is_stream } = named.unwrap_or_else(|| Named {
            model: body["model"].as_str().unwrap_or_default(),
            is_stream: body["stream"] == true,
        });
        Self {
            api,
            model,
            is_stream,
            messages: api.messages(body),
            system: transcript.system,
            conversation: Conversation::of(transcript.entries),
            tools: tools::offered(body),
        }
    }

    fn shell(&self) -> Option<&Tool> {
        tools::shell(&self.tools)
    }

    fn logged(&self) -> ModelCall {
        ModelCall {
            api: self.api,
            model: self.model.to_owned(),
            is_stream: self.is_stream,
            messages: messages(self.messages),
            prompts: self.conversation.prompts.clone(),
            system: self.system.clone(),
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            shell_tool: self.shell().map(|tool| tool.name.clone()),
            last_result: self.conversation.last_result().to_owned(),
            step: None,
            error: None,
            usage: None,
        }
    }

    fn answered(&self, reply: &Reply, ids: &Ids) -> Written {
        let calls = self.shell().into_iter().flat_map(|tool| {
            let commands = reply.commands.iter();
            commands.map(move |command| (tool, tool.running(command, &reply.arguments)))
        });
        self.api.write(&Answer {
            text: filled_in(&reply.text, &self.conversation),
            thinking: &reply.thinking,
            calls: calls.collect(),
            usage: usage_of(reply),
            model: self.model,
            ids,
        })
    }
}

fn usage_of(reply: &Reply) -> Usage {
    reply.usage.unwrap_or(Usage::USUAL)
}

/// `text` with what stands in it for parts of the conversation.
fn filled_in(text: &str, conversation: &Conversation) -> String {
    let prompts = conversation.prompts.iter();
    let prompts: Vec<String> = prompts
        .map(|it| first_letters(it, REPEATED_PROMPT))
        .collect();
    let result = first_letters(conversation.last_result(), REPEATED_RESULT);
    let text = text.replace("{turn}", &prompts.len().to_string());
    let text = text.replace("{prompts}", &prompts.join(" | "));
    text.replace("{result}", &result)
}

fn messages(listed: &Value) -> Vec<Message> {
    let one = std::slice::from_ref(listed);
    let listed = if listed.is_string() {
        one
    } else {
        list(listed)
    };
    let of_one = |message: &Value| Message {
        role: message["role"]
            .as_str()
            .or(message["type"].as_str())
            .unwrap_or_default()
            .to_owned(),
        bytes: message.to_string().len(),
    };
    listed.iter().map(of_one).collect()
}

fn first_letters(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}
