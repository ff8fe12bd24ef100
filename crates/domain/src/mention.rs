//! Mentions of agents in a text (docs/issues.md#mentions).
//!
//! The work is linear in the text, whatever it contains and however many agents
//! there are (docs/access.md#limits): the names form one tree, and the walk
//! that starts at an `@` never goes past the next one.

mod prose;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::id::{AgentId, ProjectId};
use prose::{decode_entities, visible_prose};

/// A text mentions at most so many agents; the rest is ignored.
pub const MAX_MENTIONS: usize = 20;

/// An agent as a text can mention it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mentionable {
    /// Its id, named by a link `[@Name](agent://id)`.
    pub id: AgentId,
    /// Its name; agents that share one are mentioned together. A name that
    /// contains an `@` is matched by its link and its short name only.
    pub name: String,
    /// Its short name.
    pub url_key: String,
}

/// The agents of a company, ready to be found in texts.
#[derive(Clone, Debug)]
pub struct MentionIndex {
    known: BTreeSet<AgentId>,
    edges: BTreeMap<(usize, char), usize>,
    nodes: Vec<Node>,
}

/// A place in the tree of names: who is called by the path that leads here.
#[derive(Clone, Debug, Default)]
struct Node {
    names: Vec<AgentId>,
    url_keys: Vec<AgentId>,
}

/// The projects that a text, written in Markdown, links to as
/// `[name](project://id)`: each once, in the order of their first mention, at
/// most [`MAX_MENTIONS`].
pub fn mentioned_projects(body: &str) -> Vec<ProjectId> {
    const OPENING: &str = "](project://";
    const ID_LENGTH: usize = 36;
    let mut mentioned = Vec::new();
    if !body.contains("project:") && !body.contains('&') {
        return mentioned;
    }
    let prose = visible_prose(&decode_entities(body, &mut |_| {}), &mut |_| {});
    for (place, _) in prose.match_indices(OPENING) {
        let target = &prose[place + OPENING.len()..];
        let Some(Ok(id)) = target.get(..ID_LENGTH).map(str::parse) else {
            continue;
        };
        let ends = target[ID_LENGTH..].starts_with([')', '?']);
        if ends && mentioned.len() < MAX_MENTIONS && !mentioned.contains(&id) {
            mentioned.push(id);
        }
    }
    mentioned
}

/// The one of `names` that `name` means, compared as mentions are: without
/// regard to case, to forms of a letter that look alike, and to the choice
/// between blank, hyphen and underscore. `None` when it is none or several.
pub fn only_alike<'a>(names: &'a [String], name: &str) -> Option<&'a str> {
    let wanted: String = comparable(name);
    let mut alike = names.iter().filter(|it| comparable(it) == wanted);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn comparable(name: &str) -> String {
    let folded: String = fold(name).map(key).collect();
    folded.trim().into()
}

/// What an `@` turned out to be, and where the text goes on after it.
struct Found<'a> {
    agents: &'a [AgentId],
    end: usize,
}

impl FromIterator<Mentionable> for MentionIndex {
    fn from_iter<I: IntoIterator<Item = Mentionable>>(agents: I) -> Self {
        let mut index = Self {
            known: BTreeSet::new(),
            edges: BTreeMap::new(),
            nodes: alloc::vec![Node::default()],
        };
        for Mentionable { id, name, url_key } in agents {
            index.known.insert(id);
            if let Some(node) = index.insert(&name) {
                node.names.push(id);
            }
            if let Some(node) = index.insert(&url_key) {
                node.url_keys.push(id);
            }
        }
        index
    }
}

impl MentionIndex {
    /// An index of `agents`.
    pub fn new(agents: impl IntoIterator<Item = Mentionable>) -> Self {
        agents.into_iter().collect()
    }

    /// The agents that `body`, written in Markdown, mentions: each once, in
    /// the order of their first mention, at most [`MAX_MENTIONS`].
    pub fn mentions(&self, body: &str) -> Vec<AgentId> {
        self.scan(body, &mut |_| {})
    }

    /// As [`mentions`](Self::mentions), telling `work` how many characters it
    /// looks at.
    fn scan(&self, body: &str, work: &mut dyn FnMut(usize)) -> Vec<AgentId> {
        let prose = visible_prose(&decode_entities(body, work), work);
        let text = Text::new(fold(&prose).collect());
        work(text.chars.len());
        let mut mentioned: Vec<AgentId> = Vec::new();
        let mut at = 0;
        while at < text.chars.len() && mentioned.len() < MAX_MENTIONS {
            let may_start = text.chars[at] == '@' && !text.before(at).is_some_and(is_word);
            let found = may_start
                .then(|| {
                    self.link(&text, at, work)
                        .or_else(|| self.name(&text, at, work))
                })
                .flatten();
            match found {
                Some(Found { agents, end }) => {
                    for agent in agents {
                        if mentioned.len() < MAX_MENTIONS && !mentioned.contains(agent) {
                            mentioned.push(*agent);
                        }
                    }
                    at = end;
                }
                None => at += 1,
            }
            work(1);
        }
        mentioned
    }

