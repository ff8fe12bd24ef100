//! How often pages ask the store, and how much they weigh.

use std::collections::BTreeSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use serde_json::json;
use workforce_testkit::failing::FailingStore;
use workforce_testkit::store::sqlite_store;

use crate::pages::PAGES;
use crate::scene::Scene;

/// A page asks the store so often at most, and begins one transaction for that.
const MOST: usize = 15 + 1;

/// Pages of many parts, each of which looks once more for what it belongs to.
const OF_PARTS: [(&str, usize); 4] = [
    ("columns", 16 + 1),
    ("issue", 27 + 1),
    ("approval", 19 + 1),
    ("agent", 20 + 1),
];

/// More rows than any list of a page shows.
const MANY: usize = 55;

/// A page is so many bytes long at most, and a first visit as many with all that it loads.
const HEAVIEST: usize = 100 * 1024;
const FIRST_VISIT: usize = 60 * 1024;

#[test]
fn pages_ask_the_store_a_bounded_number_of_times() {
    let store = sqlite_store();
    let counted = FailingStore::over(store.shared());
    let scene = Scene::over(counted.clone(), store);
    // Projects are read in pieces, since what hangs on them is heavy.
    let few = calls(&scene, &counted);
    fill(&scene);
    let many = calls(&scene, &counted);
    let faults: Vec<_> = few
        .iter()
        .zip(&many)
        .filter(|((name, few), (_, many))| {
            let most = OF_PARTS.iter().find(|(page, _)| page == name);
            let is_in_pieces = *name == "projects";
            few.max(many) > &most.map_or(MOST, |(_, most)| *most) || many > few && !is_in_pieces
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    for (name, address) in PAGES {
        let weight = scene.board.get(&scene.place(address)).html.len();
        assert!(weight <= HEAVIEST, "{name}: {weight}");
    }
}

#[test]
fn a_first_visit_is_light() {
    let scene = Scene::on(sqlite_store());
    let page = scene.board.get(&scene.place("/c/PREFIX"));
    let loaded = page.ok().split("=\"/assets/").skip(1);
    let loaded = loaded.filter_map(|rest| rest.split(['"', '#']).next());
    let loaded: BTreeSet<&str> = loaded.collect();
    assert!((3..5).contains(&loaded.len()), "{loaded:?}");
    let asset = |name: &&str| zipped(scene.board.get(&format!("/assets/{name}")).ok());
    let weight = zipped(&page.html) + loaded.iter().map(asset).sum::<usize>();
    assert!(weight <= FIRST_VISIT, "{weight}");
}

/// How long a text is where it is compressed.
fn zipped(text: &str) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap().len()
}

/// How often each page asks.
fn calls(scene: &Scene, counted: &FailingStore) -> Vec<(&'static str, usize)> {
    let pages = PAGES.iter().map(|(name, address)| {
        let place = scene.place(address);
        counted.count();
        scene.board.get(&place).ok();
        (*name, counted.calls())
    });
    pages.collect()
}

/// Makes more of everything than a list shows.
fn fill(scene: &Scene) {
    let company = scene.board.company();
    let issue = scene.place("ISSUE");
    let project = scene.place("PROJECT");
    let agents = scene
        .board
        .told(&format!("/api/companies/{company}/agents"));
    for at in 0..MANY {
        let name = format!("Number {at}");
        let of_company = [
            (
                "issues",
                json!({ "title": name, "status": "todo", "assigneeAgentId": agents[at % 7]["id"] }),
            ),
            (
                "issues",
                json!({ "title": name, "parentId": issue, "projectId": project }),
            ),
            ("goals", json!({ "title": name })),
            ("projects", json!({ "name": name })),
            ("secrets", json!({ "name": name, "value": "correct-horse" })),
            (
                "agents",
                json!({ "name": name, "role": "engineer", "reportsTo": agents[0]["id"] }),
            ),
            (
                "approvals",
                json!({ "type": "approve_ceo_strategy", "payload": { "title": name, "plan": name } }),
            ),
        ];
        for (kind, body) in of_company {
            scene
                .board
                .call(&format!("/api/companies/{company}/{kind}"), &body);
        }
        let comment = json!({ "body": name });
        scene
            .board
            .call(&format!("/api/issues/{issue}/comments"), &comment);
        scene.board.call("/api/companies", &json!({ "name": name }));
    }
}
