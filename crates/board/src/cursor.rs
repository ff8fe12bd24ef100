//! Where a list goes on, in the address of its next page.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use workforce_http::door::Visit;

/// The parameter that names the last row of the page before.
const AFTER: &str = "after";

/// A parameter of an address; `None` when it is not there.
pub(crate) fn parameter(visit: &Visit, name: &str) -> Option<String> {
    let all = serde_html_form::from_str::<Vec<(String, String)>>(visit.query());
    let mut found = all.unwrap_or_default().into_iter();
    found.find_map(|(its, value)| (its == name).then_some(value))
}

/// After which row a page begins; at the beginning where the address does not say so.
pub(crate) fn after<K: DeserializeOwned>(visit: &Visit) -> Option<K> {
    place(&parameter(visit, AFTER)?)
}

/// The page of the same list that goes on after a row.
pub(crate) fn older<K: Serialize>(path: &str, next: Option<&K>) -> Option<String> {
    Some(with_parameter(path, AFTER, &mark(next?)))
}

/// An address with a parameter.
pub(crate) fn with_parameter(path: &str, name: &str, value: &str) -> String {
    let query = serde_html_form::to_string([(name, value)]).unwrap_or_default();
    format!("{path}?{query}")
}

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
