use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::scene::Scene;

const CLICK_TWICE: &str = "const [css] = arguments; const sent = document.querySelector(css); \
                           sent.click(); sent.click();";

#[test]
fn what_is_sent_twice_is_done_once() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    let new = scene.place("/c/PREFIX/issues/new");
    let count = |title: &str| scene.count_issues(title);

    browser.open(&new);
    browser.write("#title", "Clicked twice");
    browser.script(CLICK_TWICE, &["main .btn-go".into()]);
    browser.until("document.querySelector('h1').textContent === 'Clicked twice'");
    assert_eq!(count("Clicked twice"), 1);
    browser.back();
    browser.until("document.querySelector('#title')");
    browser.click("main .btn-go");
    browser.until("document.querySelector('h1').textContent === 'Clicked twice'");
    assert_eq!(count("Clicked twice"), 1);

    browser.open(&new);
    browser.write("#title", "Entered twice\u{e007}\u{e007}");
    browser.until("document.querySelector('h1').textContent === 'Entered twice'");
    assert_eq!(count("Entered twice"), 1);

    let issue = scene.place("/c/PREFIX/issues/ISSUE");
    browser.open(&issue);
    browser.write("#body", "Said once.");
    browser.script(
        CLICK_TWICE,
        &["form[action$='/comments'] [type=submit]".into()],
    );
    browser.until_told("Said once.");
    browser.open(&issue);
    assert_eq!(browser.text(".thread").matches("Said once.").count(), 1);

    let approval = scene.place("/c/PREFIX/approvals/APPROVAL");
    browser.open(&approval);
    browser.script(CLICK_TWICE, &["[value=approve]".into()]);
    browser.until("!document.querySelector('[value=approve]')");
    browser.back();
    browser.open(&approval);
    assert_eq!(browser.text("aside .lines").matches("pproved").count(), 1);
}
