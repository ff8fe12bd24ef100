use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::noncontiguous::NFA;

/// Finds patterns in one pass.
pub(super) struct Search {
    automaton: NFA,
    start: StateID,
    /// For each state, how many bytes of a pattern lead to it.
    depths: Vec<u32>,
    /// For each state, the length of the longest pattern that ends there; 0 for
    /// none.
    longest: Vec<u32>,
}

impl Search {
    pub(super) fn of(patterns: &[Vec<u8>]) -> Option<Self> {
        if patterns.is_empty() {
            return None;
        }
        // It fails only when there are more states than ids for them, which
        // the bound on patterns rules out.
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

    /// How many of the latest bytes may be the beginning of a pattern.
    pub(super) fn depth(&self, state: StateID) -> usize {
        at(&self.depths, state)
    }

    /// The length of the longest pattern that ends here; 0 for none.
    pub(super) fn longest(&self, state: StateID) -> usize {
        at(&self.longest, state)
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
