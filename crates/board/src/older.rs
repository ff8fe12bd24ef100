//! Where a list goes on, as an address says it.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The place of a row, to be put into an address; empty if it cannot be written, which none of
/// ours is.
pub(crate) fn mark<K: Serialize>(place: &K) -> String {
    let json = serde_json::to_vec(place).unwrap_or_default();
    BASE64URL_NOPAD.encode(&json)
}

/// The place that an address names; `None` for what is none.
pub(crate) fn place<K: DeserializeOwned>(mark: &str) -> Option<K> {
    let json = BASE64URL_NOPAD.decode(mark.as_bytes()).ok()?;
    serde_json::from_slice(&json).ok()
}
