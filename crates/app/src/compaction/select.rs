use std::cmp::Reverse;
use std::collections::HashSet;

use super::pieces::{self, Piece, Pieces};
use super::score::weight;
use super::vocabulary;

/// `- ` before a piece and the line break after it.
const AROUND_PIECE: usize = 3;
/// A blank line, `## ` before a heading and the line break after it.
const AROUND_HEADING: usize = 5;
/// A blank line after the backstory.
const AFTER_BRIEF: usize = 2;

/// The weightiest pieces that fit into `limit` characters after `brief`, in
/// their order, below their headings.
pub(super) fn print(
    brief: &str,
    found: &Pieces,
    limit: usize,
    work: &mut dyn FnMut(usize),
) -> String {
    let mut used = 0;
    if !brief.is_empty() {
        used = brief.chars().count() + AFTER_BRIEF;
    }
    let mut is_open = vec![false; found.headings.len()];
    let mut chosen = Vec::new();
    for index in ranked(brief, found, work) {
        let piece = &found.pieces[index];
        let mut cost = piece.text.chars().count() + AROUND_PIECE;
        if let Some(heading) = piece.heading.filter(|heading| !is_open[*heading]) {
            cost += found.headings[heading].label.chars().count() + AROUND_HEADING;
        }
        if used + cost <= limit {
            used += cost;
            if let Some(heading) = piece.heading {
                is_open[heading] = true;
            }
            chosen.push(index);
        }
    }
    chosen.sort_unstable();
    written(brief, found, &chosen)
}

/// The pieces in the order in which they are to be taken: of each section the
/// weightiest first, then by weight, and of equals the earlier one. Of those
/// that say the same only the first is there, and none that says what `brief`
/// says.
fn ranked(brief: &str, found: &Pieces, work: &mut dyn FnMut(usize)) -> Vec<usize> {
    let sections = found.sections();
    let said = pieces::read(brief, work).pieces;
    let mut seen: HashSet<Vec<String>> = said
        .iter()
        .map(|piece| meaning(vocabulary::words(&piece.text)))
        .collect();
    let mut weights: Vec<(usize, i32)> = Vec::new();
    for (index, piece) in found.pieces.iter().enumerate() {
        work(piece.text.len());
        let words = vocabulary::words(&piece.text);
        let heading = piece.heading.map(|heading| &found.headings[heading]);
        let weight = weight(piece, &words, heading);
        if seen.insert(meaning(words)) {
            weights.push((index, weight));
        }
    }
    work(weights.len());
    weights.sort_by_key(|(index, weight)| (Reverse(*weight), *index));
    let mut heads = HashSet::new();
    let section = |piece: &Piece| piece.heading.map(|heading| sections[heading]);
    let (first, rest): (Vec<usize>, Vec<usize>) = weights
        .into_iter()
        .map(|(index, _)| index)
        .partition(|index| heads.insert(section(&found.pieces[*index])));
    first.into_iter().chain(rest).collect()
}

/// The words by which texts that say the same are known, whatever their order.
fn meaning(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| !vocabulary::is_filler(word));
    words.sort_unstable();
    words.dedup();
    words
}

fn written(brief: &str, found: &Pieces, chosen: &[usize]) -> String {
    let mut text = String::from(brief);
    if !brief.is_empty() {
        text.push_str("\n\n");
    }
    let mut below = None;
    for index in chosen {
        let piece = &found.pieces[*index];
        if let Some(heading) = piece.heading.filter(|heading| below != Some(*heading)) {
            let label = &found.headings[heading].label;
            text.push_str("\n## ");
            text.push_str(label);
            text.push('\n');
            below = Some(heading);
        }
        text.push_str("- ");
        text.push_str(&piece.text);
        text.push('\n');
    }
    text
}
