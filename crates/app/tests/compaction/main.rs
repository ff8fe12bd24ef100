//! The short form of conventions: its guarantees under hostile text, and what
//! it keeps of real ones.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says by its name what it is about, and may end early"
)]

mod guarantees;
mod layer;
mod quality;
