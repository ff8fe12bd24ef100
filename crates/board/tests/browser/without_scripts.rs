use serde_json::json;
use workforce_browser::Browser;

use crate::guarded::{call, guarded, sign_in};
use crate::support::Board;

#[test]
fn a_company_is_run_without_any_script() {
    if !Browser::is_there() {
        return;
    }
    let (board, browser) = guarded();
    browser.without_scripts();
    browser.open("/");
    sign_in(&browser);
    browser.until_at("/companies/new");
    browser.write("#name", "Acme Robotics");
    browser.click("main .btn-go");
    browser.until_at("/c/ACM");
    // No script ran.
    assert_eq!(browser.text("[data-live]"), "Not live");
    hire(&browser);
    make_an_issue(&browser);
    decide(&board, &browser);
    set_a_limit(&browser);
    rotate_a_secret(&browser);
    // The theme stays from page to page.
    browser.click("form[action='/look'] button");
    browser.until("document.documentElement.dataset.theme === 'light'");
    browser.open("/c/ACM/issues");
    assert_eq!(browser.text("form[action='/look'] .sr"), ": light");
    browser.open("/settings");
    browser.click("form[action='/logout'] button");
    browser.until_at("/login");
    browser.open("/c/ACM");
    browser.until_at("/login");
}

fn hire(browser: &Browser) {
    browser.open("/c/ACM/agents/new");
    browser.write("#name", "Ada");
    browser.write("#role", "Not a role");
    browser.expect("422 (Unprocessable");
    browser.expect("400 (Bad Request");
    browser.click("main .btn-go");
    browser.until("document.querySelector('[role=alert]').innerText.includes('Role')");
    browser.write("#role", "\u{e009}a\u{e000}engineer");
    browser.choose("#adapterType", "process");
    browser.write("[name='adapterConfig/command']", "true");
    browser.click("main .btn-go");
    browser.until_at("/c/ACM/agents");
    browser.click("main a[href='/c/ACM/agents/ada']");
    browser.until("document.querySelector('h1').textContent === 'Ada'");
}

fn make_an_issue(browser: &Browser) {
    browser.open("/c/ACM/issues");
    browser.click("main .btn-go");
    browser.write("#title", "Paint it blue");
    browser.write("#description", "All *of* it.");
    browser.click("#assigneeAgentId option:nth-child(2)");
    browser.click("main .btn-go");
    browser.until_at("/c/ACM/issues/ACM-1");
    browser.write("#body", "Which blue, @Ada?");
    browser.click("form[action$='/comments'] [type=submit]");
    browser.until_told("Which blue, @Ada?");
    browser.choose("#status", "cancelled");
    browser.click("aside form [type=submit]");
    browser.until("document.querySelector('aside .facts').innerText.includes('Cancelled')");
}

fn decide(board: &Board, browser: &Browser) {
    let id = call(board, "GET", "/api/companies", &json!({}))[0]["id"].clone();
    let path = format!("/api/companies/{}/approvals", id.as_str().unwrap());
    let plan = json!({ "type": "approve_ceo_strategy", "payload": { "title": "Shall we?" } });
    call(board, "POST", &path, &plan);
    browser.open("/c/ACM/approvals");
    browser.click("main .lines a");
    browser.write("#decisionNote", "Go ahead.");
    browser.click("[value=approve]");
    browser.until("document.querySelector('aside .facts').innerText.includes('Approved')");
    let told = call(board, "GET", &path, &json!({}));
    assert_eq!(told[0]["status"], "approved");
}

fn set_a_limit(browser: &Browser) {
    browser.open("/c/ACM/costs");
    browser.click("#whose option:nth-child(2)");
    browser.write("#budgetMonthlyCents", "40");
    browser.click("#limits [type=submit]");
    browser.until("document.getElementById('budgetMonthlyCents').value === ''");
    browser.open("/c/ACM/agents/ada/costs");
    browser.until_told("$40");
}

fn rotate_a_secret(browser: &Browser) {
    browser.open("/c/ACM/secrets");
    browser.write("#name", "forge");
    browser.write("#value", "correct-horse");
    browser.click("main .btn-go");
    browser.until("document.querySelector('h1').textContent === 'forge'");
    browser.write("#value", "battery-staple");
    browser.click("form:has(#value) [type=submit]");
    browser.until("document.querySelector('tbody').rows.length === 2");
    assert!(!browser.source().contains("battery-staple"));
}
