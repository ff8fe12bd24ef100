//! The process primitives against real children.
#![expect(
    clippy::expect_used,
    reason = "a fixture that cannot be made fails the test that wants it"
)]

mod cgroups;
mod containment;
mod environment;
mod forkers;
mod groups;
mod limits;
mod logs;
mod machine;
mod notes;
mod output;
mod packed_logs;
mod resource_limits;
mod run_as;
mod spawning;
mod support;
mod usage_files;
