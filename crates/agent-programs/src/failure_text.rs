//! What kind of failure a text tells of.

use std::borrow::Cow;

use serde::Deserialize;

use crate::failure::FailureClass;
use crate::output::json::{Object, Text};
use crate::text::{MEANINGFUL_BYTES, first_bytes};

/// Phrases in lower case, with what they mean; the first that occurs decides.
/// What names its cause stands before what only names a consequence: a quota
/// is refused with the status of a rate limit, and a bad key may come with 400.
const PHRASES: &[(&str, FailureClass)] = {
    use FailureClass::{
        AuthRequired, ContextTooLong, Overloaded, ProviderLimit, RootRefused, ServerError,
        SessionUnknown, Unreachable,
    };
    &[
        ("cannot be used with root", RootRefused),
        ("no conversation found", SessionUnknown),
        ("no rollout found", SessionUnknown),
        ("no session found matching", SessionUnknown),
        ("no previous sessions found", SessionUnknown),
        ("invalid session identifier", SessionUnknown),
        ("session not found", SessionUnknown),
        ("session found in different project", SessionUnknown),
        ("prompt is too long", ContextTooLong),
        ("context window", ContextTooLong),
        ("context_length_exceeded", ContextTooLong),
        ("maximum context length", ContextTooLong),
        ("maximum number of tokens", ContextTooLong),
        ("not logged in", AuthRequired),
        ("please run /login", AuthRequired),
        ("api_key_invalid", AuthRequired),
        ("invalid api key", AuthRequired),
        ("incorrect api key", AuthRequired),
        ("api key not valid", AuthRequired),
        ("no api key", AuthRequired),
        ("missing environment variable", AuthRequired),
        ("must specify the gemini_api_key", AuthRequired),
        ("invalid auth method", AuthRequired),
        ("authentication_error", AuthRequired),
        ("authentication_failed", AuthRequired),
        ("authentication required", AuthRequired),
        ("oauth token", AuthRequired),
        ("unauthorized", AuthRequired),
        ("quota", ProviderLimit),
        ("rate limit", ProviderLimit),
        ("rate_limit", ProviderLimit),
        ("too many requests", ProviderLimit),
        ("usage limit", ProviderLimit),
        ("session limit", ProviderLimit),
        ("weekly limit", ProviderLimit),
        ("hit your limit", ProviderLimit),
        ("credit balance", ProviderLimit),
        ("billing", ProviderLimit),
        ("overloaded", Overloaded),
        ("at capacity", Overloaded),
        ("cannot connect to api", Unreachable),
        ("connection refused", Unreachable),
        ("connection failed", Unreachable),
        ("connection error", Unreachable),
        ("connection_failed", Unreachable),
        ("econnrefused", Unreachable),
        ("econnreset", Unreachable),
        ("enotfound", Unreachable),
        ("etimedout", Unreachable),
        ("fetch failed", Unreachable),
        ("network error", Unreachable),
        ("waiting for network", Unreachable),
        ("stream disconnected", Unreachable),
        ("other side closed", Unreachable),
        ("[api error: terminated]", Unreachable),
        ("experiencing high demand", ServerError),
        ("internal server error", ServerError),
        ("server had an error", ServerError),
    ]
};

/// What stands before the HTTP status in texts of programs.
const BEFORE_STATUS: &[&str] = &[
    "status ",
    "status: ",
    "status code ",
    "\"code\":",
    "error: ",
];

/// What kind of failure the text tells of, or `None` when it does not say.
pub(crate) fn classify(text: &str) -> Option<FailureClass> {
    let text = first_bytes(text, MEANINGFUL_BYTES).to_lowercase();
    PHRASES
        .iter()
        .find(|(phrase, _)| text.contains(phrase))
        .map(|&(_, class)| class)
        .or_else(|| statuses(&text).find_map(of_status))
}

/// What an HTTP status means, or `None` when it tells nothing by itself.
pub(crate) fn of_status(status: u64) -> Option<FailureClass> {
    match status {
        401 | 403 => Some(FailureClass::AuthRequired),
        402 | 429 => Some(FailureClass::ProviderLimit),
        413 => Some(FailureClass::ContextTooLong),
        503 | 529 => Some(FailureClass::Overloaded),
        500..=599 => Some(FailureClass::ServerError),
        _ => None,
    }
}

/// The statuses in a text: at its beginning with a colon, or after a word that
/// announces one.
fn statuses(text: &str) -> impl Iterator<Item = u64> {
    let announced = BEFORE_STATUS.iter().flat_map(move |before| {
        text.match_indices(before)
            .filter_map(move |(at, _)| text.get(at + before.len()..))
    });
    let leading = text.split_once(':').map(|(status, _)| status);
    leading.into_iter().chain(announced).filter_map(|rest| {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        (digits == 3).then(|| rest.get(..3)?.parse().ok()).flatten()
    })
}

/// What a provider answers with.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    message: Text,
    error: Object<Reason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reason {
    message: Text,
}

/// The text for people: an answer of the provider within it is replaced by the
/// message that the answer holds.
pub(crate) fn readable(text: &str) -> Cow<'_, str> {
    let answer = text.find('{').and_then(|at| {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Answer>();
        let answer = values.next()?.ok()?;
        let message = answer.error.0.and_then(|reason| reason.message.0);
        let after = text.get(at + values.byte_offset()..)?;
        Some((text.get(..at)?, message.or(answer.message.0)?, after))
    });
    match answer {
        Some((before, message, after)) => Cow::Owned(format!("{before}{message}{after}")),
        None => Cow::Borrowed(text),
    }
}
