use serde_json::{Value, json};
use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::pages::PAGES;
use crate::scene::Scene;
use crate::support::Board;

/// What hostile texts would have put into a page, and where links lead to that they made.
const TRACES: &str = r#"
const traces = [];
const own = (address) => address.startsWith(location.origin + "/");
for (const element of document.querySelectorAll("*")) {
  for (const { name } of element.attributes) {
    if (name.startsWith("on") || name === "style") traces.push(`${element.localName} ${name}`);
  }
}
const foreign = "iframe, object, embed, img, video, audio, base, meta[http-equiv], style, marquee, "
  + "template, math, svg script, svg animate, [formaction], [srcdoc], [autofocus]";
for (const element of document.querySelectorAll(foreign)) traces.push(element.outerHTML);
for (const element of document.querySelectorAll("script, link, form, use")) {
  const address = element.src || element.action || element.href?.baseVal || element.href;
  if (!own(new URL(address, location.origin).href)) traces.push(element.outerHTML);
}
if (document.scripts.length !== 1) traces.push(`${document.scripts.length} scripts`);
for (const link of document.links) {
  if (!own(link.href) && !/^(https?|mailto):/.test(link.href)) traces.push(link.href);
  if (link.hasAttribute("onmouseover")) traces.push(link.outerHTML);
}
return traces;
"#;

fn texts() -> Vec<String> {
    serde_json::from_str(include_str!("../hostile.json")).unwrap()
}

#[track_caller]
fn has_no_trace(browser: &Browser, place: &str) {
    browser.open(place);
    browser.until("document.querySelector('h1')");
    assert_eq!(browser.script(TRACES, &[]), json!([]), "{place}");
}

/// Which of the texts a page does not show as they were written.
fn changed(browser: &Browser, texts: &[String]) -> Value {
    let script = "const text = document.body.textContent; \
                  return arguments[0].filter((it) => !text.includes(it.trim()))";
    browser.script(script, &[json!(texts)])
}

#[test]
fn hostile_texts_are_shown_as_they_were_written() {
    if !Browser::is_there() {
        return;
    }
    let texts = texts();
    assert!(texts.len() >= 60);
    let board = Board::on(sqlite_store());
    let one_line: Vec<String> = texts.iter().map(|it| it.replace('\n', " ")).collect();
    let name = one_line[..4].join(" ");
    let company = board.call(
        "/api/companies",
        &json!({ "name": name, "description": name,
        "requireBoardApprovalForNewAgents": false }),
    );
    let of = |kind: &str| format!("/api/companies/{}/{kind}", company["id"].as_str().unwrap());
    let home = format!("/c/{}", company["issuePrefix"].as_str().unwrap());
    let browser = Browser::of(board.host());

    // What takes Markdown takes all of them at once: links lead to other servers, or nowhere.
    let all = texts.join("\n\n");
    let mut keys = Vec::new();
    for text in &one_line {
        let issue = json!({ "title": text, "description": all, "status": "todo" });
        keys.push(board.call(&of("issues"), &issue)["identifier"].clone());
        let agent = json!({ "name": text, "allowSameName": true, "title": text,
            "capabilities": all, "adapterConfig": { "command": text, "cwd": "/" } });
        board.call(&of("agents"), &agent);
        let asked = json!({ "type": "approve_ceo_strategy",
            "payload": { "title": text, "plan": all, text.as_str(): text, "nested": { text.as_str(): [text] } } });
        board.call(&of("approvals"), &asked);
    }
    let issue = format!("{home}/issues/{}", keys[0].as_str().unwrap());
    let comments = format!("/api/issues/{}/comments", keys[0].as_str().unwrap());
    for text in &texts {
        board.call(&comments, &json!({ "body": text }));
    }
    for page in [
        "",
        "/issues",
        "/issues/new",
        "/approvals",
        "/agents",
        "/agents/new",
        "/runs",
    ] {
        has_no_trace(&browser, &format!("{home}{page}"));
    }
    has_no_trace(&browser, "/");
    // A list ends after 50 rows, so that some of them show more than the first.
    browser.open(&format!("{home}/agents"));
    let hidden = changed(&browser, &one_line);
    assert!(
        hidden.as_array().unwrap().len() <= one_line.len() - 50,
        "{hidden}"
    );
    for (key, text) in keys.iter().zip(&one_line) {
        let place = format!("{home}/issues/{}", key.as_str().unwrap());
        has_no_trace(&browser, &place);
        let title = browser.value("document.querySelector('h1').textContent");
        assert_eq!(title.as_str().unwrap(), text.trim());
    }
    // A page that is open takes in what is said meanwhile.
    has_no_trace(&browser, &issue);
    browser.until_live();
    for text in &texts[..20] {
        board.call(
            &comments,
            &json!({ "body": format!("{text}\n\nwas said again") }),
        );
    }
    let said = "document.body.textContent.split('was said again').length === 21";
    browser.until(said);
    assert_eq!(browser.script(TRACES, &[]), json!([]));
}

