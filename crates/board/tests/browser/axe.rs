//! What axe finds: it knows the rules of the WCAG that a program can check.

use workforce_browser::Browser;
use workforce_skipped_tests as skipped_tests;
use workforce_testkit::store::sqlite_store;

use crate::pages::PAGES;
use crate::scene::Scene;

/// Names the file of axe; `cargo xtask test` installs it.
const VARIABLE: &str = "WORKFORCE_TEST_AXE";

/// Level AA of the WCAG 2.2, with all that it builds on.
const RUN: &str = "
const [done] = arguments;
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
window.axe.run(document, { runOnly: rules, resultTypes: ['violations'] }).then(
  ({ violations }) => done(violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.html}: ${node.failureSummary}`))),
  (fault) => done([String(fault)]));
";

/// The program of axe; a test without it says that it is left out.
fn program() -> Option<String> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let program = path.map(|path| std::fs::read_to_string(path).unwrap());
    if program.is_none() {
        assert!(
            !skipped_tests::is_failure(),
            "the tests need axe-core: {VARIABLE}"
        );
        skipped_tests::tell("axe-core is not installed");
    }
    program
}

/// What axe finds on the page that is open.
fn faults(browser: &Browser, axe: &str) -> Vec<String> {
    browser.script(axe, &[]);
    serde_json::from_value(browser.slow_script(RUN)).unwrap()
}

fn check(theme: &str) {
    if !Browser::is_there() {
        return;
    }
    let Some(axe) = program() else { return };
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    browser.theme(theme);
    // A page without any fault proves nothing unless axe finds those of another.
    browser.open("data:text/html,<h1>No language</h1><img src=x>");
    assert!(
        faults(&browser, &axe)
            .iter()
            .any(|it| it.starts_with("image-alt"))
    );
    let mut found: Vec<String> = Vec::new();
    for (page, address) in PAGES {
        for width in [1280, 360] {
            browser.screen(width, 740);
            browser.open(&scene.place(address));
            let told = faults(&browser, &axe);
            found.extend(told.iter().map(|it| format!("{page}, {width} wide: {it}")));
        }
    }
    found.dedup();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_page_is_for_everybody_when_it_is_light() {
    check("light");
}

#[test]
fn every_page_is_for_everybody_when_it_is_dark() {
    check("dark");
}
