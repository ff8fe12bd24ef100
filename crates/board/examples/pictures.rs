//! Makes pictures of every page, as `cargo xtask pictures` asks for it: the folder that they go to,
//! and the file of the small one.
#![expect(clippy::unwrap_used, reason = "nothing depends on it")]
#![expect(clippy::print_stdout, reason = "it tells where the pictures are")]

#[path = "../tests/pages/logs.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod logs;
#[path = "../tests/browser/pages.rs"]
mod pages;
#[path = "../tests/browser/scene.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod scene;
#[path = "../tests/pages/support.rs"]
#[expect(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "the tests need more of it"
)]
mod support;

use std::path::{Path, PathBuf};

use pages::PAGES;
use scene::Scene;
use serde_json::{Value, json};
use support::Board;
use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

/// A desk and a phone.
const SCREENS: [(&str, u32, u32); 2] = [("d", 1440, 900), ("m", 390, 844)];

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().unwrap();
    std::fs::create_dir_all(&folder).unwrap();
    let scene = Scene::on(sqlite_store());
    let browser = Browser::of(scene.board.host());
    let bare = json!({ "hidden": true });
    browser.devtools("Emulation.setScrollbarsHidden", &bare);
    for theme in ["light", "dark"] {
        browser.theme(theme);
        picture_all(&browser, &scene, &folder, theme);
    }
    if let Some(small) = arguments.next() {
        browser.theme("light");
        browser.screen(800, 450);
        browser.open(&scene.place("/c/PREFIX"));
        keep(&browser, &small);
        println!("{}", small.display());
    }
    browser.theme("light");
    // A company that has nothing yet.
    for (page, address) in PAGES {
        let address = address.replace("PREFIX", "BIR");
        let is_of_all =
            !address.contains(|it: char| it.is_ascii_uppercase() && !"BIR".contains(it));
        if is_of_all {
            picture(
                &browser,
                &scene.place(&address),
                &folder,
                &format!("{page}-bare"),
            );
        }
    }
    stretch(&scene.board);
    picture_all(&browser, &scene, &folder, "long");
    println!("{}", folder.display());
}

fn picture_all(browser: &Browser, scene: &Scene, folder: &Path, kind: &str) {
    for (page, address) in PAGES {
        picture(
            browser,
            &scene.place(address),
            folder,
            &format!("{page}-{kind}"),
        );
    }
}

/// Gives everything a name of 120 characters, with and without places to break.
fn stretch(board: &Board) {
    let name = |word: &str| word.repeat(120 / word.len());
    let (unbroken, broken) = (name("Recalibration"), name("quite long "));
    let company = format!("/api/companies/{}", board.company());
    let change = |path: &str, body: &Value| board.call_with("PATCH", path, &[], body);
    change(&company, &json!({ "name": unbroken }));
    for (kind, field) in [
        ("agents", "name"),
        ("issues", "title"),
        ("projects", "name"),
        ("goals", "title"),
        ("secrets", "name"),
    ] {
        let all = board.told(&format!("{company}/{kind}"));
        for (at, one) in all.as_array().unwrap().iter().enumerate() {
            let name = if at % 2 == 0 { &unbroken } else { &broken };
            let name = format!("{at}{}", name.trim());
            let path = format!("/api/{kind}/{}", one["id"].as_str().unwrap());
            change(&path, &json!({ field: name }));
        }
    }
}

/// Pictures of all of a page, however long it is, on each screen.
fn picture(browser: &Browser, place: &str, folder: &Path, name: &str) {
    for (screen, width, height) in SCREENS {
        browser.screen(width, height);
        browser.open(place);
        let whole = browser.value("document.documentElement.scrollHeight");
        let whole = u32::try_from(whole.as_u64().unwrap()).unwrap();
        browser.screen(width, whole.clamp(height, 4 * height));
        keep(browser, &folder.join(format!("{name}-{screen}.png")));
    }
}

fn keep(browser: &Browser, file: &Path) {
    if browser.value("Boolean(document.body.dataset.company)") == true {
        browser.until_live();
    }
    std::fs::write(file, browser.picture()).unwrap();
}
