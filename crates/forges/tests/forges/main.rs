//! The client against imitations of the forges.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod configuration;
mod creating;
mod failing;
mod finding;
mod limits;
mod published;
mod site;
mod tokens;
mod watching;
