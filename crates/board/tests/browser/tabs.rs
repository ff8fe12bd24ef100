use std::time::{Duration, Instant};

use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::scene::Scene;

#[test]
fn only_the_tab_that_is_seen_has_a_stream() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    let issues = scene.place("/c/PREFIX/issues");
    browser.open(&issues);
    let first = browser.tab();
    for tab in 1..12 {
        browser.open_tab();
        assert_eq!(browser.value("document.visibilityState"), "visible");
        let began = Instant::now();
        browser.open(&issues);
        browser.until("document.querySelector('.tbl')");
        let took = began.elapsed();
        // Beyond the sixth, browsers have no connection left when each has a stream.
        assert!(took < Duration::from_secs(5), "tab {tab} took {took:?}");
    }
    browser.until_live();
    scene.until_streams(1);
    browser.look_at(&first);
    browser.until_live();
    scene.until_streams(1);
    // What happened meanwhile is there.
    scene.add_issue("Made while another tab was seen");
    browser.until_told("Made while another tab was seen");
}
