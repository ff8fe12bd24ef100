//! Somebody at a browser, who does one thing after the other.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::wd::{Capabilities, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use workforce_skipped_tests::has;

use crate::devtools::Own;
use crate::driver::Driver;
use crate::evidence;
use crate::support::Board;

/// What is waited for comes in this time, or never.
const PATIENCE: Duration = Duration::from_secs(15);

/// A browser of its own, with nothing in it. It ends with a look at what it complained about.
pub(crate) struct Browser {
    base: String,
    runtime: Runtime,
    /// Gone at the end only.
    client: Option<Client>,
    /// Of what pages complained about, these are meant to be.
    expected: RefCell<Vec<&'static str>>,
    /// What addresses that pages may ask for begin with.
    known: RefCell<Vec<String>>,
    _driver: Driver,
}

impl Browser {
    /// Whether there is one here; a test without it says that it is left out.
    pub(crate) fn is_there() -> bool {
        has("chromedriver") && has("chromium")
    }

    /// Opens a browser for somebody who is to look at this server.
    pub(crate) fn of(board: &Board) -> Self {
        let driver = Driver::start();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let url = driver.url();
        let opened = builder.capabilities(capabilities()).connect(&url);
        let base = format!("http://{}", board.host());
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
            _driver: driver,
        };
        browser.listen();
        browser
    }

    /// Has what a page may not do, and what goes wrong in it, written to the console.
    fn listen(&self) {
        let source = "addEventListener('securitypolicyviolation', (e) => \
            console.error(`forbidden: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`)); \
            addEventListener('unhandledrejection', (e) => console.error(`failed: ${e.reason}`));";
        self.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            &json!({ "source": source }),
        );
    }

    fn client(&self) -> &Client {
        self.client.as_ref().unwrap()
    }

    fn ask<T>(&self, asked: impl Future<Output = Result<T, CmdError>>) -> Result<T, CmdError> {
        self.runtime.block_on(asked)
    }

    #[track_caller]
    pub(crate) fn open(&self, path: &str) {
        let address = match path {
            path if path.starts_with('/') => format!("{}{path}", self.base),
            address => address.to_owned(),
        };
        self.ask(self.client().goto(&address)).unwrap();
    }

    /// The address without the host.
    pub(crate) fn place(&self) -> String {
        let address = self.ask(self.client().current_url()).unwrap();
        address.as_str().replacen(&self.base, "", 1)
    }

    pub(crate) fn back(&self) {
        self.ask(self.client().back()).unwrap();
    }

    #[track_caller]
    fn element(&self, css: &str) -> Element {
        let found = self.ask(self.client().find(Locator::Css(css)));
        found.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()))
    }

    #[track_caller]
    pub(crate) fn click(&self, css: &str) {
        let clicked = self.ask(self.element(css).click());
        clicked.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()));
    }

    /// Writes at the end of a field, or presses keys in it.
    #[track_caller]
    pub(crate) fn write(&self, css: &str, text: &str) {
        let written = self.ask(self.element(css).send_keys(text));
        written.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()));
    }

    #[track_caller]
    pub(crate) fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} option[value=\"{value}\"]"));
    }

    /// What is to be read on the page, or in a part of it.
    #[track_caller]
    pub(crate) fn text(&self, css: &str) -> String {
        self.ask(self.element(css).text()).unwrap()
    }

    /// What is to be read in a frame of the page.
    pub(crate) fn text_in_frame(&self, frame: u16) -> String {
        self.ask(self.client().enter_frame(frame)).unwrap();
        let text = self.text("body");
        self.ask(self.client().enter_parent_frame()).unwrap();
        text
    }

    /// What a script in the page returns.
    #[track_caller]
    pub(crate) fn script(&self, script: &str, arguments: &[Value]) -> Value {
        let returned = self.ask(self.client().execute(script, arguments.to_vec()));
        returned.unwrap_or_else(|error| panic!("{script} at {}: {error}", self.place()))
    }

    /// What a script in the page calls its only argument with.
    #[track_caller]
    pub(crate) fn slow_script(&self, script: &str) -> Value {
        let told = self.ask(self.client().execute_async(script, Vec::new()));
        told.unwrap_or_else(|error| panic!("at {}: {error}", self.place()))
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.script(&format!("return {expression}"), &[])
    }

    /// Waits until an expression is true in the page, and tells how long that took.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str) -> Duration {
        let began = Instant::now();
        let script = format!("return Boolean({expression})");
        loop {
            // There is no page in between two of them.
            let told = self.ask(self.client().execute(&script, Vec::new()));
            if told.as_ref().is_ok_and(|told| *told == true) {
                return began.elapsed();
            }
            if began.elapsed() > PATIENCE {
                panic!("never true at {}: {expression}: {told:?}", self.place());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the page says something.
    #[track_caller]
    pub(crate) fn until_told(&self, words: &str) -> Duration {
        self.until(&format!(
            "document.body?.innerText.includes({})",
            json!(words)
        ))
    }

    /// Waits until the browser is there.
    #[track_caller]
    pub(crate) fn until_at(&self, path: &str) {
        self.until(&format!(
            "location.pathname === {} && document.readyState === 'complete'",
            json!(path)
        ));
    }

    /// Waits until the page takes in what happens.
    #[track_caller]
    pub(crate) fn until_live(&self) {
        self.until("document.querySelector('[data-live] .dot.live')");
    }

    #[track_caller]
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let answer = self.ask(self.client().issue_cmd(Own::devtools(command, parameters)));
        answer.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    pub(crate) fn without_scripts(&self) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            &json!({ "value": true }),
        );
    }

    /// A screen of this size, in CSS pixels.
    pub(crate) fn screen(&self, width: u32, height: u32) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < 720 });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// A system whose windows are light or dark.
    pub(crate) fn theme(&self, theme: &str) {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.devtools("Emulation.setEmulatedMedia", &media);
    }

    /// What the screen shows, as PNG.
    pub(crate) fn picture(&self) -> Vec<u8> {
        self.ask(self.client().screenshot()).unwrap()
    }

    pub(crate) fn source(&self) -> String {
        self.ask(self.client().source()).unwrap()
    }

    /// Opens another tab, and looks at it.
    pub(crate) fn open_tab(&self) -> WindowHandle {
        let opened = self.ask(self.client().new_window(true)).unwrap();
        self.look_at(&opened.handle);
        self.listen();
        opened.handle
    }

    pub(crate) fn tab(&self) -> WindowHandle {
        self.ask(self.client().window()).unwrap()
    }

    pub(crate) fn look_at(&self, tab: &WindowHandle) {
        self.ask(self.client().switch_to_window(tab.clone()))
            .unwrap();
    }

    /// Says that pages are to complain like this: refusals are errors to a browser.
    pub(crate) fn expect(&self, words: &'static str) {
        self.expected.borrow_mut().push(words);
    }

    /// What was written into a log since it was asked for last.
    pub(crate) fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.ask(self.client().issue_cmd(Own::log(kind)));
        serde_json::from_value(entries.unwrap()).unwrap()
    }

    /// Says that pages may ask this server too.
    pub(crate) fn knows(&self, host: String) {
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
