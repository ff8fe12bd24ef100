//! Messages of GitHub: who signed them is all that matters.

use workforce_domain::port::StoreError;

use crate::raw::{answer, begin};
use crate::support::{Api, Webhooks, api_tests, hasty};

const PATH: &str = "/api/webhooks/github";

fn send(api: &Api, headers: &[(&str, &str)], body: &[u8]) -> crate::support::Answer {
    api.send("POST", PATH, headers, body)
}

api_tests! {
    fn a_signed_message_is_taken_as_it_came(api) {
        let headers = [
            ("X-GitHub-Event", "check_run"),
            ("X-Hub-Signature-256", Webhooks::SIGNATURE),
            // No credential is looked at.
            ("Authorization", "Bearer nobody"),
        ];
        // Whether it can be read is not the interface's to say.
        for body in [&b"{ \"spaces\":  1 }"[..], b"\xff{"] {
            send(api, &headers, body).ok(202);
        }
        let taken = api.webhooks.taken();
        assert_eq!(taken.len(), 2);
        assert_eq!(taken[0].body, b"{ \"spaces\":  1 }");
        assert_eq!(taken[0].event, "check_run");
        assert_eq!(taken[1].body, b"\xff{");
    }

    fn what_is_not_signed_is_refused(api) {
        let wrong = [("X-Hub-Signature-256", "sha256=4567")];
        for headers in [&wrong[..], &[]] {
            send(api, headers, b"{}").problem(401, "credential_invalid");
        }
        // The older header proves too little.
        let old = [("X-Hub-Signature", Webhooks::SIGNATURE)];
        send(api, &old, b"{}").problem(401, "credential_invalid");
        assert!(api.webhooks.taken().is_empty());
    }

    fn a_message_has_its_limit(api) {
        let signed = [("X-Hub-Signature-256", Webhooks::SIGNATURE)];
        let longest = vec![b' '; 1024 * 1024];
        send(api, &signed, &longest).ok(202);
        let longer = [longest, vec![b' ']].concat();
        send(api, &signed, &longer).problem(413, "body_too_large");
        assert_eq!(api.webhooks.taken().len(), 1);
    }

    fn nothing_is_there_without_a_secret(api) {
        api.webhooks.switch_off();
        let signed = [("X-Hub-Signature-256", Webhooks::SIGNATURE)];
        send(api, &signed, b"{}").problem(404, "not_found");
    }

    fn a_message_that_cannot_be_noted_is_sent_again(api) {
        let signed = [("X-Hub-Signature-256", Webhooks::SIGNATURE)];
        let fails = |fault: fn() -> StoreError, code: &str| {
            api.webhooks.break_store(fault);
            send(api, &signed, b"{}").problem(503, code);
        };
        fails(|| StoreError::Unavailable("it is away".into()), "store_unavailable");
        fails(|| StoreError::Full("it is full".into()), "storage_full");
        fails(|| StoreError::OutcomeUnknown("it went".into()), "outcome_unknown");
        fails(|| StoreError::Contended, "contended");
    }

    fn a_message_that_trickles_is_given_up(api = hasty) {
        let head = format!("POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{");
        let answer = answer(&mut begin(api, head.as_bytes()));
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("\"invalid_request\""), "{answer}");
        assert!(api.webhooks.taken().is_empty());
    }
}
