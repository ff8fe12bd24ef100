//! What many clients did to one issue at the same time, and whether it could have been done one
//! after the other.
//!
//! Each issue has a history of its own: linearizability is local, and short histories are checked
//! soon (docs/contributing.md#histories).

mod issue;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use stateright::semantics::{ConsistencyTester as _, LinearizabilityTester};

pub(crate) use issue::{Answer, Caller, Deed, Issue, answer_of, seen_in};

/// What somebody did, between two instants.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) deed: Deed,
    pub(crate) began: Instant,
    /// When it was answered, and with what. What was never answered may have been done at any time
    /// since, or not at all.
    pub(crate) answered: Option<(Instant, Answer)>,
}

/// The histories of issues, by what names them.
#[derive(Debug, Default)]
pub(crate) struct Histories(Mutex<BTreeMap<String, Vec<Record>>>);

impl Histories {
    /// Adds what was done to an issue.
    pub(crate) fn add(&self, issue: &str, record: Record) {
        let mut histories = self.0.lock().unwrap();
        histories.entry(issue.to_owned()).or_default().push(record);
    }

    /// How many issues have a history, and how many deeds these have.
    pub(crate) fn count(&self) -> (usize, usize) {
        let histories = self.0.lock().unwrap();
        (histories.len(), histories.values().map(Vec::len).sum())
    }

    /// The issues to which nothing was done for no longer than this.
    pub(crate) fn issues_since(&self, age: Duration) -> Vec<String> {
        let histories = self.0.lock().unwrap();
        let is_recent = |record: &Record| record.began.elapsed() < age;
        histories
            .iter()
            .filter(|(_, records)| records.iter().any(is_recent))
            .map(|(issue, _)| issue.clone())
            .collect()
    }

    /// How often each answer was given, and how often there was none.
    pub(crate) fn answers(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for record in self.0.lock().unwrap().values().flatten() {
            let answer = match (&record.deed, &record.answered) {
                (_, None) => "unknown",
                (Deed::Claim(_), _) => "claimed",
                (_, Some((_, answer))) => answer.kind(),
            };
            *counts.entry(answer.to_owned()).or_default() += 1;
        }
        counts
    }

    /// The histories that no order explains, each told in full.
    pub(crate) fn inexplicable(&self) -> Vec<String> {
        let histories = self.0.lock().unwrap();
        histories
            .iter()
            .filter(|(_, records)| !is_linearizable(records))
            .map(|(issue, records)| told(issue, records))
            .collect()
    }
}

/// Whether an order explains all answers in which nothing comes before what had been answered when
/// it began.
pub(crate) fn is_linearizable(records: &[Record]) -> bool {
    let mut events: Vec<(Instant, bool, usize)> = Vec::new();
    for (number, record) in records.iter().enumerate() {
        events.push((record.began, false, number));
        if let Some((at, _)) = record.answered {
            events.push((at, true, number));
        }
    }
    // At the same instant a beginning comes first: that excludes less.
    events.sort_by_key(|&(at, is_answer, number)| (at, is_answer, number));
    let mut tester = LinearizabilityTester::new(Issue::default());
    let mut lanes = Lanes::default();
    for (_, is_answer, number) in events {
        let record = &records[number];
        let outcome = match &record.answered {
            Some((_, answer)) if is_answer => tester.on_return(lanes.leave(number), answer.clone()),
            _ => tester.on_invoke(lanes.enter(number), record.deed.clone()),
        };
        outcome.unwrap();
    }
    tester.is_consistent()
}

/// Deeds that do not overlap share a lane: the fewer there are, the fewer orders are tried. One
/// that is never answered keeps its lane.
#[derive(Default)]
struct Lanes(Vec<Option<usize>>);

impl Lanes {
    fn enter(&mut self, number: usize) -> usize {
        let lane = self.0.iter().position(Option::is_none).unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[lane] = Some(number);
        lane
    }

    fn leave(&mut self, number: usize) -> usize {
        let lane = self.0.iter().position(|it| *it == Some(number)).unwrap();
        self.0[lane] = None;
        lane
    }
}

fn told(issue: &str, records: &[Record]) -> String {
    let mut records: Vec<&Record> = records.iter().collect();
    records.sort_by_key(|record| record.began);
    let Some(first) = records.first().map(|record| record.began) else {
        return issue.to_owned();
    };
    let since = |at: Instant| (at - first).as_secs_f64() * 1000.0;
    let lines = records.iter().map(|record| {
        let answer = match &record.answered {
            Some((at, answer)) => format!("{:9.2} ms {answer:?}", since(*at)),
            None => "unknown".to_owned(),
        };
        format!(
            "\n    {:9.2} to {answer} of {:?}",
            since(record.began),
            record.deed
        )
    });
    format!(
        "no order explains the history of issue {issue}:{}",
        lines.collect::<String>()
    )
}

#[cfg(test)]
mod tests;
