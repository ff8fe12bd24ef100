//! What WebDriver leaves to the makers of browsers.

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};
use ureq::http::Method;
use url::{ParseError, Url};

/// A command of chromedriver.
#[derive(Debug)]
pub(crate) struct Own {
    path: &'static str,
    body: Value,
}

impl Own {
    /// A command of the DevTools protocol, for the tab that is looked at.
    pub(crate) fn devtools(command: &str, parameters: &Value) -> Self {
        Self {
            path: "goog/cdp/execute",
            body: json!({ "cmd": command, "params": parameters }),
        }
    }

    /// What was written into a log since it was asked for last.
    pub(crate) fn log(kind: &str) -> Self {
        Self {
            path: "se/log",
            body: json!({ "type": kind }),
        }
    }
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
