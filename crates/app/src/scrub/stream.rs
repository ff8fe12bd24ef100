use std::collections::VecDeque;
use std::sync::Arc;

use aho_corasick::automaton::StateID;

use super::REDACTED;
use super::patterns::Search;

/// Cleans a text that comes in pieces. What may be the beginning of a value is
/// held back until it is known; so are at most as many bytes as the longest
/// pattern has. Every byte is looked at once.
///
/// Where values overlap, everything that belongs to any of them goes: of two
/// that share a piece neither leaves a rest.
pub struct StreamScrubber {
    search: Option<Arc<Search>>,
    state: StateID,
    /// What is not decided yet.
    held: Vec<u8>,
    /// Where it begins in the whole text.
    begin: usize,
    /// Up to where the marker that was written last stands for the text.
    covered: usize,
    /// What is to go of what is held, in order and without overlaps.
    finds: VecDeque<(usize, usize)>,
}

/// Shows nothing of what is held back.
impl std::fmt::Debug for StreamScrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StreamScrubber")
    }
}

impl StreamScrubber {
    pub(super) fn new(search: Option<Arc<Search>>) -> Self {
        Self {
            state: search
                .as_ref()
                .map_or(StateID::ZERO, |search| search.start()),
            search,
            held: Vec::new(),
            begin: 0,
            covered: 0,
            finds: VecDeque::new(),
        }
    }

    /// Appends to `clean` what is known to be free of values.
    pub fn push(&mut self, chunk: &[u8], clean: &mut Vec<u8>) {
        let Some(search) = self.search.clone() else {
            clean.extend_from_slice(chunk);
            return;
        };
        let mut end = self.begin + self.held.len();
        for &byte in chunk {
            self.state = search.next(self.state, byte);
            end += 1;
            let found = search.longest(self.state);
            if found > 0 {
                self.note(end - found, end);
            }
        }
        self.held.extend_from_slice(chunk);
        self.emit(end - search.depth(self.state), clean);
    }

    /// Appends what was held back; no more comes.
    pub fn finish(&mut self, clean: &mut Vec<u8>) {
        self.emit(self.begin + self.held.len(), clean);
    }

    /// Notes a find; each ends where the one before ended, or later.
    fn note(&mut self, start: usize, end: usize) {
        let mut start = start;
        while let Some((earlier, _)) = self.finds.pop_back_if(|(_, last)| *last > start) {
            start = start.min(earlier);
        }
        if start < self.covered {
            self.covered = end;
        } else {
            self.finds.push_back((start, end));
        }
    }

    /// Writes down what lies before `bound`: no find begins there any more
    /// that is not known.
    fn emit(&mut self, bound: usize, clean: &mut Vec<u8>) {
        let mut at = self.begin;
        while at < bound {
            if at < self.covered {
                at = self.covered.min(bound);
            } else if let Some((start, end)) = self.finds.pop_front_if(|(it, _)| *it < bound) {
                clean.extend_from_slice(&self.held[at - self.begin..start - self.begin]);
                clean.extend_from_slice(REDACTED.as_bytes());
                self.covered = end;
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
