use alloc::string::String;
use core::ops::{Deref, DerefMut};

use serde_json::map::{IntoIter, Iter};
use serde_json::{Map, Value};

/// The members of a JSON object, also of one within another value.
pub type JsonMap = Map<String, Value>;

/// A JSON object: adapter configuration, metadata, activity details.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Document(JsonMap);

impl Document {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Deref for Document {
    type Target = JsonMap;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Document {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl From<JsonMap> for Document {
    fn from(members: JsonMap) -> Self {
        Self(members)
    }
}

impl From<Document> for JsonMap {
    fn from(document: Document) -> Self {
        document.0
    }
}

impl From<Document> for Value {
    fn from(document: Document) -> Self {
        Self::Object(document.0)
    }
}

impl FromIterator<(String, Value)> for Document {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl IntoIterator for Document {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Document {
    type Item = (&'a String, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.0.iter()
    }
}
