//! What somebody does at a page, and what there is to see.

use fantoccini::Locator;
use fantoccini::elements::Element;
use fantoccini::wd::WindowHandle;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::devtools::Own;

impl Browser {
    /// Opens a page of the server by its path, or another one by its address.
    #[track_caller]
    pub fn open(&self, path: &str) {
        let address = match path {
            path if path.starts_with('/') => format!("{}{path}", self.base),
            address => address.to_owned(),
        };
        self.ask(self.client().goto(&address)).unwrap();
    }

    /// The address without the host.
    pub fn place(&self) -> String {
        let address = self.ask(self.client().current_url()).unwrap();
        address.as_str().replacen(&self.base, "", 1)
    }

    /// Goes back to the page before.
    pub fn back(&self) {
        self.ask(self.client().back()).unwrap();
    }

    #[track_caller]
    fn element(&self, css: &str) -> Element {
        let found = self.ask(self.client().find(Locator::Css(css)));
        found.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()))
    }

    /// Clicks what is there.
    #[track_caller]
    pub fn click(&self, css: &str) {
        let clicked = self.ask(self.element(css).click());
        clicked.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()));
    }

    /// Unfolds all that is folded in a part of the page.
    #[track_caller]
    pub fn unfold(&self, css: &str) {
        let folded = format!("{css} details:not([open]) > summary");
        let found = self.ask(self.client().find_all(Locator::Css(&folded)));
        for summary in found.unwrap() {
            self.ask(summary.click()).unwrap();
        }
    }

    /// Writes at the end of a field, or presses keys in it.
    #[track_caller]
    pub fn write(&self, css: &str, text: &str) {
        let written = self.ask(self.element(css).send_keys(text));
        written.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()));
    }

    /// Writes something else into a field.
    #[track_caller]
    pub fn write_anew(&self, css: &str, text: &str) {
        let cleared = self.ask(self.element(css).clear());
        cleared.unwrap_or_else(|error| panic!("{css} at {}: {error}", self.place()));
        self.write(css, text);
    }

    /// Chooses something from a list by its value.
    #[track_caller]
    pub fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} option[value=\"{value}\"]"));
    }

    /// Chooses something from a list by what it says.
    #[track_caller]
    pub fn choose_words(&self, css: &str, words: &str) {
        let chosen = self.ask(self.element(css).select_by_label(words));
        chosen.unwrap_or_else(|error| panic!("{words} in {css} at {}: {error}", self.place()));
    }

    /// What is to be read on the page, or in a part of it.
    #[track_caller]
    pub fn text(&self, css: &str) -> String {
        self.ask(self.element(css).text()).unwrap()
    }

    /// What is to be read in a frame of the page.
    pub fn text_in_frame(&self, frame: u16) -> String {
        self.ask(self.client().enter_frame(frame)).unwrap();
        let text = self.text("body");
        self.ask(self.client().enter_parent_frame()).unwrap();
        text
    }

    /// What a script in the page returns.
    #[track_caller]
    pub fn script(&self, script: &str, arguments: &[Value]) -> Value {
        let returned = self.ask(self.client().execute(script, arguments.to_vec()));
        returned.unwrap_or_else(|error| panic!("{script} at {}: {error}", self.place()))
    }

    /// What a script in the page calls its only argument with.
    #[track_caller]
    pub fn slow_script(&self, script: &str) -> Value {
        let told = self.ask(self.client().execute_async(script, Vec::new()));
        told.unwrap_or_else(|error| panic!("at {}: {error}", self.place()))
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.script(&format!("return {expression}"), &[])
    }

    /// A command of the DevTools protocol, for the tab that is looked at.
    #[track_caller]
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let answer = self.ask(self.client().issue_cmd(Own::devtools(command, parameters)));
        answer.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Keeps pages from running any script from now on.
    pub fn without_scripts(&self) {
        self.has_scripts.set(false);
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            &json!({ "value": true }),
        );
    }

    /// A screen of this size, in CSS pixels.
    pub fn screen(&self, width: u32, height: u32) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < 720 });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// A system whose windows are light or dark.
    pub fn theme(&self, theme: &str) {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.devtools("Emulation.setEmulatedMedia", &media);
    }

    /// What the screen shows, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        self.ask(self.client().screenshot()).unwrap()
    }

    /// The markup of the page as it is now.
    pub fn source(&self) -> String {
        self.ask(self.client().source()).unwrap()
    }

    /// Opens another tab, and looks at it.
    pub fn open_tab(&self) -> WindowHandle {
        let opened = self.ask(self.client().new_window(true)).unwrap();
        self.look_at(&opened.handle);
        self.listen();
        opened.handle
    }

    /// The tab that is looked at.
    pub fn tab(&self) -> WindowHandle {
        self.ask(self.client().window()).unwrap()
    }

    /// Looks at a tab; those that are not looked at are hidden.
    pub fn look_at(&self, tab: &WindowHandle) {
        self.ask(self.client().switch_to_window(tab.clone()))
            .unwrap();
    }
}
