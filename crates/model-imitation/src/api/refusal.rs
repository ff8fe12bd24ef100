//! Refusals, as each API words them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Refusal;
use crate::step::ErrorKind;

/// A status of its own takes the place of the usual one.
const fn status(kind: ErrorKind, usual: u16) -> u16 {
    match kind {
        ErrorKind::Status(status) => status,
        _ => usual,
    }
}

pub(super) fn of_anthropic(kind: ErrorKind, wait: Option<Duration>) -> Refusal {
    let (usual, name, message) = match kind {
        ErrorKind::Auth => (401, "authentication_error", "invalid x-api-key"),
        ErrorKind::RateLimit => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit.",
        ),
        ErrorKind::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
        ),
        ErrorKind::Overloaded => (529, "overloaded_error", "Overloaded"),
        ErrorKind::Server | ErrorKind::Status(_) => (500, "api_error", "Internal server error"),
        ErrorKind::Context => (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
    };
    let message = match wait {
        Some(wait) => format!("{message} Try again in {} seconds.", wait.as_secs()),
        None => message.to_owned(),
    };
    Refusal {
        status: status(kind, usual),
        body: json!({
            "type": "error",
            "error": {"type": name, "message": message},
            "request_id": super::super::REQUEST_ID,
        }),
    }
}

pub(super) fn of_openai(kind: ErrorKind, wait: Option<Duration>) -> Refusal {
    if let (ErrorKind::RateLimit, Some(wait)) = (kind, wait) {
        return used_up(wait);
    }
    let (usual, name, code, message) = match kind {
        ErrorKind::Auth => (
            401,
            "invalid_request_error",
            "invalid_api_key",
            "Incorrect API key provided: ****.",
        ),
        ErrorKind::RateLimit => (
            429,
            "tokens",
            "rate_limit_exceeded",
            "Rate limit reached for the model. Please try again in 1s.",
        ),
        ErrorKind::Quota => (
            429,
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota, please check your plan.",
        ),
        ErrorKind::Overloaded => (
            503,
            "server_error",
            "server_is_overloaded",
            "Our servers are currently overloaded. Try again later.",
        ),
        ErrorKind::Server | ErrorKind::Status(_) => (
            500,
            "server_error",
            "server_error",
            "The server had an error while processing your request.",
        ),
        ErrorKind::Context => (
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
    };
    Refusal {
        status: status(kind, usual),
        body: json!({"error": {"message": message, "type": name, "param": null, "code": code}}),
    }
}

/// The limit of a plan, which resets after a while.
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test compares it with the clock of the system"
)]
fn used_up(wait: Duration) -> Refusal {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let resets_at = now.unwrap_or_default() + wait;
    Refusal {
        status: 429,
        body: json!({"error": {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
            "resets_at": resets_at.as_secs(),
            "resets_in_seconds": wait.as_secs(),
        }}),
    }
}

pub(super) fn of_gemini(kind: ErrorKind) -> Refusal {
    let (usual, name, message) = match kind {
        ErrorKind::Auth => (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        ),
        ErrorKind::RateLimit => (
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded for requests per minute.",
        ),
        ErrorKind::Quota => (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan.",
        ),
        ErrorKind::Overloaded => (
            503,
            "UNAVAILABLE",
            "The model is overloaded. Please try again later.",
        ),
        ErrorKind::Server | ErrorKind::Status(_) => {
            (500, "INTERNAL", "An internal error has occurred.")
        }
        ErrorKind::Context => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).",
        ),
    };
    let status = status(kind, usual);
    let mut error = json!({"code": status, "message": message, "status": name});
    if let Some(details) = details(kind) {
        error["details"] = json!([details]);
    }
    Refusal {
        status,
        body: json!({"error": error}),
    }
}

fn details(kind: ErrorKind) -> Option<Value> {
    match kind {
        ErrorKind::Auth => Some(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
        })),
        ErrorKind::RateLimit => Some(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": "1s",
        })),
        _ => None,
    }
}
