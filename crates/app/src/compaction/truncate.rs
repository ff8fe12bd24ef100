use super::fences::Fence;

/// The text without white space that says nothing: none at the ends of lines,
/// at most one blank line in a row, none at either end, one space between
/// words. Indentation and the inside of code blocks stay. Squeezing again
/// changes nothing.
pub fn squeeze(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut fence: Option<Fence> = None;
    let mut is_blank_due = false;
    for line in lines(text) {
        let line = line.trim_end();
        if line.is_empty() {
            is_blank_due = !squeezed.is_empty();
            continue;
        }
        if !squeezed.is_empty() {
            squeezed.push_str(if is_blank_due { "\n\n" } else { "\n" });
        }
        is_blank_due = false;
        match fence {
            Some(open) => {
                squeezed.push_str(line);
                if open.is_closed_by(line) {
                    fence = None;
                }
            }
            None => {
                push_words(&mut squeezed, line);
                fence = Fence::opened_by(line);
            }
        }
    }
    squeezed
}

/// The lines of a text, whatever ends them.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split('\r')
    })
}

/// Adds a line with one space between words. Its indentation stays.
fn push_words(target: &mut String, line: &str) {
    let content = line.trim_start();
    target.push_str(&line[..line.len() - content.len()]);
    let mut spaces: Option<(char, bool)> = None;
    for c in content.chars() {
        if c.is_whitespace() {
            let is_run = spaces.is_some();
            spaces = Some((c, is_run));
            continue;
        }
        match spaces.take() {
            Some((space, false)) => target.push(space),
            Some((_, true)) => target.push(' '),
            None => {}
        }
        target.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_goes() {
        let text = "\u{feff}\r\n\n\n# A  title \t\r\n\r\n\r\n  - one   two\n    x\u{a0}y\n\n\n\
                    ```\na   b  \n\n\nc\n```\nd   e\n\n";
        let text = text.trim_start_matches('\u{feff}');
        let squeezed = squeeze(text);
        assert_eq!(
            squeezed,
            "# A title\n\n  - one two\n    x\u{a0}y\n\n```\na   b\n\nc\n```\nd e"
        );
        assert_eq!(squeeze(&squeezed), squeezed);
        assert_eq!(squeeze(" \n\t\r\n\u{3000}\n"), "");
    }
}
