//! What somebody waits for.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::browser::Browser;

/// How long to wait for a page before it is looked at again.
const GLANCE: Duration = Duration::from_millis(20);

/// The same where the whole page has to be loaded again.
const RELOAD: Duration = Duration::from_millis(250);

impl Browser {
    /// Waits until an expression is true in the page, and tells how long that took.
    #[track_caller]
    pub fn until(&self, expression: &str) -> Duration {
        self.until_after(expression, || std::thread::sleep(GLANCE))
    }

    /// The same for what happens elsewhere. The page takes it in by itself; where no script runs,
    /// it is loaded again until it has.
    #[track_caller]
    pub fn until_it_happens(&self, expression: &str) -> Duration {
        if self.has_scripts.get() {
            return self.until(expression);
        }
        self.until_after(expression, || {
            std::thread::sleep(RELOAD);
            self.open(&self.place());
        })
    }

    #[track_caller]
    fn until_after(&self, expression: &str, between: impl Fn()) -> Duration {
        let began = Instant::now();
        let script = format!("return Boolean({expression})");
        loop {
            // There is no page in between two of them.
            let told = self.ask(self.client().execute(&script, Vec::new()));
            if told.as_ref().is_ok_and(|told| *told == true) {
                return began.elapsed();
            }
            if began.elapsed() > self.patience {
                panic!("never true at {}: {expression}: {told:?}", self.place());
            }
            between();
        }
    }

    /// Waits until the page says something, which may happen elsewhere.
    #[track_caller]
    pub fn until_told(&self, words: &str) -> Duration {
        self.until_it_happens(&format!(
            "document.body?.innerText.includes({})",
            json!(words)
        ))
    }

    /// Clicks what leads to another page, or to this one anew, and waits for it.
    #[track_caller]
    pub fn go(&self, css: &str) {
        self.script("window.isLeft = true", &[]);
        self.click(css);
        self.until("!window.isLeft && document.readyState === 'complete'");
    }

    /// Waits until the browser is there.
    #[track_caller]
    pub fn until_at(&self, path: &str) {
        self.until(&format!(
            "location.pathname === {} && document.readyState === 'complete'",
            json!(path)
        ));
    }

    /// Waits until the page takes in what happens.
    #[track_caller]
    pub fn until_live(&self) {
        self.until("document.querySelector('[data-live] .dot.live')");
    }
}
