//! A short form of a project's conventions: an extract that no model is asked
//! for, so that it works offline and gives the same bytes every time
//! (docs/workspaces.md#short-form).
//!
//! What fits is kept as it is, but for white space. Of a longer text the
//! sentences, list items and table rows are weighed, and the weightiest are
//! printed in their order under the names of their headings. The Markdown is
//! read by a parser that needs the standard library, which is why this is not
//! part of the domain.
//!
//! Every step takes time in proportion to the length of the text, but for one
//! sort of its pieces.

mod fences;
mod normalize;
mod pieces;
mod score;
mod select;
mod truncate;
mod vocabulary;

pub use truncate::squeeze;

/// A short form has at least this bound.
pub const SHORTEST_LIMIT: usize = 400;
/// A short form has at most this bound.
pub const LONGEST_LIMIT: usize = 8000;
/// The bound of a short form that nobody gave another.
pub const DEFAULT_LIMIT: usize = 2000;

/// The part of the bound that a backstory may take, as a divisor.
const BACKSTORY_PART: usize = 4;
/// A backstory is cut to so many sentences.
const BACKSTORY_SENTENCES: usize = 2;

/// The short form of a backstory and of conventions in Markdown, in at most
/// `limit` characters and never longer than the two together. Given the short
/// form as conventions, with the backstory or without, it gives the same
/// again. The limit is taken as the nearest one that is allowed.
pub fn compact(backstory: &str, conventions: &str, limit: usize) -> String {
    compact_counting(backstory, conventions, limit, &mut |_| ())
}

/// The same, and tells `work` how many steps each stage took, about.
pub fn compact_counting(
    backstory: &str,
    conventions: &str,
    limit: usize,
    work: &mut dyn FnMut(usize),
) -> String {
    let limit = limit.clamp(SHORTEST_LIMIT, LONGEST_LIMIT);
    work(backstory.len() + conventions.len());
    let (story, rules) = (squeeze(backstory), squeeze(conventions));
    let brief = brief(&story, limit / BACKSTORY_PART, work);
    // A short form that is summed up again begins with its backstory, and a
    // backstory without a word tells nothing.
    let is_covered = brief.is_empty() || rules.contains(&story) || rules.contains(&brief);
    let whole = match (rules.is_empty(), is_covered) {
        (true, _) => story.clone(),
        (false, true) => rules.clone(),
        (false, false) => squeeze(&format!("{story}\n\n{rules}")),
    };
    if whole.chars().count() <= limit {
        return whole;
    }
    if !is_covered {
        let shortened = squeeze(&format!("{brief}\n\n{rules}"));
        if shortened.chars().count() <= limit {
            return shortened;
        }
    }
    let pieces = pieces::read(&normalize::strip(&rules), work);
    let extract = squeeze(&select::print(&brief, &pieces, limit, work));
    // Conventions of which nothing is left count as none.
    if extract.is_empty() && story.chars().count() <= limit {
        return story;
    }
    extract
}

/// The first sentences of a text, in at most `limit` characters.
fn brief(text: &str, limit: usize, work: &mut dyn FnMut(usize)) -> String {
    if text.is_empty() {
        return String::new();
    }
    let pieces = pieces::read(&normalize::strip(text), work);
    let sentences: Vec<&str> = pieces
        .pieces
        .iter()
        .take(BACKSTORY_SENTENCES)
        .map(|piece| piece.text.as_str())
        .collect();
    pieces::cut(&sentences.join(" "), limit)
}
