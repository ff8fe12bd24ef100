use serde_json::{Value, json};

use crate::harness::{Server, binary, claim, folder};

#[test]
fn the_demo_tells_its_whole_story() {
    let told = binary().arg("demo").output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr),
    );
    assert!(told.status.success(), "{out}\n{err}");
    for part in [
        "checks the issue out",
        "409 checkout_conflict",
        "alerts: Eli Engineer",
        "is done",
        "cents",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
}

#[test]
fn the_demo_takes_no_folder_that_has_something_in_it() {
    let data = folder();
    drop(Server::start(data.path()));
    let told = binary()
        .args(["demo", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(1), "{err}");
    assert!(err.contains("is not empty"), "{err}");
    assert!(!data.path().join("data").exists());
}

#[test]
fn api_calls_print_the_answer_and_tell_success_by_exit_code() {
    let data = folder();
    let server = Server::start(data.path());
    let api = |arguments: &[&str]| {
        binary()
            .args(["api", "--url", &server.base])
            .args(arguments)
            .output()
            .unwrap()
    };
    let made = api(&[
        "--get",
        "/name",
        "POST",
        "/api/companies",
        "{\"name\": \"Acme\"}",
    ]);
    assert_eq!(String::from_utf8_lossy(&made.stdout), "Acme\n");
    assert_eq!(made.status.code(), Some(0));

    let refused = api(&["POST", "/api/companies", "{}"]);
    assert_eq!(refused.status.code(), Some(1));
    let problem: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(problem["details"][0]["pointer"], json!("/name"));

    let nobody = binary()
        .args(["api", "--url", "http://127.0.0.1:1", "GET", "/x"])
        .output()
        .unwrap();
    assert_eq!(nobody.status.code(), Some(2));
}

#[test]
fn a_place_for_attachments_that_cannot_be_had_is_told() {
    let data = folder();
    let file = data.path().join("file");
    std::fs::write(&file, "").unwrap();
    let file = format!("file://{}", file.display());
    let mut places = vec![
        (file.as_str(), "failed to use the folder"),
        ("ftp://x", "s3://"),
    ];
    if !cfg!(feature = "s3") {
        places.push(("s3://files", "without the feature `s3`"));
    }
    claim(data.path());
    for (place, told) in places {
        let ended = binary()
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--attachments-url",
                place,
                "--data-dir",
            ])
            .arg(data.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success(), "{place}");
        assert!(
            error.contains(told) && !error.contains("panicked"),
            "{error}"
        );
    }
}
