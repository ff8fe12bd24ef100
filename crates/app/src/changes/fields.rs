use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::instructions::BundlePointer;

use crate::masking::REDACTED;
use crate::masking::masked;

/// A record whose changes are told.
pub(crate) trait Recorded {
    /// Its fields as the interface names and shows them, always the same ones in the same order.
    ///
    /// Implementations take the record apart without `..`, so that a new field must be given a
    /// name here or be left out by name. Left out are ids, what never changes, and when the
    /// record was made and last changed, which the activity tells itself. What everybody of its
    /// company sees of a record is told [as it is answered](as_answered).
    fn fields(&self) -> Vec<Field<'_>>;
}

/// A field of a record.
pub(crate) struct Field<'a> {
    pub(super) name: Cow<'static, str>,
    pub(super) value: Shown<'a>,
}

impl<'a> Field<'a> {
    pub(super) const fn new(name: &'static str, value: Shown<'a>) -> Self {
        let name = Cow::Borrowed(name);
        Self { name, value }
    }

    /// A field with a short value.
    pub(super) fn plain(name: &'static str, value: impl Serialize) -> Self {
        Self::new(name, Shown::plain(value))
    }
}

/// The fields that a record is answered with, but those named, and when it last changed, which the
/// activity tells itself.
pub(super) fn as_answered<'a>(record: &impl Serialize, but: &[&str]) -> Vec<Field<'a>> {
    // What is made of ids, words, numbers and instants always has a JSON form.
    let fields = match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        _ => Document::default().into(),
    };
    let told = |name: &str| name != "updatedAt" && !but.contains(&name);
    let told = fields.into_iter().filter(|(name, _)| told(name));
    let fields = told.map(|(name, value)| Field {
        name: name.into(),
        value: Shown::Plain(value),
    });
    fields.collect()
}

/// A value, and how it is shown to everybody of the company. What is hidden or masked is borrowed,
/// so that a field that did not change costs a comparison and no copy.
#[derive(Debug, PartialEq)]
pub(crate) enum Shown<'a> {
    /// As it is.
    Plain(Value),
    /// A text as it is.
    Text(Option<&'a str>),
    /// Any JSON as it is.
    Json(&'a Value),
    /// A document whose texts under secret names do not show.
    Masked(Option<&'a Document>),
    /// A document of which nothing shows but that it changed.
    HiddenDocument(&'a Document),
    /// A text of which nothing shows but that it changed.
    HiddenText(Option<&'a str>),
    /// Where the instructions of an agent are; their place in the file system does not show.
    Instructions(&'a BundlePointer),
    /// The payload of an approval.
    Payload(&'a Document),
    /// The payload of a hire, in which the configurations do not show.
    Hire(&'a Document),
}

impl Shown<'_> {
    /// A short value as it is.
    pub(crate) fn plain(value: impl Serialize) -> Self {
        // Ids, words, numbers and instants always have a JSON form.
        Self::Plain(serde_json::to_value(value).unwrap_or_default())
    }

    /// What is written down.
    pub(super) fn render(&self) -> Value {
        match *self {
            Self::Plain(ref value) => value.clone(),
            Self::Text(text) => json!(text),
            Self::Json(value) => value.clone(),
            Self::Masked(document) => json!(document.cloned().map(masked)),
            // Of an absent value too: whether there is one may tell something.
            Self::HiddenDocument(_) | Self::HiddenText(_) => json!(REDACTED),
            Self::Instructions(pointer) => {
                let BundlePointer {
                    mode,
                    root_path,
                    entry_file,
                    version,
                } = pointer;
                json!({
                    "mode": mode,
                    "rootPath": root_path.as_ref().map(|_| REDACTED),
                    "entryFile": entry_file,
                    "version": version,
                })
            }
            Self::Payload(payload) => masked(payload.clone()).into(),
            Self::Hire(payload) => {
                let mut payload = masked(payload.clone());
                for name in ["adapterConfig", "runtimeConfig"] {
                    if let Some(configuration) = payload.get_mut(name) {
                        *configuration = json!(REDACTED);
                    }
                }
                payload.into()
            }
        }
    }
}
