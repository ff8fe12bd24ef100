//! A step as JSON.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::step::{ErrorKind, Failure, Pace, Reply, Step, Usage};

/// The fields of every kind of step. Times are in seconds.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StepForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<Commands>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    say: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    thinking: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "is_zero")]
    delay: f64,
    #[serde(skip_serializing_if = "is_zero")]
    chunk_delay: f64,
    #[serde(skip_serializing_if = "is_zero")]
    hang: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    drop: bool,
}

/// One command, or several that are called at once.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Commands {
    One(String),
    Many(Vec<String>),
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl TryFrom<StepForm> for Step {
    type Error = String;

    fn try_from(form: StepForm) -> Result<Self, String> {
        let time = |seconds| Duration::try_from_secs_f64(seconds).map_err(|it| it.to_string());
        let (commands, text) = match (form.shell, form.text, form.error) {
            (Some(Commands::One(command)), None, None) => (vec![command], form.say),
            (Some(Commands::Many(commands)), None, None) => (commands, form.say),
            (None, Some(text), None) => (Vec::new(), text),
            (None, None, Some(kind)) => {
                return Ok(Self::Failure(Failure {
                    kind,
                    times: form.times,
                    retry_after: form.retry_after.map(Duration::from_secs),
                }));
            }
            _ => return Err("a step has one of `shell`, `text` and `error`".to_owned()),
        };
        Ok(Self::Reply(Reply {
            text,
            commands,
            arguments: form.args,
            thinking: form.thinking,
            usage: form.usage,
            pace: Pace {
                delay: time(form.delay)?,
                chunk_delay: time(form.chunk_delay)?,
                hang: time(form.hang)?,
                drop: form.drop,
            },
        }))
    }
}

impl From<Step> for StepForm {
    fn from(step: Step) -> Self {
        match step {
            Step::Reply(reply) => Self::from(reply),
            Step::Failure(failure) => Self {
                error: Some(failure.kind),
                times: failure.times,
                retry_after: failure.retry_after.map(|it| it.as_secs()),
                ..Self::default()
            },
        }
    }
}

impl From<Reply> for StepForm {
    fn from(reply: Reply) -> Self {
        let mut commands = reply.commands;
        let shell = match commands.len() {
            0 => None,
            1 => commands.pop().map(Commands::One),
            _ => Some(Commands::Many(commands)),
        };
        let (text, say) = match shell {
            Some(_) => (None, reply.text),
            None => (Some(reply.text), String::new()),
        };
        Self {
            shell,
            text,
            say,
            thinking: reply.thinking,
            args: reply.arguments,
            usage: reply.usage,
            delay: reply.pace.delay.as_secs_f64(),
            chunk_delay: reply.pace.chunk_delay.as_secs_f64(),
            hang: reply.pace.hang.as_secs_f64(),
            drop: reply.pace.drop,
            ..Self::default()
        }
    }
}
