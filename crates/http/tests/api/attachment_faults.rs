//! Uploads that are not what uploads are: each is refused clearly, none is
//! kept, and none costs more than it may.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workforce_domain::attachment::AttachmentLimit;
use workforce_http::{SlotLimits, TransferLimits};
use workforce_testkit::store::TestStore;

use crate::raw::{answer, begin};
use crate::support::{Api, NOTHING, api_tests, closed, hasty, id};
use crate::uploads::{BOUNDARY, FORM, Place, field, file, form, objects, part};

const LIMIT: u64 = 1024 * 1024;

/// A server that takes attachments of at most [`LIMIT`].
fn limited(store: TestStore) -> Api {
    let limits = TransferLimits {
        attachment: AttachmentLimit::from_bytes(LIMIT.cast_signed()).unwrap(),
        ..TransferLimits::default()
    };
    Api::adjusted(store, |state| state.with_transfer_limits(limits))
}

/// A server that takes one upload at a time and lets others wait but shortly.
fn crowded(store: TestStore) -> Api {
    let limits = TransferLimits {
        uploads: SlotLimits {
            at_once: 1,
            patience: Duration::from_millis(200),
            ..TransferLimits::default().uploads
        },
        ..TransferLimits::default()
    };
    Api::adjusted(store, |state| state.with_transfer_limits(limits))
}

/// A server that takes one upload at a time from each caller.
fn unfair(store: TestStore) -> Api {
    let limits = TransferLimits {
        uploads: SlotLimits {
            per_caller: 1,
            patience: Duration::from_millis(200),
            ..TransferLimits::default().uploads
        },
        ..TransferLimits::default()
    };
    Api::adjusted(store, |state| state.with_transfer_limits(limits))
}

/// Sends this much of a form that announces a length.
fn announce(api: &Api, place: &Place, length: usize, sent: &[u8]) -> TcpStream {
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FORM}\r\nContent-Length: {length}\r\n\r\n",
        place.path
    );
    begin(api, &[head.as_bytes(), sent].concat())
}

/// Waits until so many files lie in the place of objects.
fn wait_for(api: &Api, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while objects(api) != count {
        assert!(Instant::now() < deadline, "{} objects", objects(api));
        std::thread::yield_now();
    }
}

/// Waits until nothing lies in the place of objects any more.
fn nothing_is_left(api: &Api) {
    wait_for(api, 0);
}

