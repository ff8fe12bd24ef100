//! The server is killed while pages of it are open, and started again.

use nix::sys::signal::Signal;
use serde_json::json;
use tempfile::TempDir;
use workforce_browser::Browser;

use crate::agent_programs::LONG;
use crate::harness::{Server, folder, free_address};
use crate::office::{Database, on_both};

/// So many comments are written, and after each the status is another one.
const COMMENTS: usize = 10;

/// A server that comes back where it was.
struct Place<'a> {
    database: &'a Database,
    listen: String,
    data: TempDir,
}

impl Place<'_> {
    fn start(&self) -> Server {
        let variables = [("WORKFORCE_LISTEN", self.listen.as_str())];
        let server = Server::start_with(self.data.path(), &self.database.flags(), &variables);
        server.wait_until_ready();
        server
    }
}

/// How the thread of the page calls a comment.
fn comment(number: usize) -> String {
    format!("This is number {number}.")
}

fn outlives(database: &Database, is_hidden: bool) {
    if !Browser::is_there() {
        return;
    }
    let place = Place {
        database,
        listen: free_address(),
        data: folder(),
    };
    let server = place.start();
    let company = server.post("/api/companies", &json!({ "name": "Acme Robotics" }));
    let issues = format!("/api/companies/{}/issues", company["id"].as_str().unwrap());
    server.post(
        &issues,
        &json!({ "title": "Paint the door", "status": "todo" }),
    );

    let browser = Browser::of(&place.listen).patient(LONG);
    // Nobody is there for a while.
    browser.expect("net::ERR_");
    browser.open("/c/ACM/issues/ACM-1");
    browser.until_live();
    browser.script("window.isTheSame = true", &[]);
    let tab = browser.tab();
    if is_hidden {
        browser.open_tab();
    }
    server.signal(Signal::SIGKILL);
    server.leave();
    let notice = "document.querySelector('[data-live]').innerText";
    if !is_hidden {
        browser.until(&format!("{notice}.includes('Reconnecting')"));
    }

    let server = place.start();
    for number in 0..COMMENTS {
        let said = json!({ "body": comment(number) });
        server.post("/api/issues/ACM-1/comments", &said);
        let status = ["blocked", "todo"][number % 2];
        let (code, answer) = server.send(
            "PATCH",
            "/api/issues/ACM-1",
            None,
            &json!({ "status": status, "title": format!("Paint it {number} times") }),
        );
        assert_eq!(code, 200, "{answer}");
    }
    browser.look_at(&tab);
    let last = format!("Paint it {} times", COMMENTS - 1);
    browser.until(&format!(
        "document.querySelector('h1').innerText === '{last}'"
    ));
    browser.until(&format!("{notice} === 'Live'"));
    assert_eq!(browser.value("window.isTheSame"), true);
    let facts = browser.text("aside .facts");
    assert!(facts.contains("To do"), "{facts}");
    let thread = browser.text(".thread");
    for number in 0..COMMENTS {
        assert_eq!(thread.matches(&comment(number)).count(), 1, "{thread}");
    }
}

on_both! {
    fn a_page_shows_what_happens_after_its_server_was_killed(database) {
        outlives(database, false);
    }

    fn so_does_a_page_that_was_hidden_meanwhile(database) {
        outlives(database, true);
    }
}
