use std::time::Duration;

use serde_json::json;
use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::scene::Scene;

/// What happened is seen after this time at most.
const SOON: Duration = Duration::from_secs(1);

#[test]
fn two_people_see_what_happens_while_they_look() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let people = [
        Browser::of(scene.board.host()),
        Browser::of(scene.board.host()),
    ];
    let issue = scene.place("/c/PREFIX/issues/ISSUE");
    let approval = scene.place("/c/PREFIX/approvals/APPROVAL");
    let both_see = |expression: &str| {
        for person in &people {
            let took = person.until(expression);
            assert!(took < SOON, "{took:?}: {expression}");
        }
    };
    let both_open = |place: &str| {
        for person in &people {
            person.open(place);
            person.until_live();
            person.script("window.isTheSame = true", &[]);
        }
    };
    let facts = "document.querySelector('aside .facts').innerText";

    both_open(&issue);
    scene.comment("Do you see this?");
    both_see("document.querySelector('.thread').innerText.includes('Do you see this?')");
    scene.change_issue(&json!({ "status": "blocked", "assigneeAgentId": null }));
    both_see(&format!(
        "{facts}.includes('Blocked') && {facts}.includes('nobody')"
    ));
    both_see("document.getElementById('status').value === 'blocked'");
    both_see("!document.querySelector('[value=wake]')");
    both_see("window.isTheSame");

    both_open(&scene.place("/c/PREFIX"));
    let waiting = people[0].value("Number(document.querySelector('.answers .v').firstChild.data)");
    scene.reject();
    let less = waiting.as_i64().unwrap() - 1;
    let count = "Number(document.querySelector('.answers .v').firstChild.data)";
    both_see(&format!("{count} === {less}"));
    both_see("window.isTheSame");

    both_open(&approval);
    both_see("!document.querySelector('[value=approve]')");
}

#[test]
fn what_a_person_does_survives_what_happens_meanwhile() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    browser.screen(1280, 500);
    browser.open(&scene.place("/c/PREFIX/issues/ISSUE"));
    browser.until_live();
    browser.click("[name=interrupt]");
    browser.choose("#priority", "low");
    browser.write("#body", "What I write stays");
    browser.script(
        "const field = document.getElementById('body'); field.setSelectionRange(5, 11); \
         field.scrollIntoView({ block: 'center' }); \
         document.getElementById('companies').showPopover();",
        &[],
    );
    let state = "JSON.stringify([document.activeElement.id, \
        document.getElementById('body').value, document.getElementById('body').selectionStart, \
        document.getElementById('body').selectionEnd, document.getElementById('priority').value, \
        document.querySelector('[name=interrupt]').checked, \
        document.getElementById('companies').matches(':popover-open')])";
    let height = "document.getElementById('body').getBoundingClientRect().top";
    let (before, at) = (browser.value(state), browser.value(height));
    for n in 0..13 {
        scene.comment(&format!("Comment {n}"));
        scene.change_issue(&json!({ "title": format!("Title {n}") }));
        scene.add_issue(&format!("Beside {n}"));
        scene.add_issue(&format!("Below {n}"));
    }
    browser.until("document.querySelector('.thread').innerText.includes('Comment 12')");
    browser.until("document.querySelector('h1').textContent === 'Title 12'");
    assert_eq!(browser.value(state), before);
    let moved = browser.value(height).as_f64().unwrap() - at.as_f64().unwrap();
    assert!(moved.abs() < 2.0, "it moved by {moved}");
    browser.click("form[action$='/comments'] [type=submit]");
    browser.until("document.querySelector('.thread').innerText.includes('What I write stays')");
}
