use super::fence::{self, Fenced, verbatim};
use super::{MAX_LINE, MAX_PATH, MAX_TEMPLATE, PromptInput};

/// What an agent without a template of its own is told.
const DEFAULT: &str =
    "Go on with your work as described above, and follow your instructions. End when it is done.";
/// A placeholder has at most so many bytes between its braces.
const MAX_PLACEHOLDER: usize = 64;
/// So many unknown placeholders are told.
const MAX_UNKNOWN: usize = 20;

/// The agent's own prompt, and the placeholders in it that mean nothing.
pub(super) fn fill(input: &PromptInput<'_>) -> (Fenced, Vec<String>) {
    let template = input
        .template
        .filter(|template| !template.trim().is_empty())
        .unwrap_or(DEFAULT);
    let mut unknown: Vec<String> = Vec::new();
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    // What lies beyond is cut anyway, but counts as left out.
    while let Some(start) = rest.find("{{").filter(|_| filled.len() <= MAX_TEMPLATE) {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        match placeholder(rest) {
            Some((name, length)) => {
                match value(input, name) {
                    Some(value) => filled.push_str(&value),
                    None => {
                        filled.push_str(&rest[..length]);
                        if unknown.len() < MAX_UNKNOWN && unknown.iter().all(|it| it != name) {
                            unknown.push(name.to_owned());
                        }
                    }
                }
                rest = &rest[length..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    (verbatim(&filled, MAX_TEMPLATE), unknown)
}

/// The name in the placeholder that a text begins with, and its whole length.
fn placeholder(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("{{")?;
    let near = &inner[..inner.floor_char_boundary(MAX_PLACEHOLDER + 2)];
    let end = near.find("}}")?;
    let name = near[..end].trim();
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    is_name.then_some((name, end + 4))
}

/// What a placeholder stands for, in one line; nothing where the run has no
/// such thing, and `None` for a name without a meaning.
fn value(input: &PromptInput<'_>, name: &str) -> Option<String> {
    let claimed = input.claimed;
    let issue = input.facts.issue.as_ref().map(|facts| &facts.issue);
    let line = |text: &str| fence::one_line(text, MAX_LINE).text;
    Some(match name {
        "agent.name" => line(&claimed.agent.name),
        "agent.id" => claimed.agent.id.to_string(),
        "company.name" => line(&claimed.company.name),
        "company.id" => claimed.company.id.to_string(),
        "run.id" => claimed.run.id.to_string(),
        "issue.identifier" => issue.map(|it| line(&it.identifier)).unwrap_or_default(),
        "issue.title" => issue.map(|it| line(&it.title)).unwrap_or_default(),
        "issue.id" => issue.map(|it| it.id.to_string()).unwrap_or_default(),
        "wake.reason" => claimed.run.reason.to_string(),
        "workspace.cwd" => {
            let cwd = input.place.map_or("", |place| place.cwd);
            fence::one_line(cwd, MAX_PATH).text
        }
        _ => return None,
    })
}
