//! The lines of Claude Code, as far as they are read.

use serde::Deserialize;

use super::claude_calls::Figures;
use super::json::{Count, Dollars, Flag, List, Named, Object, Text, UnixSeconds};
use crate::usage::TokenUsage;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    pub(super) r#type: Text,
    pub(super) subtype: Text,
    pub(super) session_id: Text,
    pub(super) model: Text,
    pub(super) message: Object<Message>,
    pub(super) parent_tool_use_id: Text,
    pub(super) api_message_id: Text,
    pub(super) event: Object<StreamEvent>,
    pub(super) rate_limit_info: Object<RateLimit>,
    // Of `api_retry`.
    pub(super) attempt: Count,
    pub(super) retry_delay_ms: Count,
    pub(super) error_status: Count,
    /// Also of `assistant`.
    pub(super) error: Text,
    // Of `result`.
    pub(super) is_error: Flag,
    pub(super) terminal_reason: Text,
    pub(super) api_error_status: Count,
    pub(super) api_error: Text,
    pub(super) result: Text,
    pub(super) errors: List<Text>,
    pub(super) num_turns: Count,
    pub(super) usage: Object<Usage>,
    pub(super) total_cost_usd: Dollars,
    pub(super) model_usage_since_last_result: Models,
    /// Of the session.
    #[serde(rename = "modelUsage")]
    pub(super) model_usage: Models,
}

/// Usage of each model.
pub(super) type Models = Named<Object<ModelUsage>>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) id: Text,
    pub(super) model: Text,
    pub(super) usage: Object<Usage>,
    pub(super) content: List<Object<Content>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content {
    pub(super) text: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    pub(super) r#type: Text,
    pub(super) message: Object<Message>,
    pub(super) usage: Object<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RateLimit {
    pub(super) status: Text,
    #[serde(rename = "resetsAt")]
    pub(super) resets_at: UnixSeconds,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    pub(super) output_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    pub(super) output_tokens: Count,
    #[serde(rename = "costUSD")]
    pub(super) cost_usd: Dollars,
}

impl Usage {
    pub(super) fn figures(&self) -> Figures {
        Figures {
            input: self.input_tokens.0,
            cached_read: self.cache_read_input_tokens.0,
            cached_write: self.cache_creation_input_tokens.0,
            output: self.output_tokens.0,
        }
    }
}

impl ModelUsage {
    pub(super) fn figures(&self) -> Figures {
        Figures {
            input: self.input_tokens.0,
            cached_read: self.cache_read_input_tokens.0,
            cached_write: self.cache_creation_input_tokens.0,
            output: self.output_tokens.0,
        }
    }
}

pub(super) fn figures(usage: &Object<Usage>) -> Figures {
    usage.0.as_ref().map(Usage::figures).unwrap_or_default()
}

/// What all models used; `None` when there is no figure.
pub(super) fn tokens_of(models: &Models) -> Option<TokenUsage> {
    let usages = models.0.iter().flatten();
    usages
        .filter_map(|(_, usage)| usage.0.as_ref()?.figures().tokens())
        .reduce(TokenUsage::saturating_add)
}
