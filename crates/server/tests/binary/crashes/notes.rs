//! What clients sent, and what they know about it.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// What a client tried to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// An issue that an agent is to work on.
    Assignment,
    /// An issue of nobody.
    Issue,
    Comment,
    Cost,
    /// A run that somebody asks for.
    Wake,
}

/// What became of a write, as far as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// It must be there, once.
    Acknowledged,
    /// It must not be there.
    Refused,
    /// It may be there, once.
    Unknown,
}

/// One write.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) kind: Kind,
    pub(super) fate: Fate,
    /// The id of what was made.
    pub(super) made: Option<String>,
}

/// All writes by their marker, a text that no two share.
#[derive(Debug, Default)]
pub(super) struct Notes {
    writes: Mutex<BTreeMap<String, Write>>,
    faults: Mutex<Vec<String>>,
}

impl Notes {
    /// Before a write is sent.
    pub(super) fn sent(&self, marker: &str, kind: Kind) {
        let write = Write {
            kind,
            fate: Fate::Unknown,
            made: None,
        };
        self.writes.lock().unwrap().insert(marker.to_owned(), write);
    }

    /// When its client knows more.
    pub(super) fn answered(&self, marker: &str, fate: Fate, made: Option<&str>) {
        let mut writes = self.writes.lock().unwrap();
        let write = writes.get_mut(marker).unwrap();
        write.fate = fate;
        write.made = made.map(str::to_owned);
    }

    /// An answer that no crash excuses.
    pub(super) fn fault(&self, fault: String) {
        self.faults.lock().unwrap().push(fault);
    }

    /// Those answers.
    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap().clone()
    }

    /// Every write.
    pub(super) fn writes(&self) -> BTreeMap<String, Write> {
        self.writes.lock().unwrap().clone()
    }

    /// The ids of acknowledged issues that an agent is to work on.
    pub(super) fn assigned(&self) -> Vec<String> {
        let writes = self.writes.lock().unwrap();
        let assigned = writes.values().filter(|it| it.kind == Kind::Assignment);
        assigned.filter_map(|it| it.made.clone()).collect()
    }
}
