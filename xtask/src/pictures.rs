//! `cargo xtask pictures`: what the pages of the board look like.

use anyhow::Result;

use crate::command::{self, cargo};
use crate::repository::Repository;

const FOLDER: &str = "target/pictures";

/// Makes a picture of every page on a desk and on a phone, light and dark, and the small one of the
/// README. Needs Chromium and chromedriver.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let example = "run --quiet -p workforce-board --example pictures --";
    let folder = repository.root().join(FOLDER);
    let small = repository.root().join("docs/board.png");
    let mut pictures = cargo(repository, example.split(' '));
    pictures.arg(folder).arg(small);
    command::run(pictures)
}
