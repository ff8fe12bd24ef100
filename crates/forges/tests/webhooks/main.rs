//! What forges tell by themselves.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod gitea;
mod github;
mod gitlab;
mod imitation;
mod proofs;

use serde_json::Value;
use workforce_forges::webhook::{Event, EventKind};
use workforce_forges::{ForgeKind, RepositoryAddress};

fn address(text: &str) -> RepositoryAddress {
    RepositoryAddress::parse(text).unwrap()
}

/// A delivery with another value at a place of it.
fn with(text: &str, pointer: &str, value: Value) -> String {
    let mut delivery: Value = serde_json::from_str(text).unwrap();
    *delivery.pointer_mut(pointer).unwrap() = value;
    delivery.to_string()
}

/// Reads a delivery of some forge.
fn parse(forge: ForgeKind, name: &str, delivery: &str) -> Option<Event> {
    workforce_forges::webhook::parse(forge, name, delivery.as_bytes())
}

/// What an event is without where it was.
fn shown(event: Event) -> (EventKind, Vec<u64>, String, Vec<String>) {
    (
        event.kind,
        event.numbers,
        event.head_sha,
        event.head_branches,
    )
}
