//! File names that would be something else.

use serde_json::{Value, json};

use crate::support::api_tests;
use crate::uploads::{Place, form, objects, part};

/// What stands between the quotes of `filename`, and what is left of it.
const TRICKS: &[(&str, Option<&str>)] = &[
    ("../../../../etc/passwd", Some("passwd")),
    ("/etc/passwd", Some("passwd")),
    ("..", None),
    (".", None),
    ("../..", None),
    ("/", None),
    ("..\\\\..\\\\boot.ini", Some("boot.ini")),
    ("C:\\\\Windows\\\\system.ini", Some("system.ini")),
    ("....//....//x", Some("x")),
    ("..%2f..%2fx", Some("..%2f..%2fx")),
    ("%2e%2e%2fx", Some("%2e%2e%2fx")),
    ("..;/x", Some("x")),
    ("~/.ssh/id_rsa", Some("id_rsa")),
    ("file:///etc/passwd", Some("passwd")),
    ("\\\\\\\\host\\\\share\\\\x", Some("x")),
    ("x/", None),
    ("   ", None),
    ("a\tb.txt", Some("ab.txt")),
    ("\u{202e}gpj.exe", Some("gpj.exe")),
    ("\u{2025}/x", Some("x")),
    (
        "\u{ff0e}\u{ff0e}\u{ff0f}x",
        Some("\u{ff0e}\u{ff0e}\u{ff0f}x"),
    ),
    ("x.txt#1", Some("x.txt#1")),
    ("$(reboot).txt", Some("$(reboot).txt")),
    ("a\\\"; filename=\\\"b.html", Some("a\"; filename=\"b.html")),
    ("-rf", Some("-rf")),
    ("caf\u{e9}.txt", Some("caf\u{e9}.txt")),
];

api_tests! {
    fn a_name_stays_a_name(api) {
        let place = Place::of(api);
        for (number, (sent, left)) in TRICKS.iter().enumerate() {
            let head = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{sent}\"");
            let body = form(&[part(&head, number.to_string().as_bytes())]);
            let attachment = place.send(api, &body).ok(201);
            assert_eq!(attachment["originalFilename"], json!(left), "{sent}");
            let answer = api.fetch(attachment["contentPath"].as_str().unwrap(), &[]);
            assert_eq!(answer.status, 200);
            let told = answer.header("content-disposition").unwrap();
            assert!(told.starts_with("inline"), "{told}");
            assert!(
                told.matches("filename=").count() <= 1 || told.contains("_; filename=_"),
                "{told}"
            );
            assert!(!told.contains('/') && !told.contains('\\'), "{told}");
        }
        assert_eq!(objects(api), TRICKS.len());
        // Nothing but ids names a file.
        for company in std::fs::read_dir(api.objects.path()).unwrap() {
            let company = company.unwrap();
            assert_eq!(company.file_name().to_str(), place.company["id"].as_str());
            for object in std::fs::read_dir(company.path()).unwrap() {
                let name = object.unwrap().file_name().into_string().unwrap();
                assert!(name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'));
            }
        }
    }

    fn a_long_name_is_cut_in_front_of_its_extension(api) {
        let place = Place::of(api);
        let long = format!("{}.pdf", "\u{1f980}".repeat(300));
        let head = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{long}\"");
        let attachment = place.send(api, &form(&[part(&head, b"%PDF-1.4")])).ok(201);
        let name = attachment["originalFilename"].as_str().unwrap();
        assert_eq!(name.chars().count(), 255);
        assert!(name.ends_with("\u{1f980}.pdf"));
        let answer = api.fetch(attachment["contentPath"].as_str().unwrap(), &[]);
        let told = answer.header("content-disposition").unwrap();
        assert!(told.contains("; filename*=UTF-8''%F0%9F%A6%80"), "{told}");
    }

    fn the_extended_form_of_a_name_counts(api) {
        let place = Place::of(api);
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"plain.txt\"; \
                    filename*=UTF-8''..%2F%E2%82%AC%0d%0aX-Evil%3A%201.txt";
        let attachment = place.send(api, &form(&[part(head, b"x")])).ok(201);
        assert_eq!(attachment["originalFilename"], "\u{20ac}X-Evil: 1.txt");
        let answer = api.fetch(attachment["contentPath"].as_str().unwrap(), &[]);
        assert_eq!(answer.header("x-evil"), None);
    }

    fn a_name_that_no_header_can_hold_is_refused(api) {
        let place = Place::of(api);
        for name in ["a\0b.txt", "a\u{1}b"] {
            let head = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"");
            place
                .send(api, &form(&[part(&head, b"x")]))
                .problem(400, "invalid_request");
        }
        let mut latin = b"--a-boundary-of-the-tests\r\nContent-Disposition: form-data; name=\"file\"; \
                          filename=\"caf\xe9\"\r\n\r\nx\r\n"
            .to_vec();
        latin.extend_from_slice(b"--a-boundary-of-the-tests--\r\n");
        place.send(api, &latin).problem(400, "invalid_request");
        assert_eq!(place.list(api), Value::Array(Vec::new()));
        assert_eq!(objects(api), 0);
    }
}
