use std::collections::VecDeque;

use super::REDACTED;
use super::finder::Finder;

/// Cleans a text that comes in pieces. Bytes that may begin a value are held
/// back until that is decided: at most as many as the longest spelling has when
/// each of its characters is escaped. Each reading looks at every byte once.
///
/// Where values overlap, one marker replaces everything that belongs to any of
/// them.
pub struct StreamScrubber {
    finder: Option<Finder>,
    /// Bytes that are not decided yet.
    held: Vec<u8>,
    /// Where `held` begins in the whole text.
    begin: usize,
    finds: Finds,
}

/// The ranges to replace, as places in the whole text.
#[derive(Default)]
struct Finds {
    /// Where the text ends that the last written marker stands for.
    covered: usize,
    /// The ranges that no marker was written for yet, in order and without
    /// overlaps.
    ahead: VecDeque<(usize, usize)>,
}

/// Shows nothing of what is held back.
impl std::fmt::Debug for StreamScrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StreamScrubber")
    }
}

impl StreamScrubber {
    pub(super) fn new(finder: Option<Finder>) -> Self {
        Self {
            finder,
            held: Vec::new(),
            begin: 0,
            finds: Finds::default(),
        }
    }

    /// Appends to `clean` what is known to be free of values.
    pub fn push(&mut self, chunk: &[u8], clean: &mut Vec<u8>) {
        let Some(finder) = &mut self.finder else {
            clean.extend_from_slice(chunk);
            return;
        };
        for &byte in chunk {
            finder.push(byte, &mut |start, end| self.finds.note(start, end));
        }
        let bound = finder.bound();
        self.held.extend_from_slice(chunk);
        self.emit(bound, clean);
    }

    /// Appends what was held back; no more comes.
    pub fn finish(&mut self, clean: &mut Vec<u8>) {
        if let Some(finder) = &mut self.finder {
            finder.finish(&mut |start, end| self.finds.note(start, end));
        }
        self.emit(self.begin + self.held.len(), clean);
    }

    /// Writes the text before `bound`. Every find that begins there is known.
    fn emit(&mut self, bound: usize, clean: &mut Vec<u8>) {
        let mut at = self.begin;
        while at < bound {
            if at < self.finds.covered {
                at = self.finds.covered.min(bound);
            } else if let Some((start, end)) = self.finds.ahead.pop_front_if(|(it, _)| *it < bound)
            {
                clean.extend_from_slice(&self.held[at - self.begin..start - self.begin]);
                clean.extend_from_slice(REDACTED.as_bytes());
                self.finds.covered = end;
                at = start;
            } else {
                clean.extend_from_slice(&self.held[at - self.begin..bound - self.begin]);
                at = bound;
            }
        }
        self.held.drain(..bound - self.begin);
        self.begin = bound;
    }
}

impl Finds {
    /// Notes a find, together with those that it overlaps. An escape delays a
    /// find, so some that end after it may be noted already. They overlap it,
    /// since the delay is shorter than the shortest value: the ranges stay in
    /// order.
    fn note(&mut self, start: usize, end: usize) {
        let (mut start, mut end) = (start, end);
        while let Some((earlier, later)) = self.ahead.pop_back_if(|(_, last)| *last > start) {
            start = start.min(earlier);
            end = end.max(later);
        }
        if start < self.covered {
            self.covered = self.covered.max(end);
        } else {
            self.ahead.push_back((start, end));
        }
    }
}
