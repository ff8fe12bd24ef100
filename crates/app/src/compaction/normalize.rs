//! What is taken away before the Markdown is read: front matter, comments, and
//! nesting beyond any use.

use super::fences::Fence;

/// A line is indented or nested by at most so many characters. A parser takes
/// time in proportion to the depth for each line, so that without a bound a
/// text could take the square of its length.
const DEEPEST: usize = 128;

/// The text without front matter and comments.
pub(super) fn strip(text: &str) -> String {
    let text = without_front_matter(text);
    let mut stripped = String::with_capacity(text.len());
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    for line in text.split_inclusive('\n') {
        if let Some(open) = fence {
            if open.is_closed_by(line) {
                fence = None;
            }
            stripped.push_str(bounded(line));
            continue;
        }
        if !in_comment {
            fence = Fence::opened_by(line);
        }
        if fence.is_some() {
            stripped.push_str(bounded(line));
        } else {
            in_comment = push_uncommented(&mut stripped, bounded(line), in_comment);
        }
    }
    stripped
}

/// Adds what of a line is no comment; true when a comment goes on.
fn push_uncommented(target: &mut String, line: &str, in_comment: bool) -> bool {
    let mut rest = line;
    if in_comment {
        match rest.find("-->") {
            Some(end) => rest = &rest[end + 3..],
            None => return true,
        }
    }
    // Within a line of text a mark may well be quoted code: what begins a
    // line is a comment, the rest is the parser's to tell.
    while rest.trim_start().starts_with("<!--") {
        match rest.find("-->") {
            Some(end) => rest = &rest[end + 3..],
            None => return true,
        }
    }
    target.push_str(rest);
    if !rest.ends_with('\n') {
        target.push('\n');
    }
    false
}

/// The text after front matter: a block between two lines of `---` or `+++`
/// at its very beginning.
fn without_front_matter(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let mark = match lines.next().map(str::trim_end) {
        Some(mark @ ("---" | "+++")) => mark,
        _ => return text,
    };
    let mut end = text.find('\n').map_or(text.len(), |end| end + 1);
    // Front matter has a key in its first line; a rule has not.
    if !text[end..].lines().next().is_some_and(is_keyed) {
        return text;
    }
    for line in lines {
        end += line.len();
        let line = line.trim_end();
        if line == mark || (mark == "---" && line == "...") {
            return &text[end..];
        }
    }
    text
}

fn is_keyed(line: &str) -> bool {
    let key = line.trim_end().split([':', '=']).next().unwrap_or(line);
    key.len() < line.trim_end().len()
        && !key.trim().is_empty()
        && key
            .trim()
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"'))
}

/// The line with no more than [`DEEPEST`] characters of indentation and of
/// marks that nest.
fn bounded(line: &str) -> &str {
    let nests = |b: u8| b" \t>-+*.)".contains(&b) || b.is_ascii_digit();
    let depth = line.bytes().take_while(|&b| nests(b)).count();
    // These are ASCII, so that any place among them is between characters.
    &line[depth.saturating_sub(DEEPEST)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_and_comments_go() {
        let text = "---\ntitle: x\n---\n<!-- a\nb --> c\n`<!--` stays\n<!-- d --><!-- e -->f\n";
        assert_eq!(strip(text), " c\n`<!--` stays\nf\n");
        assert_eq!(strip("+++\na = 1\n+++\nx"), "x\n");
        assert_eq!(
            strip("---\n\nno front matter\n\n---\n"),
            "---\n\nno front matter\n\n---\n"
        );
        assert_eq!(
            strip("---\ntitle: never closed\n"),
            "---\ntitle: never closed\n"
        );
        assert_eq!(
            strip("```\n<!-- code -->\n```\n"),
            "```\n<!-- code -->\n```\n"
        );
        assert_eq!(strip("a\n<!-- never closed\nb"), "a\n");
    }

    #[test]
    fn nesting_is_bounded() {
        let line = format!("{}x", "> ".repeat(10_000));
        assert_eq!(bounded(&line).len(), DEEPEST + 1);
        assert_eq!(bounded("    - x"), "    - x");
    }
}
