//! Texts of programs, cut to a size that may be kept.

/// What a failure means stands near the beginning of its text; the rest may be
/// megabytes that quote something.
pub(crate) const MEANINGFUL_BYTES: usize = 16 * 1024;

/// The first `max` bytes, fewer where a character would be cut.
pub(crate) fn first_bytes(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// The text on one line of at most `max` bytes: runs of blanks and control
/// characters become one blank.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if line.len() > max {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(first_bytes(word, max));
    }
    line.truncate(line.floor_char_boundary(max));
    line
}

/// The text without the escape sequences that colour it on a terminal.
pub(crate) fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let parameters = after.strip_prefix('[').unwrap_or(after);
        rest = match parameters.find(|c: char| ('@'..='~').contains(&c)) {
            Some(end) => parameters.get(end + 1..).unwrap_or(""),
            None => "",
        };
    }
    plain.push_str(rest);
    plain
}
