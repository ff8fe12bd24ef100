//! The pages as whole requests, without a browser.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod activity;
mod agents;
mod approvals;
mod bounds;
mod canaries;
mod companies;
mod configuration;
mod costs;
mod elsewhere;
mod goals;
mod hostile;
mod inbox;
mod instructions;
mod issues;
mod keys;
mod logs;
#[path = "../browser/pages.rs"]
mod pages;
mod projects;
mod runs;
#[path = "../browser/scene.rs"]
#[expect(dead_code, reason = "the tests in a browser need more of it")]
mod scene;
mod secrets;
mod settings;
mod sign_in;
mod stop;
mod support;
