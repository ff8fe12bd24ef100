//! What belongs to another company is not there.

use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use crate::pages::PAGES;
use crate::scene::Scene;
use crate::support::Page;

/// What in an address stands for something of a company.
const NAMED: [&str; 7] = [
    "ISSUE", "APPROVAL", "AGENT", "RUN", "PROJECT", "GOAL", "SECRET",
];

/// Addresses beside those of pages.
const MORE: [&str; 4] = [
    "/c/PREFIX/issues/ISSUE/diff",
    "/c/PREFIX/issues/ISSUE/files/RUN",
    "/c/PREFIX/runs/RUN/log",
    "/c/PREFIX/runs/RUN?view=raw",
];

#[test]
fn what_is_of_another_company_is_not_there_on_sqlite() {
    another_company_sees_nothing(sqlite_store());
}

#[test]
fn what_is_of_another_company_is_not_there_on_postgres() {
    if let Some(store) = postgres_store() {
        another_company_sees_nothing(store);
    }
}

fn another_company_sees_nothing(store: TestStore) {
    let scene = Scene::on(store);
    let addresses = PAGES.iter().map(|(_, address)| *address).chain(MORE);
    let mut seen = 0;
    for address in addresses {
        let Some(named) = NAMED.iter().find(|it| address.contains(*it)) else {
            continue;
        };
        seen += 1;
        let theirs = scene.place(&address.replace("PREFIX", "BIR"));
        let nobodys = theirs.replace(&scene.place(named), "0198f000-0000-7000-8000-000000000000");
        let found = [&theirs, &nobodys].map(|place| scene.board.get(place));
        for page in &found {
            assert_eq!(page.status, 404, "{theirs}: {}", page.html);
        }
        let [theirs, nobodys] = found.each_ref().map(without_request);
        assert_eq!(theirs, nobodys, "{address}");
    }
    assert!(seen > 15, "{seen}");
}

/// What a page says, but for what the log calls the request.
fn without_request(page: &Page) -> String {
    let id = page.header("x-request-id");
    assert!(page.html.contains(id), "{}", page.html);
    page.html.replace(id, "")
}