#[test]
fn every_field_shows_hostile_texts_as_they_are() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let board = &scene.board;
    let of = |kind: &str| format!("/api/companies/{}/{kind}", board.company());
    let texts = texts();
    let all = texts.join("\n\n");
    let change = |path: &str, body: &Value| board.call_with("PATCH", path, &[], body);
    let may_be_refused = |path: &str, body: &Value| {
        let (status, answer) = board.try_call("POST", path, &[], body);
        assert!(status < 500, "{path}: {body}: {answer}");
    };
    for text in texts.iter().map(|it| it.replace('\n', " ")) {
        // What a name may not be is refused, and is shown by the form that was refused.
        may_be_refused(&of("labels"), &json!({ "name": text, "color": "#112233" }));
        may_be_refused(&of("goals"), &json!({ "title": text, "description": all }));
        let workspace = json!({ "name": text, "cwd": format!("/{text}"), "repoRef": text });
        let project = json!({ "name": text, "description": all, "workspace": workspace });
        may_be_refused(&of("projects"), &project);
        let secret = json!({ "name": text, "value": "x", "description": text });
        may_be_refused(&of("secrets"), &secret);
        let cost = json!({ "agentId": scene.id_of_agent(), "provider": text, "model": text,
            "costCents": 1, "inputTokens": 1, "outputTokens": 1 });
        may_be_refused(&of("cost-events"), &cost);
        let file = text.replace(['"', '\\'], "'");
        board.attach(
            &scene.place("/c/PREFIX/issues/ISSUE/files"),
            &file,
            b"x",
            true,
        );
    }
    let hostile = texts[..6].join(" ").replace('\n', " ");
    change(
        &format!("/api/companies/{}", board.company()),
        &json!({ "name": hostile, "description": all }),
    );
    change(
        &scene.place("/api/issues/ISSUE"),
        &json!({ "title": hostile, "description": all, "billingCode": texts[0] }),
    );
    change(
        &format!("/api/agents/{}", scene.id_of_agent()),
        &json!({ "name": hostile, "title": hostile, "capabilities": all }),
    );
    change(
        &scene.place("/api/projects/PROJECT"),
        &json!({ "name": hostile, "description": all }),
    );
    change(
        &scene.place("/api/goals/GOAL"),
        &json!({ "title": hostile, "description": all }),
    );
    change(
        &scene.place("/api/secrets/SECRET"),
        &json!({ "name": texts[1].repeat(2), "description": texts[1] }),
    );
    let browser = Browser::of(board.host());
    for (_, address) in PAGES {
        has_no_trace(&browser, &scene.place(address));
    }
}

#[test]
fn what_a_run_wrote_is_shown_as_it_was_written() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    let texts = texts();
    let page = scene.run_that_says(&texts.join("\n"));
    has_no_trace(&browser, &page);
    assert_eq!(changed(&browser, &texts), json!([]));
}

#[test]
fn hostile_texts_that_are_refused_come_back_as_they_were_typed() {
    if !Browser::is_there() {
        return;
    }
    let board = Board::on(sqlite_store());
    let home = board.found("Acme");
    let browser = Browser::of(board.host());
    browser.expect("422 (Unprocessable");
    browser.expect("400 (Bad Request");
    let names = [
        "capabilities",
        "name",
        "title",
        "role",
        "adapterConfig/model",
        "adapterConfig/command",
        "budgetMonthlyCents",
    ];
    for typed in texts().chunks(names.len()) {
        browser.open(&format!("{home}/agents/new"));
        let fill = "const [names, texts] = arguments; names.forEach((name, at) => { \
            document.getElementsByName(name)[0].value = texts[at % texts.length]; }); \
            document.querySelector('main form').requestSubmit()";
        browser.script(fill, &[json!(names), json!(typed)]);
        browser.until("document.querySelector('[role=alert]')");
        assert_eq!(browser.script(TRACES, &[]), json!([]), "{typed:?}");
        let shown = browser.value("document.getElementsByName('capabilities')[0].value");
        assert_eq!(shown.as_str().unwrap().trim(), typed[0].trim());
    }
}
