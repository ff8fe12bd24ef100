use std::collections::BTreeSet;

use workforce_browser::Browser;
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use crate::pages::PAGES;
use crate::scene::Scene;

/// Looks at every page, and at one that is not there.
fn look_at_all(store: TestStore) {
    let scene = Scene::on(store);
    let browser = Browser::of(scene.board.host());
    browser.open(&scene.place("/c/PREFIX"));
    let shown = browser.value("document.body.dataset.event");
    for (page, address) in PAGES {
        let place = scene.place(address);
        browser.open(&place);
        browser.until("document.querySelector('h1')");
        assert_eq!(browser.place(), place);
        for width in [320, 1280] {
            browser.screen(width, 800);
            let wide = browser.value("document.documentElement.scrollWidth");
            let is_fitting = wide.as_u64() <= Some(u64::from(width));
            assert!(is_fitting, "{page} is {wide} wide on {width}");
        }
    }
    browser.expect("404 (Not Found)");
    browser.open("/c/NOPE/issues");
    browser.until_told("not_found");
    // To look changes nothing.
    browser.open(&scene.place("/c/PREFIX"));
    assert_eq!(browser.value("document.body.dataset.event"), shown);
}

#[test]
fn every_page_keeps_to_its_rules_on_sqlite() {
    if Browser::is_there() {
        look_at_all(sqlite_store());
    }
}

#[test]
fn every_page_keeps_to_its_rules_on_postgres() {
    if Browser::is_there()
        && let Some(store) = postgres_store()
    {
        look_at_all(store);
    }
}

/// An address without what is shown.
fn shape(address: &str) -> String {
    let is_word = |part: &&str| part.bytes().any(|it| it.is_ascii_uppercase());
    let path = address.split('?').next().unwrap();
    let parts = path.split('/').map(|part| match part {
        part if is_word(&part) => "*",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_page_that_is_written_down_is_looked_at() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/board.md");
    let documented = std::fs::read_to_string(path).unwrap();
    let rows = documented
        .lines()
        .filter_map(|line| line.strip_prefix("| `/"));
    let documented: BTreeSet<String> = rows
        .map(|row| shape(&format!("/{}", row.split('`').next().unwrap())))
        .collect();
    let looked_at: BTreeSet<String> = PAGES.iter().map(|(_, address)| shape(address)).collect();
    let missing: Vec<_> = documented.difference(&looked_at).collect();
    assert!(missing.is_empty() && !documented.is_empty(), "{missing:?}");
}
