//! The short form of conventions: its guarantees under hostile text, and what
//! it keeps of real ones.

#![expect(
    clippy::unwrap_used,
    reason = "what tests share are plain functions, not tests themselves"
)]

mod guarantees;
mod layer;
mod quality;
