//! A real Chromium, and somebody who sits at it, for the tests of pages.
//!
//! Only ever a dev-dependency: nothing that is shipped may depend on this crate.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod browser;
mod devtools;
mod driver;
mod evidence;
mod look;
mod wait;

pub use browser::Browser;
pub use fantoccini::wd::WindowHandle;
