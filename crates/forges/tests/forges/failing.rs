//! What goes wrong, and what a caller is told.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use workforce_forge_imitation::{Failure, ForgeImitation, ImitatedForge, TOKEN};
use workforce_forges::{
    ForgeConfig, ForgeError, ForgeKind, Forges, PullRequest, RepositoryAddress, Token,
};

use crate::site::{HEAD, Site, limits, on_every_forge};

impl Site {
    pub(crate) fn find(&self) -> Result<Option<PullRequest>, ForgeError> {
        self.forge().find_open(&self.repository, HEAD, "main")
    }

    #[track_caller]
    fn check_code(&self, failure: Failure, code: &str) -> ForgeError {
        self.imitation.fail(failure);
        let error = self.find().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        error
    }
}

#[test]
fn each_status_has_its_meaning() {
    on_every_forge(|site| {
        for (status, code) in [
            (400, "invalid"),
            (401, "unauthorized"),
            (403, "unauthorized"),
            (404, "not_found"),
            (409, "already_exists"),
            (410, "not_found"),
            (418, "invalid"),
            (422, "invalid"),
            (451, "invalid"),
            (500, "unavailable"),
            (204, "unexpected"),
            (304, "unexpected"),
        ] {
            let error = site.check_code(Failure::status(status), code);
            let is_retriable = code == "unavailable";
            assert_eq!(error.is_retriable(), is_retriable, "{error}");
            assert!(error.to_string().contains(&status.to_string()), "{error}");
        }
    });
}

#[test]
fn passing_failures_are_tried_again() {
    on_every_forge(|site| {
        for failure in [
            Failure::status(502),
            Failure::status(503),
            Failure::status(504),
            Failure::status(503).header("retry-after", "0"),
            Failure::status(429).header("retry-after", "0"),
            Failure::drop_connection(),
        ] {
            site.imitation.forget_requests();
            site.imitation.fail(failure.clone().times(2));
            assert_eq!(site.find(), Ok(None), "{failure:?}");
            assert_eq!(site.imitation.requests().len(), 3);
        }
    });
}

#[test]
fn nothing_is_tried_for_ever() {
    on_every_forge(|site| {
        for failure in [Failure::status(503), Failure::drop_connection()] {
            site.imitation.forget_requests();
            site.check_code(failure.times(3), "unavailable");
            assert_eq!(site.imitation.requests().len(), 3);
        }
        // Nor at all where it would not help.
        for failure in [
            Failure::status(500),
            Failure::status(503).header("retry-after", "3600"),
        ] {
            site.imitation.forget_requests();
            site.check_code(failure, "unavailable");
            assert_eq!(site.imitation.requests().len(), 1);
        }
    });
}

#[test]
fn an_answer_that_takes_too_long_is_not_waited_for() {
    let check = |kind| {
        let mut limits = limits();
        limits.request = Duration::from_secs(2);
        let site = Site::with(kind, limits);
        // Longer than any test: it ends with the imitation.
        let slow = Failure::wait(Duration::from_secs(3600));
        site.check_code(slow.clone(), "unavailable");
        assert_eq!(site.imitation.requests().len(), 1);
        // Made, but nobody hears of it: it is found.
        site.imitation.fail(slow.on("POST", ""));
        let made = site.forge().find_or_create(&site.new_pull_request());
        assert_eq!(made.unwrap().number, 1);
        assert_eq!(site.requests_of("POST").len(), 1);
    };
    thread::scope(|scope| {
        for kind in ImitatedForge::ALL {
            scope.spawn(move || check(kind));
        }
    });
}

#[test]
fn what_is_no_answer_is_not_understood() {
    on_every_forge(|site| {
        let page = site.check_code(Failure::page(), "unexpected");
        assert!(page.to_string().contains("API URL"), "{page}");
        for body in ["", "{", "{}", "null", "[1]", "[{}]", "[{\"number\": -1}]"] {
            site.check_code(Failure::answer(200, body), "unexpected");
        }
        let deep = "[".repeat(100_000);
        site.check_code(Failure::answer(200, &deep), "unexpected");
    });
}

#[test]
fn a_long_answer_is_refused() {
    for kind in ImitatedForge::ALL {
        let mut limits = limits();
        limits.answer_bytes = 10_000;
        let site = Site::with(kind, limits);
        let long = format!("[{}]", " ".repeat(9_998));
        site.imitation.fail(Failure::answer(200, &long));
        assert_eq!(site.find(), Ok(None));
        let longer = format!("[{}]", " ".repeat(9_999));
        let error = site.check_code(Failure::answer(200, &longer), "unexpected");
        assert!(error.to_string().contains("10000 bytes"), "{error}");
    }
}

