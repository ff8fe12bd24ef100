//! The string literals of Rust code.

/// A string as it stands in the code, escapes and all.
pub(super) struct Literal {
    /// Where it begins, from 1.
    line: usize,
    text: String,
}

impl Literal {
    /// What stands between single quotes in it, with its lines.
    pub(super) fn quoted(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        let (mut rest, mut line) = (self.text.as_str(), self.line);
        while let Some((before, after)) = rest.split_once('\'') {
            line += before.matches('\n').count();
            let Some((inside, beyond)) = after.split_once('\'') else {
                break;
            };
            found.push((line, inside));
            line += inside.matches('\n').count();
            rest = beyond;
        }
        found
    }
}

/// Every string literal of `code`, in order.
pub(super) fn literals(code: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (code, 1);
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        let starts_name = !before.is_alphanumeric() && before != '_';
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(fence) = raw_fence(rest).filter(|_| starts_name) {
            let close = format!("\"{fence}");
            let open = fence.len() + 2;
            let inside = rest.get(open..).unwrap_or_default();
            let length = inside.find(&close).unwrap_or(inside.len());
            let text = inside.get(..length).unwrap_or_default().to_owned();
            found.push(Literal { line, text });
            (open + length + close.len()).min(rest.len())
        } else if next == '"' {
            let inside = rest.get(1..).unwrap_or_default();
            let length = end_of_string(inside);
            let text = inside.get(..length).unwrap_or_default().to_owned();
            found.push(Literal { line, text });
            (length + 2).min(rest.len())
        } else if next == '\'' {
            length_of_char(rest)
        } else {
            next.len_utf8()
        };
        let (passed, remaining) = rest.split_at(taken);
        line += passed.matches('\n').count();
        before = passed.chars().next_back().unwrap_or(' ');
        rest = remaining;
    }
    found
}

/// The number signs of a raw string that begins here.
fn raw_fence(code: &str) -> Option<&str> {
    let after = code.strip_prefix('r')?;
    let length = after.find(|c| c != '#')?;
    let (fence, string) = after.split_at(length);
    string.starts_with('"').then_some(fence)
}

/// Where the quotation mark is that ends a string.
fn end_of_string(inside: &str) -> usize {
    let mut is_escaped = false;
    for (index, c) in inside.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return index,
            _ => {}
        }
    }
    inside.len()
}

/// How long the character is that begins here; one for the quote of a lifetime.
fn length_of_char(code: &str) -> usize {
    let mut characters = code.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            characters.next();
            let end = characters.find(|(_, c)| *c == '\'');
            end.map_or(code.len(), |(index, _)| index + 1)
        }
        Some(_) => match characters.next() {
            Some((index, '\'')) => index + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &[(usize, &str)]) {
        let found = literals(code);
        let found: Vec<_> = found
            .iter()
            .map(|literal| (literal.line, literal.text.as_str()))
            .collect();
        assert_eq!(found, expected, "{code}");
    }

    #[test]
    fn strings_are_told_from_comments_characters_and_lifetimes() {
        check("a(\"b\"); c(\"d\\\"e\")", &[(1, "b"), (1, "d\\\"e")]);
        check("// \"a\"\n/* \"b\"\n */ \"c\"", &[(3, "c")]);
        check(
            "'\"' \"a\" '\\'' \"b\" '\\u{22}' \"c\"",
            &[(1, "a"), (1, "b"), (1, "c")],
        );
        check("fn f<'a>(x: &'a str) { \"b\" }", &[(1, "b")]);
        check(
            "r\"a\\\" r#\"b\"c\"# br\"d\"",
            &[(1, "a\\"), (1, "b\"c"), (1, "d")],
        );
        check("\"a\n b\"\n\"c\"", &[(1, "a\n b"), (3, "c")]);
    }
}
