//! Mentions of agents in a text: an `@` before a name, outside of code and quotations.
//!
//! The work is linear in the text, whatever it contains and however many agents
//! there are: the names form one tree, and the walk that starts at an `@` never goes past the
//! next one.

mod folded;
mod prose;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::id::{AgentId, ProjectId};
use folded::{Script, Text, fold, is_word, key};
use prose::{decode_entities, visible_prose};

/// A text mentions at most so many agents; the rest is ignored.
pub const MAX_MENTIONS: usize = 20;

/// Of the words after an `@` that name nobody, at most so many are told.
const MAX_UNKNOWN: usize = 20;
/// And so many bytes of each, up to the end of a letter.
const UNKNOWN_LENGTH: usize = 64;

/// Whom a text mentions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// The agents: each once, in the order of their first mention, at most [`MAX_MENTIONS`].
    pub agents: Vec<AgentId>,
    /// Words after an `@` that name nobody, in lower case: each once.
    pub unknown: Vec<String>,
}

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

/// Whether two names are one, compared as mentions are.
pub fn is_alike(name: &str, other: &str) -> bool {
    comparable(name) == comparable(other)
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

    /// Whether a text may mention somebody at all.
    pub fn may_mention(body: &str) -> bool {
        body.contains(['@', '\u{ff20}', '\u{fe6b}', '&']) || body.contains("agent://")
    }

    /// Whom `body`, written in Markdown, mentions.
    pub fn mentions(&self, body: &str) -> Mentions {
        self.scan(body, &mut |_| {})
    }

    /// As [`mentions`](Self::mentions), telling `work` how many characters it
    /// looks at.
    fn scan(&self, body: &str, work: &mut dyn FnMut(usize)) -> Mentions {
        let prose = visible_prose(&decode_entities(body, work), work);
        let text = Text::new(fold(&prose).collect());
        work(text.chars.len());
        let mut mentions = Mentions::default();
        let mentioned = &mut mentions.agents;
        let mut at = 0;
        while at < text.chars.len() && mentioned.len() < MAX_MENTIONS {
            let may_start = text.chars[at] == '@' && !text.is_in_address(at, work);
            let found = may_start
                .then(|| {
                    self.link(&text, at, work)
                        .or_else(|| self.name(&text, at, work))
                })
                .flatten();
            match found {
                Some(Found { agents, end }) => {
                    if agents.is_empty() {
                        note_unknown(&mut mentions.unknown, &text.chars[at + 1..end], work);
                    }
                    for agent in agents {
                        if mentioned.len() < MAX_MENTIONS && !mentioned.contains(agent) {
                            mentioned.push(*agent);
                        }
                    }
                    at = end;
                }
                None => {
                    if may_start {
                        note_unknown(&mut mentions.unknown, &text.chars[at + 1..], work);
                    }
                    at += 1;
                }
            }
            work(1);
        }
        mentions
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

/// Notes the word that `chars` begin with. What begins with no letter is no name, and what a slash
/// follows is a part of a path.
fn note_unknown(unknown: &mut Vec<String>, chars: &[char], work: &mut dyn FnMut(usize)) {
    if unknown.len() >= MAX_UNKNOWN || !chars.first().is_some_and(|c| c.is_alphabetic()) {
        return;
    }
    let mut word = String::new();
    let mut rest = chars.iter().copied().peekable();
    while let Some(c) = rest.next_if(|&c| is_word(c) || c == '-') {
        work(1);
        if word.len() < UNKNOWN_LENGTH {
            word.push(c);
        }
    }
    let word = word.trim_end_matches('-');
    if rest.peek() != Some(&'/') && !unknown.iter().any(|known| known == word) {
        unknown.push(word.into());
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