#[test]
fn a_redirect_to_another_host_is_not_followed() {
    on_every_forge(|site| {
        let other = ForgeImitation::start(site.imitation.kind()).unwrap();
        let port = other.host().rsplit_once(':').unwrap().1;
        for place in [
            format!("{}/x", other.api_url()),
            format!("//{}/x", other.host()),
            format!("/\\{}/x", other.host()),
            format!("http://localhost:{port}/x"),
            format!("https://{}/x", site.imitation.host()),
            format!("http://{}@{}/x", site.imitation.host(), other.host()),
            "ftp://127.0.0.1/x".to_owned(),
            "x".to_owned(),
        ] {
            let error = site.check_code(Failure::redirect(&place), "unexpected");
            assert!(error.to_string().contains("another host"), "{error}");
        }
        assert!(other.requests().is_empty());
    });
}

#[test]
fn a_redirect_in_place_is_followed_a_few_times() {
    on_every_forge(|site| {
        site.imitation
            .fail(Failure::answer(200, "[]").on("GET", "/there"));
        let here = format!("{}/there", site.imitation.api_url());
        site.imitation.fail(Failure::redirect(&here));
        assert_eq!(site.find(), Ok(None));
        assert_eq!(site.imitation.requests().len(), 2);

        let root = site.imitation.api_url();
        let root = root.strip_prefix(&format!("http://{}", site.imitation.host()));
        let place = format!("{}/round", root.unwrap());
        site.imitation.fail(Failure::redirect(&place).times(4));
        let error = site.find().unwrap_err();
        assert_eq!(error.code(), "unexpected");
        assert!(error.to_string().contains("on and on"), "{error}");
    });
}

#[test]
fn what_changes_something_is_never_led_elsewhere() {
    on_every_forge(|site| {
        let here = format!("{}/there", site.imitation.api_url());
        for status in [301, 302, 307, 308] {
            let away = Failure::status(status).header("location", &here);
            site.imitation.fail(away.on("POST", ""));
            let error = site.forge().create(&site.new_pull_request()).unwrap_err();
            assert_eq!(error.code(), "moved", "{error}");
        }
        assert_eq!(site.requests_of("POST").len(), 4);
        assert_eq!(site.requests_of("GET").len(), 0);
    });
}

/// What becomes of a question to this place.
fn asked_at(host: &str, api_url: String) -> ForgeError {
    let config = ForgeConfig {
        kind: ForgeKind::Gitea,
        host: host.to_owned(),
        api_url: Some(api_url),
        token: Token::parse(TOKEN),
    };
    let forges = Forges::new(vec![config], limits()).unwrap();
    let repository = RepositoryAddress::parse(&format!("http://{host}/a/b")).unwrap();
    let forge = forges.of(&repository).unwrap();
    forge.find_open(&repository, HEAD, "main").unwrap_err()
}

#[test]
fn nobody_there_is_not_available() {
    // Nothing listens on a port that was just given back, at an address that no imitation has.
    let there = TcpListener::bind("127.0.0.2:0").unwrap().local_addr();
    let host = there.unwrap().to_string();
    let error = asked_at(&host, format!("http://{host}/api/v1"));
    assert_eq!(error.code(), "unavailable", "{error}");
    let error = asked_at(&host, "http://forge.invalid/api/v1".to_owned());
    assert_eq!(error.code(), "unavailable", "{error}");
}

#[test]
fn who_speaks_no_tls_is_told_nothing() {
    let imitation = ForgeImitation::start(ImitatedForge::Gitea).unwrap();
    let host = imitation.host();
    let error = asked_at(host, format!("https://{host}/api/v1"));
    assert_eq!(error.code(), "unavailable", "{error}");
    assert!(imitation.requests().is_empty());
}

#[test]
fn what_a_forge_says_is_told_in_one_short_line() {
    on_every_forge(|site| {
        let said = format!("{{\"message\": \"no\\n\\u001b[31m{}\"}}", "ü".repeat(9000));
        let error = site.check_code(Failure::answer(422, &said), "invalid");
        let text = error.to_string();
        assert!(text.chars().count() < 700, "{text}");
        assert!(!text.contains(char::is_control), "{text:?}");
        assert!(text.contains("no  [31mü"), "{text}");
    });
}
