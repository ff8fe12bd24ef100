//! What happened, in lines.

use std::collections::BTreeMap;

use uuid::Uuid;
use workforce_domain::id::Id;
use workforce_domain::time::Timestamp;

/// Short names of what has an id.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<Uuid, String>);

impl Names {
    /// The name of an id: the kind and a number, unless it was given one.
    pub(crate) fn of<I: Id>(&mut self, id: I) -> String {
        let number = self.0.len();
        let name = self.0.entry(id.into());
        name.or_insert_with(|| format!("{} {number}", I::KIND))
            .clone()
    }

    /// The name of a server.
    pub(crate) fn host(&self, at: usize) -> &'static str {
        ["server X", "server Y"][at]
    }
}

/// The lines of a simulation, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    lines: Option<Vec<String>>,
    names: Names,
}

impl Trace {
    /// Keeps what is noted.
    pub(crate) fn kept() -> Self {
        Self {
            lines: Some(Vec::new()),
            names: Names::default(),
        }
    }

    /// Gives an id a name.
    pub(crate) fn call<I: Id>(&mut self, id: I, name: &str) {
        self.names.0.insert(id.into(), name.to_owned());
    }

    /// Notes what happened.
    pub(crate) fn note(&mut self, now: Timestamp, line: impl FnOnce(&mut Names) -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{now}  {}", line(&mut self.names)));
        }
    }

    /// The lines that were kept.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
