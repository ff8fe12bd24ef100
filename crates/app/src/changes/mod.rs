//! What a change really changed, for the activity that tells of it: per field `{from, to}`, under
//! the names and with the values that the interface shows (docs/activity.md).
//!
//! Everybody of a company may read its activity, for ever. What the interface hides from some of
//! them is therefore hidden here before it is written.

mod fields;
mod records;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::port::Locked;

pub(crate) use fields::{Recorded, Shown};

use crate::digest::sha256;

/// A value with more bytes than this is told by its digest and its length. Together with the
/// number of a record's fields this bounds what one row of activity holds.
const LONGEST: usize = 8 * 1024;

/// The fields that changed, each with what it was and what it became.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub(crate) struct Changes(Document);

impl Changes {
    /// Nothing changed.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// What changed of a locked record since somebody last asked, or since it was locked.
    pub(crate) fn of<T: Recorded + CompanyOwned + Clone>(record: &mut Locked<T>) -> Self {
        match record.take_former() {
            Some(former) => Self::between(&former, record),
            None => Self::none(),
        }
    }

    /// What changed between two states of a record.
    pub(crate) fn between<T: Recorded>(before: &T, after: &T) -> Self {
        let fields = before.fields().into_iter().zip(after.fields());
        fields.fold(Self::none(), |changes, (before, after)| {
            changes.and_field(&before.name, &before.value, &after.value)
        })
    }

    /// The same, and a field that belongs to the record and is stored beside it.
    pub(crate) fn and_field(mut self, name: &str, from: &Shown<'_>, to: &Shown<'_>) -> Self {
        // Compared as it is and not as it shows: that a hidden value changed is told as well.
        if from != to {
            let change = json!({ "from": abridged(from.render()), "to": abridged(to.render()) });
            self.0.insert(name.to_owned(), change);
        }
        self
    }

    /// These changes and those that came after them.
    pub(crate) fn then(mut self, later: Self) -> Self {
        for (name, mut change) in later.0 {
            if let Some(from) = self.0.get_mut(&name).and_then(|it| it.get_mut("from")) {
                change["from"] = from.take();
            }
            self.0.insert(name, change);
        }
        self
    }

    /// True where nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Adds them to the details of an activity, unless nothing changed.
    pub(crate) fn add_to(self, details: &mut Document) {
        if !self.is_empty() {
            details.insert("changes".to_owned(), self.0.into());
        }
    }
}

/// The value, or the digest and the length of a long one.
fn abridged(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST => digest(&text),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() > LONGEST {
                digest(&text)
            } else {
                value
            }
        }
        short => short,
    }
}

fn digest(text: &str) -> Value {
    json!({ "sha256": sha256(text), "bytes": text.len() })
}

#[cfg(test)]
mod tests;
