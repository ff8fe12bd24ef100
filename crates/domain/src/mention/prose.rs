//! The part of a Markdown text in which an author speaks: no code, no quotes.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The longest entity that is decoded, without `&` and `;`.
const MAX_ENTITY: usize = 8;

/// Replaces character references once, so that `&amp;#64;` becomes `&#64;`.
/// What is none stays as it is.
pub(super) fn decode_entities(text: &str, work: &mut dyn FnMut(usize)) -> String {
    work(text.len());
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        rest = &rest[start..];
        work(MAX_ENTITY);
        let reference = rest
            .as_bytes()
            .iter()
            .take(MAX_ENTITY + 2)
            .position(|&b| b == b';');
        let character = reference.and_then(|end| Some((entity(&rest[1..end])?, end + 1)));
        let (character, length) = character.unwrap_or(('&', 1));
        decoded.push(character);
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    decoded
}

fn entity(name: &str) -> Option<char> {
    let code = match name.strip_prefix('#') {
        None => {
            return match name {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                "nbsp" => Some('\u{a0}'),
                "commat" => Some('@'),
                "lowbar" => Some('_'),
                "grave" => Some('`'),
                "lsqb" | "lbrack" => Some('['),
                "rsqb" | "rbrack" => Some(']'),
                _ => None,
            };
        }
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => number_of(hexadecimal, 16),
            None => number_of(number, 10),
        },
    };
    code.filter(|&code| code != 0).and_then(char::from_u32)
}

fn number_of(digits: &str, radix: u32) -> Option<u32> {
    // The standard parser also takes a sign.
    if digits.chars().all(|c| c.is_digit(radix)) {
        u32::from_str_radix(digits, radix).ok()
    } else {
        None
    }
}

/// An open code fence: closed by a line of at least as many of its marks.
struct Fence {
    mark: char,
    length: usize,
}

/// The text without fenced code, code spans and quoted lines. Where something
/// was left out stands a character that belongs to no word.
pub(super) fn visible_prose(text: &str, work: &mut dyn FnMut(usize)) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<Fence> = None;
    // Where the paragraph that is being read starts, and where it ends so far.
    let mut paragraph = 0..0;
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        work(line.len());
        let content = line.trim();
        let line_end = line_start + line.len();
        let belongs = match &fence {
            Some(open) => {
                if open.is_closed_by(content) {
                    fence = None;
                }
                Belongs::Nowhere
            }
            None => {
                fence = Fence::opened_by(content);
                if fence.is_some() || content.is_empty() || content.starts_with('>') {
                    Belongs::Nowhere
                } else if starts_block(content) {
                    Belongs::ToNext
                } else {
                    Belongs::ToParagraph
                }
            }
        };
        match belongs {
            Belongs::ToParagraph if paragraph.end == line_start => paragraph.end = line_end,
            Belongs::ToParagraph | Belongs::ToNext => {
                without_code_spans(&text[paragraph], &mut prose, work);
                paragraph = line_start..line_end;
            }
            Belongs::Nowhere => {
                without_code_spans(&text[paragraph], &mut prose, work);
                paragraph = line_end..line_end;
            }
        }
        line_start = line_end;
    }
    without_code_spans(&text[paragraph], &mut prose, work);
    prose
}

/// Which paragraph a line is part of.
enum Belongs {
    ToParagraph,
    ToNext,
    Nowhere,
}

impl Fence {
    fn opened_by(content: &str) -> Option<Self> {
        let mark = content.chars().next().filter(|&c| c == '`' || c == '~')?;
        let length = run_length(content, mark);
        let info = &content[length..];
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, content: &str) -> bool {
        let length = run_length(content, self.mark);
        length >= self.length && length == content.len()
    }
}

fn run_length(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// True for a heading or an item of a list: code spans do not reach across.
fn starts_block(content: &str) -> bool {
    let after_marker = match content.chars().next() {
        Some('-' | '*' | '+') => &content[1..],
        Some('#') => content.trim_start_matches('#'),
        Some(first) if first.is_ascii_digit() => {
            let number = content.trim_start_matches(|c: char| c.is_ascii_digit());
            match number.strip_prefix(['.', ')']) {
                Some(after) => after,
                None => return false,
            }
        }
        _ => return false,
    };
    after_marker.is_empty() || after_marker.starts_with([' ', '\t'])
}

/// A run of backticks. One that a backslash precedes opens a span with one
/// backtick less, but closes as it is.
struct Run {
    start: usize,
    end: usize,
    opens: usize,
}

/// Appends `paragraph` to `prose`, and a line break where there is anything.
/// A span ends at the next run of the same length; a run without such a
/// partner is text.
fn without_code_spans(paragraph: &str, prose: &mut String, work: &mut dyn FnMut(usize)) {
    if paragraph.is_empty() {
        return;
    }
    work(paragraph.len());
    let runs = backtick_runs(paragraph);
    let mut closers: Vec<Option<usize>> = alloc::vec![None; runs.len()];
    let mut next_of_length: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        work(1);
        closers[index] = next_of_length.get(&run.opens).copied();
        next_of_length.insert(run.end - run.start, index);
    }
    let mut copied = 0;
    let mut index = 0;
    while index < runs.len() {
        work(1);
        match closers[index] {
            Some(closer) => {
                prose.push_str(&paragraph[copied..runs[index].end]);
                copied = runs[closer].end;
                index = closer + 1;
            }
            None => index += 1,
        }
    }
    prose.push_str(&paragraph[copied..]);
    prose.push('\n');
}

fn backtick_runs(paragraph: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut backslashes = 0_usize;
    let mut start = None;
    for (index, byte) in paragraph.bytes().enumerate() {
        if byte == b'`' {
            start.get_or_insert(index);
            continue;
        }
        if let Some(start) = start.take() {
            runs.push(Run::new(start, index, backslashes));
            backslashes = 0;
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
    }
    if let Some(start) = start {
        runs.push(Run::new(start, paragraph.len(), backslashes));
    }
    runs
}

impl Run {
    const fn new(start: usize, end: usize, backslashes_before: usize) -> Self {
        Self {
            start,
            end,
            opens: end - start - backslashes_before % 2,
        }
    }
}
