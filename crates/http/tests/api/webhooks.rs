//! Messages of forges: who sent them is all that matters.

use workforce_domain::forge::ForgeKind;
use workforce_domain::port::StoreError;

use crate::raw::{answer, begin};
use crate::support::{Answer, Api, Webhooks, api_tests, hasty};

/// Where a forge sends its messages, with its headers for what they are about and for what
/// proves whom they are from.
const ROUTES: [(ForgeKind, &str, &str, &str); 4] = [
    (
        ForgeKind::GitHub,
        "/api/webhooks/github",
        "X-GitHub-Event",
        "X-Hub-Signature-256",
    ),
    (
        ForgeKind::GitLab,
        "/api/webhooks/gitlab",
        "X-Gitlab-Event",
        "X-Gitlab-Token",
    ),
    (
        ForgeKind::Gitea,
        "/api/webhooks/gitea",
        "X-Gitea-Event",
        "X-Gitea-Signature",
    ),
    // Forgejo sends both pairs.
    (
        ForgeKind::Gitea,
        "/api/webhooks/gitea",
        "X-Forgejo-Event",
        "X-Forgejo-Signature",
    ),
];

fn send(api: &Api, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    api.send("POST", path, headers, body)
}

api_tests! {
    fn a_message_is_taken_as_it_came(api) {
        for (number, (forge, path, event, proof)) in ROUTES.into_iter().enumerate() {
            let headers = [
                (event, "news"),
                (proof, Webhooks::SIGNATURE),
                // No credential is looked at.
                ("Authorization", "Bearer nobody"),
            ];
            // Whether it can be read is not the interface's to say.
            let spaced = format!("{{ \"number\":  {number} }}").into_bytes();
            let broken = [b"\xff{", &*spaced].concat();
            for body in [&spaced, &broken] {
                send(api, path, &headers, body).ok(202);
            }
            let taken = api.webhooks.taken().split_off(2 * number);
            assert_eq!(taken.len(), 2);
            assert_eq!(taken[0].forge, forge);
            assert_eq!(taken[0].event, "news");
            assert_eq!([&taken[0].body, &taken[1].body], [&spaced, &broken]);
        }
    }

    fn what_proves_nothing_is_refused(api) {
        for (_, path, _, proof) in ROUTES {
            for headers in [&[(proof, "sha256=4567")][..], &[(proof, "")], &[]] {
                send(api, path, headers, b"{}").problem(401, "credential_invalid");
            }
            // The headers of others count nowhere else.
            for (_, other, _, proof) in ROUTES {
                if other != path {
                    let foreign = [(proof, Webhooks::SIGNATURE)];
                    send(api, path, &foreign, b"{}").problem(401, "credential_invalid");
                }
            }
        }
        // The older header of GitHub proves too little.
        let old = [("X-Hub-Signature", Webhooks::SIGNATURE)];
        send(api, "/api/webhooks/github", &old, b"{}").problem(401, "credential_invalid");
        // A wrong signature is not made good by another one.
        let both = [("X-Gitea-Signature", "4567"), ("X-Forgejo-Signature", Webhooks::SIGNATURE)];
        send(api, "/api/webhooks/gitea", &both, b"{}").problem(401, "credential_invalid");
        assert!(api.webhooks.taken().is_empty());
    }

    fn a_message_is_taken_once(api) {
        for (_, path, _, proof) in &ROUTES[..3] {
            let headers = [(*proof, Webhooks::SIGNATURE)];
            send(api, path, &headers, b"{}").ok(202);
            // GitLab sends a key, which stands for no answer here.
            let keyed = [headers[0], ("Idempotency-Key", "k")];
            for repeated in [&headers[..], &keyed] {
                let answer = send(api, path, repeated, b"{}");
                let problem = answer.problem(401, "credential_invalid");
                assert_eq!(problem["detail"], "the message was taken already");
            }
            send(api, path, &keyed, b"{ }").ok(202);
            send(api, path, &keyed, b"{ }").problem(401, "credential_invalid");
        }
        assert_eq!(api.webhooks.taken().len(), 6);
    }

    fn the_header_that_names_a_status_may_be_another_one(api) {
        let headers = [
            ("X-Gitea-Event", ""),
            ("X-Gitea-Event-Type", "status"),
            ("X-Gitea-Signature", Webhooks::SIGNATURE),
        ];
        send(api, "/api/webhooks/gitea", &headers, b"{}").ok(202);
        assert_eq!(api.webhooks.taken()[0].event, "status");
    }

    fn a_message_has_its_limit(api) {
        let longest = vec![b' '; 1024 * 1024];
        let longer = [&longest[..], b" "].concat();
        for (_, path, _, proof) in &ROUTES[..3] {
            let headers = [(*proof, Webhooks::SIGNATURE)];
            send(api, path, &headers, &longest).ok(202);
            send(api, path, &headers, &longer).problem(413, "body_too_large");
        }
        assert_eq!(api.webhooks.taken().len(), 3);
    }

    fn nothing_is_there_without_a_secret(api) {
        api.webhooks.switch_off();
        for (_, path, _, proof) in ROUTES {
            let headers = [(proof, Webhooks::SIGNATURE)];
            send(api, path, &headers, b"{}").problem(404, "not_found");
        }
    }

    fn a_message_that_cannot_be_noted_is_sent_again(api) {
        for (_, path, _, proof) in &ROUTES[..3] {
            let headers = [(*proof, Webhooks::SIGNATURE)];
            let fails = |fault: fn() -> StoreError, code: &str| {
                api.webhooks.break_store(fault);
                send(api, path, &headers, b"{}").problem(503, code);
            };
            fails(|| StoreError::Unavailable("it is away".into()), "store_unavailable");
            fails(|| StoreError::Full("it is full".into()), "storage_full");
            fails(|| StoreError::OutcomeUnknown("it went".into()), "outcome_unknown");
            fails(|| StoreError::Contended, "contended");
        }
    }

    fn a_message_that_trickles_is_given_up(api = hasty) {
        for (_, path, _, _) in &ROUTES[..3] {
            let head =
                format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{");
            let answer = answer(&mut begin(api, head.as_bytes()));
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
            assert!(answer.contains("\"invalid_request\""), "{answer}");
        }
        assert!(api.webhooks.taken().is_empty());
    }
}