api_tests! {
    fn a_size_up_to_the_limit_is_taken_and_no_more(api = limited) {
        let place = Place::of(api);
        let fitting = vec![b'x'; LIMIT as usize];
        assert_eq!(place.attach(api, "x.txt", &fitting)["byteSize"], LIMIT);
        let one_more = vec![b'x'; LIMIT as usize + 1];
        let problem = place
            .send(api, &form(&[file("x.txt", &one_more)]))
            .problem(413, "body_too_large");
        assert!(problem["detail"].as_str().unwrap().contains("1048576"));
        // Hidden in a field that nobody asked for.
        let hidden = field("other", &"y".repeat(2 * LIMIT as usize));
        place
            .send(api, &form(&[hidden, file("x.txt", b"x")]))
            .problem(413, "body_too_large");
        assert_eq!(objects(api), 1);
    }

    fn a_company_may_have_a_limit_of_its_own(api = limited) {
        let place = Place::of(api);
        let company = format!("/api/companies/{}", id(&place.company));
        let below = form(&[file("x.txt", &vec![b'x'; 1000])]);
        let above = form(&[file("y.txt", &vec![b'y'; LIMIT as usize + 1])]);
        for (own, taken, refused) in [
            (json!(999), None, Some(&below)),
            (json!(LIMIT + 1), Some(&above), None),
            (Value::Null, Some(&below), Some(&above)),
        ] {
            let set = json!({ "attachmentMaxBytes": own });
            assert_eq!(api.patch(&company, &set).ok(200)["attachmentMaxBytes"], own);
            if let Some(form) = refused {
                place.send(api, form).problem(413, "body_too_large");
            }
            if let Some(form) = taken {
                place.send(api, form).ok(201);
            }
        }
        for odd in [json!(0), json!(5_368_709_121_u64), json!(-1), json!(1.5), json!("9")] {
            let set = json!({ "attachmentMaxBytes": odd });
            let problem = api.patch(&company, &set).problem(400, "invalid_json");
            assert_eq!(problem["details"][0]["pointer"], "/attachmentMaxBytes");
        }
        let new = json!({ "name": "Beta", "attachmentMaxBytes": 7 });
        assert_eq!(api.post("/api/companies", &new).ok(201)["attachmentMaxBytes"], 7);
    }

    fn an_announced_length_above_the_limit_is_not_waited_for(api = limited) {
        let place = Place::of(api);
        let answer = answer(&mut announce(api, &place, 1 << 30, b""));
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("\"body_too_large\""), "{answer}");
    }

    fn whoever_may_not_upload_is_told_before_the_body_is_read(api = closed) {
        let head = format!(
            "POST /api/companies/{NOTHING}/issues/{NOTHING}/attachments HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: {FORM}\r\nContent-Length: 1000000\r\n\r\n"
        );
        let answer = answer(&mut begin(api, head.as_bytes()));
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }

    fn what_a_path_names_is_looked_up_before_the_body_is_read(api) {
        let place = Place::of(api);
        let missing = Place {
            path: place.path.replace(id(&place.issue), NOTHING),
            ..Place::of(api)
        };
        let answer = answer(&mut announce(api, &missing, 1_000_000, b""));
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }

    fn another_kind_of_body_is_refused(api) {
        let place = Place::of(api);
        let body = form(&[file("a.txt", b"x")]);
        for kind in [
            "application/json",
            "text/plain",
            "multipart/mixed; boundary=x",
            "multipart",
            "",
        ] {
            let headers = [("Content-Type", kind)];
            api.send("POST", &place.path, &headers, &body)
                .problem(415, "unsupported_media_type");
        }
        api.send("POST", &place.path, &[], &body)
            .problem(415, "unsupported_media_type");
        for kind in ["multipart/form-data", "multipart/form-data; boundary="] {
            let headers = [("Content-Type", kind)];
            api.send("POST", &place.path, &headers, &body)
                .problem(400, "invalid_request");
        }
        assert_eq!(objects(api), 0);
    }

    fn no_file_and_an_empty_file_are_told_apart(api) {
        let place = Place::of(api);
        for parts in [
            vec![],
            vec![field("x", "y")],
            vec![field("issueCommentId", "")],
        ] {
            let problem = place
                .send(api, &form(&parts))
                .problem(400, "invalid_request");
            assert_eq!(problem["details"][0]["pointer"], "/file");
        }
        let problem = place
            .send(api, &form(&[file("a.txt", b"")]))
            .problem(422, "invalid_field");
        assert_eq!(problem["details"][0]["pointer"], "/file");
        assert_eq!(objects(api), 0);
    }

    fn malformed_bodies_are_refused_and_leave_nothing(api = limited) {
        let place = Place::of(api);
        let whole = form(&[file("a.txt", &[b'x'; 600_000])]);
        let long_head = format!("X-Long: {}", "y".repeat(200_000));
        let many_heads = "X-A: b\r\n".repeat(5000);
        let disposition = "Content-Disposition: form-data; name=\"file\"; filename=\"a\"";
        let bodies: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", b" ".to_vec()),
            ("no boundary", b"hello\r\nworld".to_vec()),
            (
                "another boundary",
                b"--other\r\n\r\nx\r\n--other--\r\n".to_vec(),
            ),
            ("a cut boundary", whole[..10].to_vec()),
            ("a cut head", whole[..60].to_vec()),
            ("a cut file", whole[..300_000].to_vec()),
            ("a file without its end", whole[..whole.len() - 31].to_vec()),
            (
                "half of the last boundary",
                whole[..whole.len() - 8].to_vec(),
            ),
            ("a long head", form(&[part(&long_head, b"x")])),
            (
                "many heads",
                form(&[part(&format!("{many_heads}X: y"), b"x")]),
            ),
            ("no disposition", form(&[part("X-A: b", b"x")])),
            (
                "an odd disposition",
                form(&[part("Content-Disposition: ;;;===", b"x")]),
            ),
            (
                "no name",
                form(&[part("Content-Disposition: form-data", b"x")]),
            ),
            ("a head that is none", form(&[part("\u{1}\u{2}", b"x")])),
            ("many parts", form(&vec![field("a", "b"); 10_000])),
            ("many files", form(&vec![file("a", b"b"); 10_000])),
            (
                "nested parts",
                form(&[part(
                    &format!("{disposition}\r\nContent-Type: multipart/mixed; boundary=inner"),
                    b"",
                )]),
            ),
        ];
        for (what, body) in bodies {
            let answer = place.send(api, &body);
            assert!(
                (400..500).contains(&answer.status),
                "{what}: {} {}",
                answer.status,
                answer.text
            );
            assert!(answer.text.len() < 2000, "{what}");
            nothing_is_left(api);
        }
    }

    fn a_nested_form_is_a_file_like_any_other(api) {
        let place = Place::of(api);
        let inner = b"--inner\r\nContent-Disposition: file; filename=\"b\"\r\n\r\nx\r\n--inner--\r\n";
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\
                    Content-Type: multipart/mixed; boundary=inner";
        let answer = place.send(api, &form(&[part(head, inner)]));
        assert!(
            answer.status == 201 || answer.status == 400,
            "{}",
            answer.text
        );
    }

    fn a_cut_connection_leaves_nothing(api = limited) {
        let place = Place::of(api);
        let whole = form(&[file("a.txt", &[b'x'; 900_000])]);
        for sent in [0, 50, 200, 100_000, 700_000, whole.len() - 1] {
            let stream = announce(api, &place, whole.len(), &whole[..sent]);
            drop(stream);
            nothing_is_left(api);
        }
        // The slots are free again.
        for _ in 0..TransferLimits::default().uploads.at_once {
            place.attach(api, "a.txt", b"x");
        }
        wait_for(api, 1);
    }

    fn one_caller_does_not_keep_out_the_others(api = unfair) {
        let place = Place::of(api);
        let key = api.key(&api.agent(&place.company, "Ada"));
        let whole = form(&[file("a.txt", b"first")]);
        let own = format!("Bearer {key}");
        let mut first = announce(api, &place, whole.len(), &whole[..whole.len() - 1]);
        let other = form(&[file("b.txt", b"second")]);
        let second = loop {
            let answer = place.send(api, &other);
            // The first may not have got its slot yet.
            if answer.status != 201 {
                break answer;
            }
        };
        second.problem(503, "busy");
        place.send_with(api, &[("Authorization", &own)], &other).ok(201);
        first.write_all(&whole[whole.len() - 1..]).unwrap();
        assert!(answer(&mut first).starts_with("HTTP/1.1 201"));
        place.send(api, &form(&[file("c.txt", b"third")])).ok(201);
    }

    fn an_upload_that_trickles_is_given_up(api = hasty) {
        let place = Place::of(api);
        let sent = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx"
        );
        let mut stream = announce(api, &place, 100_000, sent.as_bytes());
        let answer = answer(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("did not arrive in time"), "{answer}");
        nothing_is_left(api);
    }

    fn uploads_wait_for_their_turn_and_are_told_when_it_does_not_come(api = crowded) {
        let place = Place::of(api);
        let whole = form(&[file("a.txt", b"first")]);
        let mut first = announce(api, &place, whole.len(), &whole[..whole.len() - 1]);
        let second = loop {
            let answer = place.send(api, &form(&[file("b.txt", b"second")]));
            // The first may not have got its slot yet.
            if answer.status != 201 {
                break answer;
            }
        };
        second.problem(503, "busy");
        assert_eq!(second.header("retry-after"), Some("1"));
        first.write_all(&whole[whole.len() - 1..]).unwrap();
        assert!(answer(&mut first).starts_with("HTTP/1.1 201"));
        place.attach(api, "b.txt", b"third");
    }
}