    /// The link `[@Name](agent://id)` whose `@` is at `at`. One that leads to
    /// no agent of the company mentions nobody, whatever name it shows.
    fn link(&self, text: &Text, at: usize, work: &mut dyn FnMut(usize)) -> Option<Found<'_>> {
        if text.before(at) != Some('[') {
            return None;
        }
        let close = text.label_end(at, work)?;
        let (id, end) = text.agent_target(close, work)?;
        let agents = self.known.get(&id).map_or(&[][..], core::slice::from_ref);
        Some(Found { agents, end })
    }

    /// The longest name that follows the `@` at `at`; of two equally long, a
    /// name goes before a short name.
    fn name(&self, text: &Text, at: usize, work: &mut dyn FnMut(usize)) -> Option<Found<'_>> {
        let mut best = None;
        let mut node = 0;
        let mut script = Script::Latin;
        for (position, &c) in text.chars.iter().enumerate().skip(at + 1) {
            work(1);
            let Some(&next) = self.edges.get(&(node, key(c))) else {
                break;
            };
            node = next;
            script = script.with(c);
            let agents = self.nodes[node].agents();
            let end = position + 1;
            if !agents.is_empty() && text.ends_name(end, script) {
                best = Some(Found { agents, end });
            }
        }
        best
    }

    /// The node that `name` leads to; `None` for a name that nothing can
    /// match.
    fn insert(&mut self, name: &str) -> Option<&mut Node> {
        let folded: String = fold(name).collect();
        let folded = folded.trim().trim_start_matches('@');
        if folded.is_empty() || folded.contains('@') {
            return None;
        }
        let mut node = 0;
        for c in folded.chars() {
            let unused = self.nodes.len();
            node = *self.edges.entry((node, key(c))).or_insert(unused);
            if node == unused {
                self.nodes.push(Node::default());
            }
        }
        self.nodes.get_mut(node)
    }
}

impl Node {
    fn agents(&self) -> &[AgentId] {
        if self.names.is_empty() {
            &self.url_keys
        } else {
            &self.names
        }
    }
}

/// Whether every letter of a name so far is a Latin one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Other,
}

impl Script {
    fn with(self, c: char) -> Self {
        if c.is_alphabetic() && !is_latin(c) {
            Self::Other
        } else {
            self
        }
    }
}

/// A folded text.
struct Text {
    chars: Vec<char>,
}

impl Text {
    const fn new(chars: Vec<char>) -> Self {
        Self { chars }
    }

    fn before(&self, at: usize) -> Option<char> {
        at.checked_sub(1)
            .and_then(|before| self.chars.get(before))
            .copied()
    }

    /// True when a name of `script` may end at `end`: what follows belongs to
    /// no word, or is the ending that a language of another script puts
    /// directly after a Latin name.
    fn ends_name(&self, end: usize, script: Script) -> bool {
        self.chars.get(end).is_none_or(|&next| {
            !is_word(next) || (script == Script::Latin && next.is_alphabetic() && !is_latin(next))
        })
    }

    /// The `]` after `at`, if no `[` comes before it. Since labels start with
    /// a `[`, no part of the text is read for two of them.
    fn label_end(&self, at: usize, work: &mut dyn FnMut(usize)) -> Option<usize> {
        let mut places = self.chars.iter().enumerate().skip(at);
        let (end, &bracket) = places.find(|(_, c)| {
            work(1);
            matches!(c, '[' | ']')
        })?;
        (bracket == ']').then_some(end)
    }

    /// Reads `](agent://id)` or `](agent://id?...)` at `close`; the id and
    /// where the text goes on.
    fn agent_target(&self, close: usize, work: &mut dyn FnMut(usize)) -> Option<(AgentId, usize)> {
        const OPENING: &str = "](agent://";
        const ID_LENGTH: usize = 36;
        const MAX_QUERY: usize = 64;
        work(OPENING.len());
        let id_start = close + OPENING.len();
        let opening = self.chars.get(close..id_start)?;
        if !opening.iter().copied().eq(OPENING.chars()) {
            return None;
        }
        work(ID_LENGTH);
        let id_end = id_start + ID_LENGTH;
        let id: String = self.chars.get(id_start..id_end)?.iter().collect();
        let id = id.parse().ok()?;
        let length = match self.chars.get(id_end)? {
            ')' => 0,
            '?' => self.chars[id_end..]
                .iter()
                .take(MAX_QUERY)
                .position(|&c| c == ')')?,
            _ => return None,
        };
        work(length);
        Some((id, id_end + length + 1))
    }
}

/// Compatibility composition and lower case, so that what looks alike compares
/// alike. Stream-safe: no run of combining marks costs more than its length.
fn fold(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars()
        .stream_safe()
        .nfkc()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            'ς' => 'σ',
            other => other,
        })
}

/// Spaces, hyphens and underscores compare alike.
const fn key(c: char) -> char {
    match c {
        '-' | '_' => ' ',
        other => other,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// True for letters of the Latin script that compatibility composition leaves.
const fn is_latin(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'A'..='Z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}'
        | '\u{1d00}'..='\u{1d25}' | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{a722}'..='\u{a787}' | '\u{a78b}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab64}')
}
