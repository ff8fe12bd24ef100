//! What an answer means that is not the one that was hoped for.

use serde_json::Value;

use crate::error::ForgeError;
use crate::exchange::Answer;
use crate::pause;

/// So much of what a forge says is told.
const SHOWN: usize = 500;
/// How deep what it says may be nested.
const DEPTH: usize = 4;

/// The failure that an answer tells of.
pub(crate) fn judge(answer: &Answer, scrub: impl Fn(&str) -> String) -> ForgeError {
    if let Some(retry_after) = pause::wanted(answer) {
        return ForgeError::RateLimited { retry_after };
    }
    let said = said(&answer.body);
    // GitHub tells it in words alone.
    let exists = said.contains("pull request already exists");
    // GitLab says so while something else is at work on the same thing.
    let is_busy = said.contains("Resource lock");
    // And leads nobody who would change something.
    let is_moved = said.contains("moved projects");
    let said = shown(&scrub(&said));
    let text = match said.as_str() {
        "" => answer.status.to_string(),
        said => format!("{}: {said}", answer.status),
    };
    match answer.status.as_u16() {
        401 | 403 => ForgeError::Unauthorized(text),
        404 | 410 => ForgeError::NotFound(text),
        409 if is_busy => ForgeError::Unavailable(text),
        409 => ForgeError::AlreadyExists(text),
        422 if exists => ForgeError::AlreadyExists(text),
        301 | 302 | 307 | 308 => ForgeError::Moved(text),
        405 if is_moved => ForgeError::Moved(text),
        400..=499 => ForgeError::Invalid(text),
        500..=599 => ForgeError::Unavailable(text),
        _ => ForgeError::Unexpected(text),
    }
}

/// A text of a forge in one line, bounded.
pub(crate) fn shown(text: &str) -> String {
    let text = text.trim();
    let mut line: String = text
        .chars()
        .take(SHOWN)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        line.push('…');
    }
    line
}

/// What the body of a refusal says, whatever forge it comes from.
fn said(body: &[u8]) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        // What is no JSON is a page, and says little.
        return String::new();
    };
    let fields = ["message", "error", "error_description", "errors"];
    let told = fields.iter().filter_map(|name| body.get(name));
    let texts: Vec<String> = told
        .map(|value| text(value, DEPTH))
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("; ")
}

fn text(value: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return String::new();
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().map(|value| text(value, depth)).collect();
            texts.join("; ")
        }
        Value::Object(fields) => match fields.get("message") {
            Some(message) => text(message, depth),
            None => {
                let fields = fields.iter().filter(|(name, _)| !name.ends_with("url"));
                let texts: Vec<String> = fields
                    .map(|(name, value)| format!("{name}: {}", text(value, depth)))
                    .collect();
                texts.join(", ")
            }
        },
        _ => String::new(),
    }
}
