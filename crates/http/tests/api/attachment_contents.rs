//! How contents are handed out: ranges, tags, and headers that keep them from
//! acting.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::support::{Api, Fetched, api_tests, id};
use crate::uploads::{Place, form, part};

const DIGITS: &[u8] = b"0123456789";

/// Some bytes without a pattern, larger than what is read at a time.
fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(3 * 1024 * 1024 + 17)
    .collect()
}

fn content(api: &Api, attachment: &Value, headers: &[(&str, &str)]) -> Fetched {
    api.fetch(attachment["contentPath"].as_str().unwrap(), headers)
}

/// What is uploaded as `declared`, with how it has to be told and served.
struct Kind {
    declared: &'static str,
    content: &'static [u8],
    told: &'static str,
    served: &'static str,
    disposition: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        declared: "text/html",
        content: b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
        told: "image/png",
        served: "image/png",
        disposition: "inline",
    },
    Kind {
        declared: "image/png",
        content: b"<html><script>alert(1)</script>",
        told: "text/html",
        served: "application/octet-stream",
        disposition: "attachment",
    },
    Kind {
        declared: "image/svg+xml",
        content: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        told: "image/svg+xml",
        served: "application/octet-stream",
        disposition: "attachment",
    },
    Kind {
        declared: "image/gif",
        content: b"GIF89a/*\0*/=1;alert(1)//",
        told: "image/gif",
        served: "image/gif",
        disposition: "inline",
    },
    Kind {
        declared: "text/javascript",
        content: b"alert(1)",
        told: "text/plain",
        served: "text/plain; charset=utf-8",
        disposition: "inline",
    },
    Kind {
        declared: "application/pdf",
        content: b"\x00\x01\x02",
        told: "application/octet-stream",
        served: "application/octet-stream",
        disposition: "attachment",
    },
    Kind {
        declared: "text/plain",
        content: b"%PDF-1.4 %\xe2\xe3",
        told: "application/pdf",
        served: "application/pdf",
        disposition: "inline",
    },
    Kind {
        declared: "text/plain",
        content: b"PK\x03\x04\x14\0\x06\0",
        told: "application/zip",
        served: "application/octet-stream",
        disposition: "attachment",
    },
    Kind {
        declared: "nonsense",
        content: b"\xef\xbb\xbf<?xml version='1.0'?><x/>",
        told: "text/xml",
        served: "application/octet-stream",
        disposition: "attachment",
    },
];

