//! The table that is printed in the end.

use std::collections::BTreeMap;
use std::fmt;

use super::killer::Killer;
use super::notes::Notes;
use crate::histories::Histories;

/// What happened, in numbers.
pub(super) struct Report {
    lines: Vec<(String, String)>,
}

impl Report {
    pub(super) fn of(killer: &Killer, notes: &Notes, histories: &Histories) -> Self {
        let mut report = Self { lines: Vec::new() };
        report.add("killed", &tally(killer.killed()));
        let mut writes: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for write in notes.writes().values() {
            let fates = writes.entry(write.kind).or_default();
            *fates.entry(write.fate).or_default() += 1;
        }
        for (kind, fates) in &writes {
            report.add(&format!("{kind:?} writes"), &tally(fates));
        }
        let (issues, deeds) = histories.count();
        report.add("histories", &format!("{deeds} deeds on {issues} issues"));
        report.add("their answers", &tally(&histories.answers()));
        report
    }

    /// One more line.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.lines.push((name.to_owned(), value.to_owned()));
    }
}

/// Words with their numbers.
pub(super) fn tally<K: fmt::Debug>(counts: &BTreeMap<K, usize>) -> String {
    let words = counts.iter().map(|(word, count)| {
        let word = format!("{word:?}").to_lowercase();
        format!("{count} {}", word.trim_matches('"'))
    });
    words.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.lines {
            writeln!(f, "  {name:<20} {value}")?;
        }
        Ok(())
    }
}
