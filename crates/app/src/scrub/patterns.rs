use std::sync::Arc;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use workforce_domain::port::TextScrubber;

use super::forms::{encoded, plain};
use super::json::scrub_json;
use super::stream::StreamScrubber;

/// So many bytes of patterns at most: each costs about forty of memory. What
/// an environment can hold fits with its usual spellings.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// The values that a run must not write, in every spelling that is looked for.
/// Cheap to clone.
#[derive(Clone, Default)]
pub struct Patterns(Option<Arc<Search>>);

/// Finds patterns in one pass.
pub(super) struct Search {
    automaton: NFA,
    start: StateID,
    /// How long the beginning of a pattern is that each state has seen.
    depths: Vec<u32>,
    /// How long the longest pattern is that ends in each state; 0 for none.
    longest: Vec<u32>,
}

/// Shows nothing of any value.
impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patterns")
    }
}

impl Patterns {
    /// Looks for these values. Those of less than six characters are left
    /// out: they stand everywhere.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<&str> = values.into_iter().collect();
        // What they are comes before how else they may be spelled.
        let forms = values.iter().flat_map(|value| plain(value));
        let forms = forms.chain(values.iter().flat_map(|value| encoded(value)));
        let mut room = MOST_BYTES;
        let mut patterns: Vec<Vec<u8>> = forms
            .take_while(|form| {
                let fits = form.len() <= room;
                room = room.saturating_sub(form.len());
                fits
            })
            .collect();
        patterns.sort();
        patterns.dedup();
        Self(Search::of(&patterns).map(Arc::new))
    }

    /// The same text without the values, or `None` when it has none of them.
    pub fn scrub(&self, text: &str) -> Option<String> {
        let search = self.0.as_ref()?;
        if !search.finds_any(text.as_bytes()) {
            return None;
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut stream = self.stream();
        stream.push(text.as_bytes(), &mut clean);
        stream.finish(&mut clean);
        // Whole characters are taken out of whole characters.
        Some(String::from_utf8(clean).unwrap_or_else(|_damaged| super::REDACTED.to_owned()))
    }

    /// Cleans a text that comes in pieces.
    pub fn stream(&self) -> StreamScrubber {
        StreamScrubber::new(self.0.clone())
    }
}

impl TextScrubber for Patterns {
    fn scrub(&self, text: &str) -> Option<String> {
        Self::scrub(self, text)
    }

    fn scrub_json(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.0.as_ref()?;
        scrub_json(self, text)
    }
}

impl Search {
    fn of(patterns: &[Vec<u8>]) -> Option<Self> {
        if patterns.is_empty() {
            return None;
        }
        // It fails for more states than numbers, which the bound rules out.
        let automaton = NFA::new(patterns).ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let mut depths = Vec::new();
        let mut longest = Vec::new();
        for pattern in patterns {
            let mut state = start;
            for (seen, &byte) in (1..).zip(pattern) {
                state = automaton.next_state(Anchored::No, state, byte);
                put(&mut depths, state, seen);
                if automaton.is_match(state) {
                    let ends = (0..automaton.match_len(state))
                        .map(|n| automaton.pattern_len(automaton.match_pattern(state, n)));
                    put(&mut longest, state, ends.max().unwrap_or(0) as u32);
                }
            }
        }
        Some(Self {
            automaton,
            start,
            depths,
            longest,
        })
    }

    pub(super) const fn start(&self) -> StateID {
        self.start
    }

    pub(super) fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// How long the longest end of what was seen is that begins a pattern.
    pub(super) fn depth(&self, state: StateID) -> usize {
        at(&self.depths, state)
    }

    /// How long the longest pattern is that ends here.
    pub(super) fn longest(&self, state: StateID) -> usize {
        at(&self.longest, state)
    }

    fn finds_any(&self, text: &[u8]) -> bool {
        let mut state = self.start;
        text.iter().any(|&byte| {
            state = self.next(state, byte);
            self.longest(state) > 0
        })
    }
}

fn put(values: &mut Vec<u32>, state: StateID, value: u32) {
    let place = state.as_usize();
    if values.len() <= place {
        values.resize(place + 1, 0);
    }
    values[place] = value;
}

fn at(values: &[u32], state: StateID) -> usize {
    values
        .get(state.as_usize())
        .map_or(0, |&value| value as usize)
}
