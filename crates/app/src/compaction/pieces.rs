//! A Markdown text as pieces that can stand alone: sentences, list items,
//! table rows and short blocks of code, each below its heading.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::vocabulary;

/// No piece is longer, in characters: the shortest short form holds one, the
/// name of its heading and a backstory.
const LONGEST_PIECE: usize = 240;
/// The name of a heading is cut to so many characters.
const LONGEST_LABEL: usize = 40;
/// A block of code of at most so many lines is kept.
const SHORT_CODE_LINES: usize = 3;
/// And of at most so many bytes.
const SHORT_CODE_BYTES: usize = 200;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// One line.
    pub(super) text: String,
    /// Characters it had before it was cut.
    pub(super) length: usize,
    /// The heading it stands below, counted from 0.
    pub(super) heading: Option<usize>,
    /// Whether it is an item of a list.
    pub(super) is_item: bool,
    /// Whether it stands for a block of code that was left out.
    pub(super) is_left_out: bool,
}

/// A heading of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// Its words, cut short.
    pub(super) label: String,
    /// How deep it is, 1 to 6.
    pub(super) level: usize,
    /// Whether it, or one above it, is about what rules are about.
    pub(super) is_favoured: bool,
}

/// What a text consists of, in its order.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) pieces: Vec<Piece>,
    pub(super) headings: Vec<Heading>,
}

impl Pieces {
    /// For each heading the one at the head of its section. Sections begin at
    /// the highest level that has more than one heading: the title of a whole
    /// text is none.
    pub(super) fn sections(&self) -> Vec<usize> {
        let mut counts = [0_usize; 7];
        for heading in &self.headings {
            counts[heading.level] += 1;
        }
        let several = counts.iter().position(|&count| count > 1);
        let level = several.or_else(|| counts.iter().position(|&count| count > 0));
        let mut section = 0;
        let place = |(index, heading): (usize, &Heading)| {
            if Some(heading.level) <= level {
                section = index;
            }
            section
        };
        self.headings.iter().enumerate().map(place).collect()
    }
}

/// Reads a Markdown text.
pub(super) fn read(text: &str, work: &mut dyn FnMut(usize)) -> Pieces {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    work(text.len());
    for event in Parser::new_ext(text, options) {
        work(1);
        reader.read(event);
    }
    reader.flush();
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Pieces,
    /// The last heading of each level, as far as they are above this place.
    path: [Option<usize>; 7],
    /// The text that is being read.
    text: String,
    /// Lists that are open here.
    items: usize,
    /// Images that are open here: what they say is not said by the text.
    images: usize,
    in_row: bool,
    code: Option<Code>,
}

/// A block of code.
struct Code {
    info: String,
    lines: usize,
    start: String,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.say(&text),
            Event::Code(code) => {
                self.say("`");
                self.say(&code);
                self.say("`");
            }
            Event::SoftBreak | Event::HardBreak | Event::InlineHtml(_) => self.say(" "),
            Event::Rule => self.flush(),
            Event::Html(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                self.flush();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => one_line(&cut(&info, LONGEST_LABEL)),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(Code {
                    info,
                    lines: 0,
                    start: String::new(),
                });
            }
            Tag::Item => {
                self.flush();
                self.items += 1;
            }
            Tag::TableHead | Tag::TableRow => {
                self.flush();
                self.in_row = true;
            }
            Tag::Image { .. } => self.images += 1,
            Tag::Heading { .. }
            | Tag::List(_)
            | Tag::BlockQuote(_)
            | Tag::HtmlBlock
            | Tag::Table(_) => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Item => {
                self.flush();
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::Paragraph if self.items > 0 => self.say(" "),
            TagEnd::TableCell => self.say(" | "),
            TagEnd::TableHead | TagEnd::TableRow => {
                let row = std::mem::take(&mut self.text);
                self.text.push_str(row.trim_matches([' ', '|']));
                self.flush();
                self.in_row = false;
            }
            TagEnd::Image => self.images = self.images.saturating_sub(1),
            TagEnd::Paragraph
            | TagEnd::List(_)
            | TagEnd::BlockQuote(_)
            | TagEnd::HtmlBlock
            | TagEnd::Table => self.flush(),
            _ => {}
        }
    }

    /// Adds words to the text that is being read, with one space between them.
    fn say(&mut self, words: &str) {
        if let Some(code) = &mut self.code {
            code.lines += words.matches('\n').count();
            if code.start.len() <= SHORT_CODE_BYTES {
                code.start.push_str(words);
            }
            return;
        }
        if self.images > 0 {
            return;
        }
        for c in words.chars() {
            if !c.is_whitespace() {
                self.text.push(c);
            } else if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
        }
    }

    /// The text that was read becomes pieces.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if self.in_row || (self.items > 0 && text.chars().nth(LONGEST_PIECE).is_none()) {
            self.add(text);
        } else {
            sentences(text, |sentence| self.add(sentence));
        }
    }

    fn add(&mut self, text: &str) {
        if text.chars().any(char::is_alphanumeric) {
            let heading = self.path.iter().rev().find_map(|heading| *heading);
            self.found.pieces.push(Piece {
                text: cut(text, LONGEST_PIECE),
                length: text.chars().count(),
                heading,
                is_item: self.items > 0,
                is_left_out: false,
            });
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let level = level as usize;
        let text = std::mem::take(&mut self.text);
        let label = cut(text.trim(), LONGEST_LABEL);
        self.path[level..].fill(None);
        let above = self.path.iter().rev().find_map(|heading| *heading);
        let is_favoured = vocabulary::is_favoured_heading(&label)
            || above.is_some_and(|above| self.found.headings[above].is_favoured);
        self.path[level] = Some(self.found.headings.len());
        self.found.headings.push(Heading {
            label,
            level,
            is_favoured,
        });
    }

    /// A short block of code is kept as code within a line, of a longer one
    /// what its first line says about it.
    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if code.lines <= SHORT_CODE_LINES && code.start.len() <= SHORT_CODE_BYTES {
            let lines: Vec<String> = code
                .start
                .lines()
                .map(one_line)
                .filter(|line| !line.is_empty())
                .map(|line| format!("`{line}`"))
                .collect();
            self.add(&lines.join("; "));
        } else if !code.info.is_empty() {
            self.add(&format!("(code: {})", code.info));
            if let Some(piece) = self.found.pieces.last_mut() {
                piece.is_left_out = true;
            }
        }
    }
}

