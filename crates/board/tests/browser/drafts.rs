use serde_json::json;
use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::guarded::{call, guarded, sign_in};
use crate::support::Board;

#[test]
fn what_was_written_outlives_the_session() {
    if !Browser::is_there() {
        return;
    }
    let (board, browser) = guarded();
    let company = call(&board, "POST", "/api/companies", &json!({ "name": "Acme" }));
    let company = format!("/api/companies/{}", company["id"].as_str().unwrap());
    call(
        &board,
        "POST",
        &format!("{company}/issues"),
        &json!({ "title": "Paint it" }),
    );
    let issue = "/c/ACM/issues/ACM-1";
    browser.open(issue);
    browser.until_at("/login");
    sign_in(&browser);
    browser.until_at(issue);
    browser.write("#body", "Which blue?");
    // Signed out in another tab.
    let tab = browser.tab();
    browser.open_tab();
    browser.open("/settings");
    browser.click("form[action='/logout'] button");
    browser.until_at("/login");
    browser.look_at(&tab);

    browser.expect("401 (Unauthorized");
    browser.click("form[action$='/comments'] [type=submit]");
    browser.until_told("credential");
    browser.click("main a.btn-go");
    browser.until_at("/login");
    sign_in(&browser);
    browser.until_at(issue);
    let written = "document.getElementById('body').value";
    browser.until(&format!("{written} === 'Which blue?'"));
    browser.until_told("Not sent yet");
    browser.open(issue);
    browser.until(&format!("{written} === 'Which blue?'"));
    browser.click("form[action$='/comments'] [type=submit]");
    browser.until("document.querySelector('.thread')?.innerText.includes('Which blue?')");
    assert_eq!(browser.value(written), "");
    browser.open(issue);
    browser.until("document.querySelector('.thread')?.innerText.includes('Which blue?')");
    assert_eq!(browser.value(written), "");
}

#[test]
fn no_secret_stays_in_a_browser() {
    if !Browser::is_there() {
        return;
    }
    let board = Board::on(sqlite_store());
    let home = board.found("Acme");
    let browser = Browser::of(board.host());
    browser.open(&format!("{home}/secrets"));
    browser.write("#name", "forge");
    browser.write("#value", "canary-of-a-secret");
    browser.expect("409 (Conflict");
    browser.click("main .btn-go");
    browser.until(&format!(
        "location.pathname !== {}",
        json!(format!("{home}/secrets"))
    ));
    browser.open(&format!("{home}/secrets"));
    browser.write("#name", "forge");
    browser.write("#value", "canary-of-another");
    browser.click("main .btn-go");
    browser.until("document.querySelector('[role=alert]')");
    let kept = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state, \
        document.cookie, location.href, document.documentElement.outerHTML, \
        [...document.querySelectorAll('input, textarea')].map((it) => it.value)])";
    let is_silent = |place: &str| {
        let kept = browser.value(kept);
        assert!(
            !kept.as_str().unwrap().contains("canary"),
            "{place}: {kept}"
        );
    };
    is_silent("after a refusal");
    browser.back();
    browser.until("document.readyState === 'complete'");
    is_silent("after going back");
    browser.open(&home);
    is_silent("elsewhere");
}
