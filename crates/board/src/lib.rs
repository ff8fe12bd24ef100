//! The board: pages on which people run their companies (docs/board.md).
//!
//! A page looks at the store once, through the use cases, and is put together afterwards. What is
//! sent with a form does what the same call of the interface does. Nothing here knows what the
//! interface does not tell.

mod answer;
mod assets;
mod cursor;
pub mod demo;
mod form;
mod html;
mod links;
mod look;
mod pages;
mod shell;

use workforce_http::door::Pages;

/// All pages, to be served beside the interface.
pub fn pages() -> Pages {
    let pages = Pages::new(answer::refused);
    pages::register(assets::register(pages))
}
