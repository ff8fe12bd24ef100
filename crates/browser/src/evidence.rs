//! What a browser tells about its pages.

use std::path::PathBuf;

use serde_json::Value;

use crate::browser::Browser;

/// What pages complained about.
pub(crate) fn complaints(console: &[Value]) -> Vec<String> {
    let bad = console.iter().filter(|entry| {
        let level = entry["level"].as_str();
        level == Some("SEVERE") || level == Some("WARNING")
    });
    bad.map(|entry| entry["message"].as_str().unwrap().to_owned())
        .collect()
}

/// Which addresses were asked for.
pub(crate) fn addresses(performance: &[Value]) -> Vec<String> {
    let messages = performance.iter().map(|entry| {
        let message = entry["message"].as_str().unwrap();
        serde_json::from_str::<Value>(message).unwrap()["message"].take()
    });
    let requests = messages.filter(|it| it["method"] == "Network.requestWillBeSent");
    requests
        .map(|it| it["params"]["request"]["url"].as_str().unwrap().to_owned())
        .collect()
}

/// Keeps what a failed test left: `browser/TEST.{png,html,log}` in the target folder.
pub(crate) fn keep(browser: &Browser) {
    let folder = folder();
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace("::", ".");
    // What cannot be kept is no reason to hide why the test failed.
    let kept = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        std::fs::create_dir_all(&folder).unwrap();
        let file = |ending: &str| folder.join(format!("{test}.{ending}"));
        let console = browser
            .log("browser")
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>();
        std::fs::write(file("log"), console.join("\n")).unwrap();
        std::fs::write(file("html"), browser.source()).unwrap();
        std::fs::write(file("png"), browser.picture()).unwrap();
    }));
    if kept.is_ok() {
        eprintln!("what the browser showed: {}/{test}.*", folder.display());
    }
}

/// A folder in the target folder, in which the program of the test is.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let mut folders = program.ancestors();
    let target = folders.find(|it| it.join("CACHEDIR.TAG").is_file());
    target
        .map_or_else(std::env::temp_dir, PathBuf::from)
        .join("browser")
}
