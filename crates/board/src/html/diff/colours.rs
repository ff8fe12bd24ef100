//! The colours of source text, as classes.

use std::ops::Range;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, ScopeStack, ScopeStackOp, SyntaxSet};

use super::LONGEST;
use super::patch::{Kind, Line};
use crate::html::output::Output;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// The beginnings of scopes, and the class of what they stand for. The first that fits counts.
const CLASSES: [(&str, &str); 13] = [
    ("comment", "k-c"),
    ("punctuation.definition.comment", "k-c"),
    ("string", "k-s"),
    ("punctuation.definition.string", "k-s"),
    ("constant", "k-n"),
    ("keyword.operator", ""),
    ("keyword", "k-k"),
    ("storage", "k-k"),
    ("entity.name.function", "k-f"),
    ("support.function", "k-f"),
    ("entity.name", "k-t"),
    ("support.type", "k-t"),
    ("entity.other.attribute-name", "k-t"),
];

/// A part of a line, and its class.
type Piece = (Range<usize>, &'static str);

/// Where a side of the differences stands in its text.
struct Side {
    state: ParseState,
    stack: ScopeStack,
}

/// Paints the lines of a file, before and after, in their order.
pub(super) struct Painter(Option<[Side; 2]>);

impl Painter {
    /// Of the file with this path; without colours unless wanted.
    pub(super) fn of(path: &str, is_wanted: bool) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit('.').next().unwrap_or_default();
        let syntax = is_wanted
            .then(|| {
                let named = SYNTAXES.find_syntax_by_extension(name);
                named.or_else(|| SYNTAXES.find_syntax_by_extension(ending))
            })
            .flatten();
        Self(syntax.map(|syntax| {
            let side = || Side {
                state: ParseState::new(syntax),
                stack: ScopeStack::new(),
            };
            [side(), side()]
        }))
    }

    /// A line as markup; what changed of it is marked.
    pub(super) fn paint(&mut self, line: &Line<'_>, changed: Option<&Range<usize>>) -> String {
        let cut = line.text.floor_char_boundary(LONGEST);
        let (text, rest) = line.text.split_at(cut);
        let pieces = self.pieces(line, text, !rest.is_empty());
        let tag = match line.kind {
            Kind::Added => "ins",
            Kind::Removed => "del",
            Kind::Hunk | Kind::Same => "span",
        };
        let mut markup = String::with_capacity(text.len() * 2);
        for (range, class) in pieces {
            for (part, is_changed) in split(range, changed) {
                let tag = if is_changed { tag } else { "span" };
                write(&mut markup, text.get(part).unwrap_or_default(), tag, class);
            }
        }
        if !rest.is_empty() {
            let rest = format!(" … {} more bytes", rest.len());
            write(&mut markup, &rest, "span", "dim");
        }
        markup
    }

    fn pieces(&mut self, line: &Line<'_>, text: &str, is_cut: bool) -> Vec<Piece> {
        let plain = vec![(0..text.len(), "")];
        let Some([old, new]) = &mut self.0 else {
            return plain;
        };
        let painted = match line.kind {
            // What is left out is not known, so it begins anew.
            Kind::Hunk => return plain,
            _ if is_cut => None,
            Kind::Removed => old.read(text),
            Kind::Added => new.read(text),
            Kind::Same => {
                let painted = new.read(text);
                old.read(text).and(painted)
            }
        };
        if painted.is_none() {
            // A text that cannot be read has no colours from here on.
            self.0 = None;
        }
        painted.unwrap_or(plain)
    }
}

impl Side {
    /// The pieces of the next line; `None` when it cannot be read.
    fn read(&mut self, text: &str) -> Option<Vec<Piece>> {
        let line = format!("{text}\n");
        let changes = self.state.parse_line(&line, &SYNTAXES).ok()?;
        let (mut pieces, mut begin) = (Vec::new(), 0);
        for (place, change) in changes {
            let place = place.min(text.len());
            if place > begin {
                pieces.push((begin..place, class(&self.stack)));
                begin = place;
            }
            self.apply(&change)?;
        }
        pieces.push((begin..text.len(), class(&self.stack)));
        Some(pieces)
    }

    fn apply(&mut self, change: &ScopeStackOp) -> Option<()> {
        self.stack.apply(change).ok()
    }
}

/// The class of what the innermost scope that has one stands for.
fn class(stack: &ScopeStack) -> &'static str {
    let scopes = stack.as_slice().iter().rev();
    let known = scopes.filter_map(|scope| {
        let scope = scope.build_string();
        let found = CLASSES.iter().find(|(begin, _)| scope.starts_with(begin));
        found.map(|(_, class)| *class)
    });
    known.take(1).next().unwrap_or_default()
}

/// The parts of a range, and whether each lies within another.
fn split(range: Range<usize>, changed: Option<&Range<usize>>) -> Vec<(Range<usize>, bool)> {
    let Some(changed) = changed else {
        return vec![(range, false)];
    };
    let begin = changed.start.clamp(range.start, range.end);
    let end = changed.end.clamp(begin, range.end);
    let parts = [
        (range.start..begin, false),
        (begin..end, true),
        (end..range.end, false),
    ];
    let parts = parts.into_iter().filter(|(part, _)| !part.is_empty());
    parts.collect()
}

fn write(markup: &mut String, text: &str, tag: &str, class: &str) {
    let text = Output::new(text).to_string();
    let class = match class {
        "" if tag == "span" => {
            markup.push_str(&text);
            return;
        }
        "" => String::new(),
        class => format!(r#" class="{class}""#),
    };
    markup.push_str(&format!("<{tag}{class}>{text}</{tag}>"));
}
