//! What changed within a line.

use std::ops::Range;

use super::patch::{Kind, Line};

/// The part of each line that differs from the one that it replaces, or is replaced by; `None`
/// where there is no such line, or hardly anything is the same.
pub(super) fn changed(lines: &[Line<'_>]) -> Vec<Option<Range<usize>>> {
    let mut marks = vec![None; lines.len()];
    let mut rest = 0;
    while let Some(begin) = position(lines, rest, |kind| kind == Kind::Removed) {
        let middle = position(lines, begin, |kind| kind != Kind::Removed).unwrap_or(lines.len());
        let end = position(lines, middle, |kind| kind != Kind::Added).unwrap_or(lines.len());
        for (old, new) in (begin..middle).zip(middle..end) {
            if let (Some(before), Some(after)) = (lines.get(old), lines.get(new))
                && let Some((of_old, of_new)) = differing(before.text, after.text)
            {
                for (place, mark) in [(old, of_old), (new, of_new)] {
                    if let Some(slot) = marks.get_mut(place) {
                        *slot = Some(mark);
                    }
                }
            }
        }
        rest = end.max(begin + 1);
    }
    marks
}

fn position(lines: &[Line<'_>], from: usize, is: impl Fn(Kind) -> bool) -> Option<usize> {
    let found = lines.iter().skip(from).position(|line| is(line.kind));
    found.map(|place| from + place)
}

/// The parts by which two lines differ, unless that is most of them.
fn differing(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    let pairs = old.chars().zip(new.chars());
    let begin: usize = pairs
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (old_rest, new_rest) = (old.split_at(begin).1, new.split_at(begin).1);
    let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
    let end: usize = pairs
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    // Lines that share little else than their indentation are not the same line.
    let shared = old.split_at(begin).0.trim_start().len() + end;
    let longer = old.trim().len().max(new.trim().len());
    let is_same = old.len() == new.len() && begin == old.len();
    let differ = (begin..old.len() - end, begin..new.len() - end);
    (shared * 4 >= longer && !is_same).then_some(differ)
}
