//! The board in a real Chromium. Each test has a server and a browser of its own; in the end no
//! page may have complained, broken its own rules, or asked another server for anything.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod axe;
mod drafts;
mod foreign;
mod guarded;
mod hostile;
mod live;
#[path = "../pages/logs.rs"]
#[expect(dead_code, reason = "the tests of whole requests need more of it")]
mod logs;
mod pages;
mod scene;
mod tabs;
mod tour;
mod twice;
mod without_scripts;

#[path = "../pages/support.rs"]
#[expect(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "the tests of whole requests need more of it"
)]
mod support;
