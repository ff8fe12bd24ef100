use std::collections::BTreeSet;
use std::sync::Arc;

use workforce_domain::port::TextScrubber;

use super::finder::{Finder, Searches};
use super::forms::{base64, base64_begun, encoded, meant, plain};
use super::json::scrub_json;
use super::search::Search;
use super::stream::StreamScrubber;

/// At most so many bytes of patterns, since each costs about forty bytes of
/// memory. The values that an environment can hold fit, with their usual
/// spellings.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// The values that a run must not write, in every spelling that is looked for.
/// Cheap to clone.
#[derive(Clone, Default)]
pub struct Patterns(Option<Arc<Searches>>);

/// Shows nothing of any value.
impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patterns")
    }
}

impl Patterns {
    /// Looks for these values. Those of less than six characters are left out,
    /// since they are found everywhere by chance.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<&str> = values.into_iter().collect();
        let mut room = MOST_BYTES;
        let mut taken = |forms: fn(&str) -> BTreeSet<Vec<u8>>| -> Vec<Vec<u8>> {
            let mut patterns: Vec<Vec<u8>> = values
                .iter()
                .flat_map(|value| forms(value))
                .take_while(|form| {
                    let fits = form.len() <= room;
                    room = room.saturating_sub(form.len());
                    fits
                })
                .collect();
            patterns.sort();
            patterns.dedup();
            patterns
        };
        // When room runs out, other spellings are left out before the values.
        let mut written = taken(plain);
        let meant = taken(meant);
        written.extend(taken(encoded));
        let mut unbroken = taken(base64);
        unbroken.extend(taken(base64_begun));
        for patterns in [&mut written, &mut unbroken] {
            patterns.sort();
            patterns.dedup();
        }
        if written.is_empty() {
            return Self::default();
        }
        Self(Some(Arc::new(Searches {
            written: Search::of(&written),
            meant: Search::of(&meant),
            unbroken: Search::of(&unbroken),
        })))
    }

    /// The same text without the values, or `None` when it has none of them.
    pub fn scrub(&self, text: &str) -> Option<String> {
        let mut finder = Finder::new(Arc::clone(self.0.as_ref()?));
        let mut is_clean = true;
        for &byte in text.as_bytes() {
            finder.push(byte, &mut |_, _| is_clean = false);
            if !is_clean {
                break;
            }
        }
        finder.finish(&mut |_, _| is_clean = false);
        if is_clean {
            return None;
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut stream = self.stream();
        stream.push(text.as_bytes(), &mut clean);
        stream.finish(&mut clean);
        // Finds begin and end between characters, so this does not fail.
        Some(String::from_utf8(clean).unwrap_or_else(|_damaged| super::REDACTED.to_owned()))
    }

    /// Cleans a text that comes in pieces.
    pub fn stream(&self) -> StreamScrubber {
        StreamScrubber::new(self.0.clone().map(Finder::new))
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
