//! Forges that want a pause.

use std::time::Duration;

use workforce_forge_imitation::{Failure, ImitatedForge};
use workforce_forges::{ForgeError, Token};

use crate::site::{Site, on_every_forge};

/// When the forge's clock stands at this, its count begins anew two minutes later.
const DATE: &str = "Sat, 31 Jan 2026 12:00:00 GMT";
const RESET: &str = "1769860920";

impl Site {
    #[track_caller]
    fn check_pause(&self, failure: Failure, seconds: u64) {
        self.imitation.fail(failure);
        let error = self.find().unwrap_err();
        let retry_after = Duration::from_secs(seconds);
        assert_eq!(error, ForgeError::RateLimited { retry_after });
        assert_eq!(error.code(), "rate_limited");
        assert!(error.is_retriable());
    }
}

#[test]
fn the_pause_is_told_however_the_forge_tells_it() {
    let used_up = |status| {
        let failure = Failure::status(status).header("date", DATE);
        failure.header("x-ratelimit-remaining", "0")
    };
    let in_words = "{\"message\": \"You have exceeded a secondary rate limit. Please wait.\"}";
    for (failure, seconds) in [
        (Failure::status(429).header("retry-after", "90"), 90),
        (Failure::status(403).header("retry-after", "90"), 90),
        (used_up(403).header("x-ratelimit-reset", RESET), 121),
        (used_up(429).header("x-ratelimit-reset", RESET), 121),
        (used_up(403), 60),
        (Failure::answer(403, in_words), 60),
        (Failure::status(429), 60),
        (
            Failure::status(429).header("retry-after", "99999999999"),
            86_400,
        ),
        (
            Failure::status(429)
                .header("date", DATE)
                .header("retry-after", "Sat, 31 Jan 2026 12:03:00 GMT"),
            180,
        ),
        (
            Failure::status(429)
                .header("date", DATE)
                .header("ratelimit-remaining", "0")
                .header("ratelimit-reset", RESET),
            121,
        ),
    ] {
        Site::of(ImitatedForge::GitHub).check_pause(failure.clone(), seconds);
        Site::of(ImitatedForge::GitLab).check_pause(failure, seconds);
    }
}

#[test]
fn nothing_is_sent_during_a_pause() {
    on_every_forge(|site| {
        site.check_pause(Failure::status(429).header("retry-after", "90"), 90);
        let sent = site.imitation.requests().len();
        for _ in 0..3 {
            assert_eq!(site.find().unwrap_err().code(), "rate_limited");
            let made = site.forge().find_or_create(&site.new_pull_request());
            assert_eq!(made.unwrap_err().code(), "rate_limited");
        }
        assert_eq!(site.imitation.requests().len(), sent);
        // The pause is that of one token.
        site.imitation.accept_token("another");
        let forge = site.forge().with_token(Token::parse("another").unwrap());
        assert_eq!(
            forge.find_open(&site.repository, "agents/SHOP-12", "main"),
            Ok(None)
        );
    });
}

#[test]
fn the_last_request_for_now_begins_a_pause() {
    on_every_forge(|site| {
        let last = Failure::answer(200, "[]")
            .header("date", DATE)
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", RESET);
        site.imitation.fail(last);
        assert_eq!(site.find(), Ok(None));
        assert_eq!(site.find().unwrap_err().code(), "rate_limited");
        assert_eq!(site.imitation.requests().len(), 1);
    });
}

#[test]
fn a_refusal_for_other_reasons_is_no_pause() {
    on_every_forge(|site| {
        let refused = Failure::status(403).header("x-ratelimit-remaining", "4999");
        site.imitation.fail(refused);
        assert_eq!(site.find().unwrap_err().code(), "unauthorized");
        assert_eq!(site.find(), Ok(None));
    });
}

#[test]
fn a_pause_while_making_one_is_told() {
    on_every_forge(|site| {
        let pause = Failure::status(403).header("retry-after", "90");
        site.imitation.fail(pause.on("POST", ""));
        let made = site.forge().find_or_create(&site.new_pull_request());
        assert_eq!(made.unwrap_err().code(), "rate_limited");
        assert_eq!(site.kept().len(), 0);
    });
}