/// A text with one space between its words.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text in at most `limit` characters. What is cut off ends with `…`, if
/// possible after a word.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    let end = text
        .char_indices()
        .nth(limit.saturating_sub(1))
        .map_or(text.len(), |(end, _)| end);
    let kept = &text[..end];
    let kept = match kept.rfind(char::is_whitespace) {
        Some(space) if space * 2 > kept.len() => &kept[..space],
        _ => kept,
    };
    format!("{}…", kept.trim_end())
}

/// Calls `each` with each sentence of a line. Code within it is not split.
fn sentences(text: &str, mut each: impl FnMut(&str)) {
    let mut start = 0;
    let mut word_start = 0;
    let mut in_code = false;
    for (at, c) in text.char_indices() {
        if c == '`' {
            in_code = !in_code;
        }
        if c.is_whitespace() {
            word_start = at + c.len_utf8();
        }
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let ends = match c {
            '。' | '！' | '？' => true,
            '!' | '?' | '…' => rest.is_empty() || rest.starts_with(' '),
            '.' => {
                let mut next = rest.chars();
                next.next().is_none_or(|c| c == ' ')
                    && next.next().is_none_or(|c| !c.is_lowercase())
                    && !vocabulary::is_abbreviation(&text[word_start..at])
            }
            _ => false,
        };
        if ends && !in_code {
            each(text[start..end].trim());
            start = end;
        }
    }
    each(text[start..].trim());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<String> {
        let read = read(markdown, &mut |_| ());
        read.pieces.into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn a_text_falls_into_pieces() {
        let markdown = "Read this. Then e.g. that, i.e. v1.2 of it! 규칙이다。다음.\n\n\
            - one. two\n  - deeper `a. B`\n\n  and more\n\n\
            | Tool | Use |\n|---|---|\n| `make` | build |\n\n\
            ![badge](x) [link](https://x.example) <b>bold</b> *very*\n\n\
            ```sh\nmake test\nmake lint\n```\n\n\
            ```rust title\nfn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\n```\n\n> Quoted.\n\n***\n";
        assert_eq!(
            texts(markdown),
            [
                "Read this.",
                "Then e.g. that, i.e. v1.2 of it!",
                "규칙이다。",
                "다음.",
                "one. two",
                "deeper `a. B`",
                "and more",
                "Tool | Use",
                "`make` | build",
                "link bold very",
                "`make test`; `make lint`",
                "(code: rust title)",
                "Quoted.",
            ]
        );
    }

    #[test]
    fn the_title_of_a_text_is_no_section() {
        let markdown = "# Title\nIntro\n## A\na\n### A1\na1\n## B\nb";
        let read = read(markdown, &mut |_| ());
        assert_eq!(read.sections(), [0, 1, 1, 3]);
        let headings: Vec<_> = read.pieces.iter().map(|piece| piece.heading).collect();
        assert_eq!(headings, [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("one two three", 10), "one two…");
        assert_eq!(cut(&"한".repeat(500), 5), "한한한한…");
    }
}
