//! A server, a person at a browser, and what agents work on.

use std::path::PathBuf;

use tempfile::TempDir;
use workforce_browser::Browser;

use super::cast::Cast;
use crate::agent_programs::LONG;
use crate::harness::{Server, folder};
use crate::office::Database;
use crate::tickets::repositories::{make_remote, make_source};

/// Where it all happens.
pub(super) struct Site {
    // Dropped in this order: pages ask the server to the end.
    pub(super) browser: Browser,
    _server: Server,
    pub(super) cast: Cast,
    /// A bare repository with one commit.
    pub(super) remote: PathBuf,
    pub(super) has_scripts: bool,
    _folders: [TempDir; 2],
}

impl Site {
    /// `None` where no browser is installed.
    pub(super) fn open(database: &Database, has_scripts: bool) -> Option<Self> {
        if !Browser::is_there() {
            return None;
        }
        let (data, places) = (folder(), folder());
        let at = |name: &str| places.path().canonicalize().unwrap().join(name);
        let (source, remote) = (at("source"), at("remote.git"));
        make_source(&source);
        make_remote(&source, &remote);
        let cast = Cast::gather(at("cast"));
        let home = at("home");
        std::fs::create_dir_all(home.join(".claude")).unwrap();
        // Whoever installs the program sets it up for all that it does here.
        let settings = r#"{ "env": { "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1" } }"#;
        std::fs::write(home.join(".claude/settings.json"), settings).unwrap();
        let mut path = std::env::var("PATH").unwrap();
        if let Some(claude) = &cast.claude {
            path = format!("{}:{path}", claude.parent().unwrap().display());
        }
        let variables = [
            ("WORKFORCE_CONTAINMENT", "best-effort"),
            ("HOME", home.to_str().unwrap()),
            ("PATH", &path),
        ];
        let server = Server::start_with(data.path(), &database.flags(), &variables);
        let browser = Browser::of(server.base.trim_start_matches("http://")).patient(LONG);
        browser.screen(1280, 900);
        if !has_scripts {
            browser.without_scripts();
        }
        Some(Self {
            browser,
            _server: server,
            cast,
            remote,
            has_scripts,
            _folders: [data, places],
        })
    }

    /// Notes on the page that it is this one: a page that was loaded again has forgotten it.
    pub(super) fn begin_to_watch(&self) {
        if self.has_scripts {
            self.browser.until_live();
            self.browser.script("window.isTheSame = true", &[]);
        } else {
            assert_eq!(self.browser.text("[data-live]"), "Not live");
        }
    }

    /// What was seen came without a look from anew, where scripts may run.
    #[track_caller]
    pub(super) fn end_to_watch(&self) {
        let is_same = self.browser.value("window.isTheSame === true");
        assert_eq!(is_same, self.has_scripts);
    }

    /// Waits until a part of the page says something.
    #[track_caller]
    pub(super) fn until_in(&self, css: &str, words: &str) {
        let (css, words) = (serde_json::json!(css), serde_json::json!(words));
        self.browser.until_it_happens(&format!(
            "[...document.querySelectorAll({css})].some((it) => it.innerText.includes({words}))"
        ));
    }

    /// Makes an issue by its form; where its page is.
    pub(super) fn make_issue(&self, title: &str, assignee: &str, project: Option<&str>) -> String {
        let browser = &self.browser;
        browser.open("/c/ACM/issues");
        browser.go("main .head .btn-go");
        browser.write("#title", title);
        browser.write("#description", "As it is *always* done.");
        // What it is besides stands behind the name.
        let whose = format!("it.text.startsWith('{assignee},')");
        let options = "[...document.querySelectorAll('#assigneeAgentId option')]";
        let agent = browser.value(&format!("{options}.find((it) => {whose}).value"));
        browser.choose("#assigneeAgentId", agent.as_str().unwrap());
        if let Some(project) = project {
            browser.choose_words("#projectId", project);
        }
        browser.go("main .btn-go");
        browser.until(&format!(
            "document.querySelector('h1').textContent === {}",
            serde_json::json!(title)
        ));
        browser.place()
    }
}
