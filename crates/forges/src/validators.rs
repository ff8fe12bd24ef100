use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pull_request::Snapshot;

/// What is known of a pull request from before, so that its forge need not tell it again. A
/// caller keeps it as it is, also as JSON, and hands it back the next time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Validators {
    /// By the address that was asked.
    answers: BTreeMap<String, Kept>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    value: Value,
}

/// What looking again brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// Everything is as it was known, and what was kept stays good.
    NotModified,
    /// Something may be different: this is what is there now, and what to keep from now on.
    /// What a forge counts as a change may show in no field.
    Changed(Box<Snapshot>, Validators),
}

impl Validators {
    /// The entity tag of the answer that was kept for an address, and what it told.
    pub(crate) fn kept<T: DeserializeOwned>(&self, url: &str) -> Option<(&str, T)> {
        let kept = self.answers.get(url)?;
        // Another version of this program may have kept something else.
        let value = T::deserialize(&kept.value).ok()?;
        Some((kept.etag.as_deref()?, value))
    }

    /// Keeps what an address told.
    pub(crate) fn keep<T: Serialize>(&mut self, url: String, etag: Option<String>, told: &T) {
        if let Ok(value) = serde_json::to_value(told) {
            self.answers.insert(url, Kept { etag, value });
        }
    }
}
