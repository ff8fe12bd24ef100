//! JSON texts are cleaned text by text: each is read as JSON means it, so that
//! no spelling of it hides a value, and everything else, numbers above all,
//! stays as it was written.

use super::Patterns;

/// The same JSON without the values in its texts and names, or `None` when
/// there are none of them. What is no JSON is left to whoever reads it.
pub(super) fn scrub_json(patterns: &Patterns, text: &[u8]) -> Option<Vec<u8>> {
    let mut clean = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(start) = find_quote(text, at) {
        let Some(end) = end_of_text(text, start) else {
            break;
        };
        at = end;
        let literal = &text[start..end];
        let Ok(content) = serde_json::from_slice::<String>(literal) else {
            continue;
        };
        if let Some(scrubbed) = patterns.scrub(&content) {
            clean.extend_from_slice(&text[copied..start]);
            // A text can always be written as JSON; nothing else may stay.
            clean.extend(serde_json::to_vec(&scrubbed).unwrap_or_else(|_| b"\"\"".to_vec()));
            copied = end;
        }
    }
    if copied == 0 {
        return None;
    }
    clean.extend_from_slice(&text[copied..]);
    Some(clean)
}

fn find_quote(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.iter().position(|&byte| byte == b'"').map(|n| from + n)
}

/// The place after the closing quote of the text that begins at `start`.
fn end_of_text(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
