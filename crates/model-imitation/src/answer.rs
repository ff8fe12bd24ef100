//! An answer before an API gives it its form, and after.

use serde_json::Value;

use crate::ids::Ids;
use crate::step::Usage;
use crate::tools::{Input, Tool};

/// What the model answers.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) text: String,
    pub(crate) thinking: &'a str,
    pub(crate) calls: Vec<(&'a Tool, Input)>,
    pub(crate) usage: Usage,
    pub(crate) model: &'a str,
    pub(crate) ids: &'a Ids,
}

/// An answer in the form of an API.
#[derive(Debug)]
pub(crate) struct Written {
    /// For a request that does not ask for a stream.
    pub(crate) whole: Value,
    /// For one that does.
    pub(crate) events: Vec<Event>,
}

/// A server-sent event.
#[derive(Debug)]
pub(crate) struct Event {
    name: Option<String>,
    data: String,
}

impl Event {
    /// An event with the name that its data gives as `type`.
    pub(crate) fn typed(data: &Value) -> Self {
        Self {
            name: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }

    /// An event without a name.
    pub(crate) fn unnamed(data: String) -> Self {
        Self { name: None, data }
    }

    pub(crate) fn to_text(&self) -> String {
        let name = self.name.iter().map(|name| format!("event: {name}\n"));
        name.chain([format!("data: {}\n\n", self.data)]).collect()
    }
}

/// The text in up to three parts, as a stream brings it.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = String> + use<> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(3).max(1);
    let pieces: Vec<String> = letters
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text_again() {
        for text in ["", "a", "ab", "äöü€", "a longer text"] {
            assert!(pieces(text).count() <= 3);
            assert_eq!(pieces(text).collect::<String>(), text);
        }
    }
}
