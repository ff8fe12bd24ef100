//! How far a company has begun.

use askama::Template;
use askama::filters::HtmlSafe;

use super::filters;

/// The steps of the beginning.
#[derive(Template)]
#[template(path = "parts/steps.html")]
pub(crate) struct Steps {
    /// The present one, counted from 1.
    present: usize,
}

impl HtmlSafe for Steps {}

impl Steps {
    const ALL: [&str; 3] = ["1. Company", "2. First agent", "3. First issue"];

    pub(crate) const COMPANY: Self = Self { present: 1 };
    pub(crate) const AGENT: Self = Self { present: 2 };
    pub(crate) const ISSUE: Self = Self { present: 3 };

    /// Whether an agent comes next.
    pub(crate) const fn wants_agent(&self) -> bool {
        self.present == 2
    }
}
