//! Somebody at a browser, who does one thing after the other.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use workforce_skipped_tests::has;

use crate::devtools::Own;
use crate::driver::Driver;
use crate::evidence;

/// Nothing takes nearly so long unless a test says so.
const PATIENCE: Duration = Duration::from_secs(15);

/// A browser of its own, with nothing in it. It ends with a look at what it complained about.
pub struct Browser {
    pub(crate) base: String,
    runtime: Runtime,
    /// Gone at the end only.
    client: Option<Client>,
    /// Of what pages complained about, these are meant to be.
    expected: RefCell<Vec<&'static str>>,
    /// What addresses that pages may ask for begin with.
    known: RefCell<Vec<String>>,
    /// Whether pages may run any.
    pub(crate) has_scripts: Cell<bool>,
    /// What is waited for comes in this time, or never.
    pub(crate) patience: Duration,
    _driver: Driver,
}

impl Browser {
    /// Whether there is one here; a test without it says that it is left out.
    pub fn is_there() -> bool {
        has("chromedriver") && has("chromium")
    }

    /// Opens a browser for somebody who is to look at the server of this host and port.
    pub fn of(host: &str) -> Self {
        let driver = Driver::start();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let url = driver.url();
        let opened = builder.capabilities(capabilities()).connect(&url);
        let base = format!("http://{host}");
        let browser = Self {
            known: RefCell::new(
                [base.as_str(), "data:", "about:", "chrome"]
                    .map(str::to_owned)
                    .into(),
            ),
            base,
            client: Some(runtime.block_on(opened).unwrap()),
            runtime,
            expected: RefCell::default(),
            has_scripts: Cell::new(true),
            patience: PATIENCE,
            _driver: driver,
        };
        browser.listen();
        browser
    }

    /// The same for somebody who waits longer for what comes.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Has what a page may not do, and what goes wrong in it, written to the console.
    pub(crate) fn listen(&self) {
        let source = "addEventListener('securitypolicyviolation', (e) => \
            console.error(`forbidden: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`)); \
            addEventListener('unhandledrejection', (e) => console.error(`failed: ${e.reason}`));";
        self.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            &json!({ "source": source }),
        );
    }

    pub(crate) fn client(&self) -> &Client {
        self.client.as_ref().unwrap()
    }

    pub(crate) fn ask<T>(
        &self,
        asked: impl Future<Output = Result<T, CmdError>>,
    ) -> Result<T, CmdError> {
        self.runtime.block_on(asked)
    }

    /// Says that pages are to complain like this: refusals are errors to a browser.
    pub fn expect(&self, words: &'static str) {
        self.expected.borrow_mut().push(words);
    }

    /// What was written into a log since it was asked for last.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.ask(self.client().issue_cmd(Own::log(kind)));
        serde_json::from_value(entries.unwrap()).unwrap()
    }

    /// Says that pages may ask this server too.
    pub fn knows(&self, host: String) {
        self.known.borrow_mut().push(host);
    }

    /// What pages complained about, and which other servers they asked for something.
    fn faults(&self) -> Vec<String> {
        let mut faults = evidence::complaints(&self.log("browser"));
        let expected = self.expected.borrow();
        faults.retain(|it| !expected.iter().any(|words| it.contains(words)));
        let mut asked = evidence::addresses(&self.log("performance"));
        let known = self.known.borrow();
        asked.retain(|it| !known.iter().any(|known| it.starts_with(known)));
        faults.extend(asked);
        faults.dedup();
        faults
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Browser").field(&self.base).finish()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        let faults = match failed {
            true => Vec::new(),
            false => self.faults(),
        };
        if failed || !faults.is_empty() {
            evidence::keep(self);
        }
        if let Some(client) = self.client.take() {
            let closed = self.runtime.block_on(client.close());
            assert!(failed || closed.is_ok(), "{closed:?}");
        }
        assert!(faults.is_empty(), "pages are at fault: {faults:#?}");
    }
}

fn capabilities() -> Capabilities {
    let mut flags = vec!["--headless=new", "--disable-dev-shm-usage", "--disable-gpu"];
    if is_root() {
        flags.push("--no-sandbox");
    }
    let wanted = json!({
        "goog:chromeOptions": { "args": flags },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
    });
    wanted.as_object().unwrap().clone().into_iter().collect()
}

/// Chromium keeps root out of its sandbox.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}
