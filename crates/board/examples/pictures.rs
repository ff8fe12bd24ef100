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
    let bare = serde_json::json!({ "hidden": true });
    browser.devtools("Emulation.setScrollbarsHidden", &bare);
    for theme in ["light", "dark"] {
        browser.theme(theme);
        for (screen, width, height) in SCREENS {
            for (page, address) in PAGES {
                browser.screen(width, height);
                browser.open(&scene.place(address));
                // All of it, however long it is.
                let whole = browser.value("document.documentElement.scrollHeight");
                let whole = u32::try_from(whole.as_u64().unwrap()).unwrap();
                browser.screen(width, whole.clamp(height, 4 * height));
                keep(
                    &browser,
                    &folder.join(format!("{page}-{screen}-{theme}.png")),
                );
            }
        }
    }
    println!("{}", folder.display());
    if let Some(small) = arguments.next() {
        browser.theme("light");
        browser.screen(800, 450);
        browser.open(&scene.place("/c/PREFIX"));
        keep(&browser, &small);
        println!("{}", small.display());
    }
}

fn keep(browser: &Browser, file: &Path) {
    if browser.value("Boolean(document.body.dataset.company)") == true {
        browser.until_live();
    }
    std::fs::write(file, browser.picture()).unwrap();
}