api_tests! {
    fn a_range_is_a_part_of_the_content(api) {
        let attachment = Place::of(api).attach(api, "digits.txt", DIGITS);
        let whole = content(api, &attachment, &[]);
        assert_eq!((whole.status, whole.bytes.as_slice()), (200, DIGITS));
        assert_eq!(whole.header("accept-ranges"), Some("bytes"));
        assert_eq!(whole.header("content-length"), Some("10"));
        for (range, part, told) in [
            ("bytes=0-3", &b"0123"[..], "bytes 0-3/10"),
            ("bytes=4-", b"456789", "bytes 4-9/10"),
            ("bytes=-2", b"89", "bytes 8-9/10"),
            ("bytes=8-100", b"89", "bytes 8-9/10"),
        ] {
            let answer = content(api, &attachment, &[("Range", range)]);
            assert_eq!((answer.status, answer.bytes.as_slice()), (206, part), "{range}");
            assert_eq!(answer.header("content-range"), Some(told));
            assert_eq!(answer.header("etag"), whole.header("etag"));
        }
        for range in ["bytes=0-1,3-4", "bytes=x", "lines=0-1", "bytes=5-2"] {
            let answer = content(api, &attachment, &[("Range", range)]);
            assert_eq!((answer.status, answer.bytes.as_slice()), (200, DIGITS), "{range}");
        }
        let path = attachment["contentPath"].as_str().unwrap();
        let beyond = api.send("GET", path, &[("Range", "bytes=10-")], b"");
        beyond.problem(416, "range_not_satisfiable");
        assert_eq!(beyond.header("content-range"), Some("bytes */10"));
    }

    fn tags_save_what_is_there_already(api) {
        let attachment = Place::of(api).attach(api, "digits.txt", DIGITS);
        let etag = format!("\"{}\"", attachment["sha256"].as_str().unwrap());
        let get = |headers: &[(&str, &str)]| content(api, &attachment, headers);
        assert_eq!(get(&[]).header("etag"), Some(etag.as_str()));
        for tags in [etag.clone(), format!("W/{etag}"), "*".to_owned(), format!("\"x\", {etag}")] {
            let answer = get(&[("If-None-Match", &tags), ("Range", "bytes=0-1")]);
            assert_eq!((answer.status, answer.bytes.len()), (304, 0), "{tags}");
            assert_eq!(answer.header("etag"), Some(etag.as_str()));
        }
        assert_eq!(get(&[("If-None-Match", "\"other\"")]).status, 200);
        let range = ("Range", "bytes=0-1");
        assert_eq!(get(&[range, ("If-Range", &etag)]).bytes, b"01");
        for other in ["\"other\"", "Sat, 21 Nov 2026 10:00:00 GMT", ""] {
            assert_eq!(get(&[range, ("If-Range", other)]).bytes, DIGITS, "{other}");
        }
    }

    fn the_head_is_that_of_the_content(api) {
        let attachment = Place::of(api).attach(api, "digits.txt", DIGITS);
        let path = attachment["contentPath"].as_str().unwrap();
        // By hand, since a client may hide what was sent.
        let mut stream = api.connect();
        let request = format!(
            "HEAD {path} HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let answer = answer.to_lowercase();
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        assert!(answer.contains("\r\ncontent-length: 10\r\n"), "{answer}");
        assert!(answer.contains("\r\netag: "), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }

    fn a_large_content_comes_back_as_it_was(api) {
        let noise = noise();
        let attachment = Place::of(api).attach(api, "noise.bin", &noise);
        assert_eq!(attachment["byteSize"], noise.len());
        assert_eq!(attachment["contentType"], "application/octet-stream");
        assert!(content(api, &attachment, &[]).bytes == noise);
        let range = content(api, &attachment, &[("Range", "bytes=500000-2500000")]);
        assert!(range.bytes == noise[500_000..=2_500_000]);
    }

    fn bytes_are_served_as_what_they_are_and_cannot_act(api) {
        let place = Place::of(api);
        for kind in KINDS {
            let head = format!(
                "Content-Disposition: form-data; name=\"file\"; filename=\"x.bin\"\r\nContent-Type: {}",
                kind.declared
            );
            let attachment = place
                .send(api, &form(&[part(&head, kind.content)]))
                .ok(201);
            let name = String::from_utf8_lossy(kind.content);
            assert_eq!(attachment["contentType"], kind.told, "{name}");
            assert_eq!(attachment["disposition"], kind.disposition, "{name}");
            let declared = if kind.declared.contains('/') {
                json!(kind.declared)
            } else {
                Value::Null
            };
            assert_eq!(attachment["declaredContentType"], declared);
            let answer = content(api, &attachment, &[("Accept-Encoding", "gzip")]);
            assert_eq!(answer.bytes, kind.content);
            for (header, expected) in [
                ("content-type", kind.served),
                (
                    "content-disposition",
                    &*format!("{}; filename=\"x.bin\"", kind.disposition),
                ),
                ("x-content-type-options", "nosniff"),
                ("content-security-policy", "sandbox; default-src 'none'"),
                ("cross-origin-resource-policy", "same-origin"),
                ("cache-control", "private, max-age=60"),
            ] {
                assert_eq!(answer.header(header), Some(expected), "{name}");
            }
        }
    }

    fn a_text_is_not_compressed(api) {
        let text = "word ".repeat(100_000);
        let attachment = Place::of(api).attach(api, "words.txt", text.as_bytes());
        let headers = [("Accept-Encoding", "gzip"), ("Range", "bytes=5-99999")];
        let answer = content(api, &attachment, &headers);
        assert_eq!(answer.header("content-encoding"), None);
        assert_eq!(answer.bytes, &text.as_bytes()[5..100_000]);
    }

    fn bytes_that_are_gone_are_told_as_missing(api) {
        let attachment = Place::of(api).attach(api, "a.txt", b"x");
        let company = api
            .objects
            .path()
            .join(attachment["companyId"].as_str().unwrap());
        std::fs::remove_dir_all(company).unwrap();
        let path = attachment["contentPath"].as_str().unwrap();
        api.get(path).problem(410, "attachment_missing");
        // What is not there is deleted already.
        let own = format!("/api/attachments/{}", id(&attachment));
        api.send("DELETE", &own, &[], b"").ok(200);
    }
}
