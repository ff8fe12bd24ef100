use std::num::NonZeroU32;

use workforce_http::RateLimit;
use workforce_testkit::store::TestStore;

use crate::support::{Answer, Api, api_tests};

/// So slow that no bucket gains more than a request or two while a test lasts.
const LIMIT: RateLimit = RateLimit {
    per_second: NonZeroU32::MIN,
    burst: NonZeroU32::new(5).unwrap(),
};

/// More than any bucket holds, however slowly the test runs.
const MANY: usize = 500;

/// A server on which a caller may ask only so often.
fn limited(store: TestStore) -> Api {
    Api::adjusted(store, |state| state.with_rate_limit(LIMIT))
}

/// Asks until there is an answer with this status.
fn until(status: u16, ask: impl Fn() -> Answer) -> Answer {
    (0..MANY)
        .map(|_| ask())
        .find(|answer| answer.status == status)
        .unwrap_or_else(|| panic!("no {status} among {MANY} answers"))
}

api_tests! {
    fn whoever_asks_too_often_is_told_when_to_come_back(api = limited) {
        let refused = until(429, || api.get("/api/companies"));
        let problem = refused.problem(429, "rate_limited");
        assert_eq!(problem["retryable"], true);
        let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=6).contains(&seconds), "{seconds}");
        assert_eq!(api.get("/api/health").status, 200, "a probe gets through");
    }

    fn a_credential_pays_from_one_bucket_however_its_scheme_is_spelt(api = limited) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let spelt = |n: usize| {
            let scheme: String = "bearer"
                .chars()
                .enumerate()
                .map(|(at, c)| if n >> at & 1 == 1 { c.to_ascii_uppercase() } else { c })
                .collect();
            let authorization = format!("{scheme}{}{key}", " ".repeat(1 + n / 64));
            let headers = [("Authorization", authorization.as_str())];
            api.send("GET", "/api/agents/me", &headers, b"")
        };
        let answers: Vec<Answer> = (0..40).map(spelt).collect();
        let served = answers.iter().filter(|answer| answer.status == 200).count();
        let refused = answers.iter().find(|answer| answer.status == 429);
        refused.unwrap_or_else(|| panic!("{served} were served")).problem(429, "rate_limited");
    }

    fn a_valid_credential_does_not_pay_for_those_who_try_some_out(api = limited) {
        let company = api.company("Acme");
        let key = api.key(&api.agent(&company, "Ada"));
        let agent = api.bearing(&key);
        agent.get("/api/agents/me").ok(200);
        let mut n = 0;
        let mut guess = || {
            n += 1;
            api.bearing(&format!("wfk_abcdefgh_{n}"))
                .get("/api/agents/me")
        };
        let refused = (0..MANY)
            .map(|_| guess())
            .find(|answer| answer.status != 401);
        refused.unwrap().problem(429, "rate_limited");
        agent.get("/api/agents/me").ok(200);
        // A ticket beside it that is not valid says nothing of it.
        agent.get("/api/agents/me?ticket=x").problem(401, "credential_invalid");
        for _again in 0..2 {
            agent.get("/api/agents/me").ok(200);
        }
    }
}
