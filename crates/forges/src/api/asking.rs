//! Questions, which may be asked more than once.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::thread;
use std::time::Duration;

use ureq::http::header::IF_NONE_MATCH;
use ureq::http::{HeaderMap, Request, StatusCode, Uri};

use super::Api;
use crate::config::Origin;
use crate::error::ForgeError;
use crate::exchange::{Answer, Failure};
use crate::pause::{self, Account};
use crate::token::Token;

/// A renamed repository answers from its new place, and so may that.
const MAX_REDIRECTS: usize = 3;

/// Why a question has no answer.
enum Stop {
    Failed(Failure),
    Refused(ForgeError),
}

impl Api {
    /// Asks until there is an answer that another try would not better.
    pub(super) fn ask(&self, url: &str, etag: Option<&str>) -> Result<Answer, ForgeError> {
        let limits = &self.exchange.limits;
        let account = self.account();
        let mut tries = 1;
        loop {
            self.wait_for_pause(&account)?;
            let answer = self.follow(url, etag, &account);
            let wait = match &answer {
                Ok(answer) => match pause::wanted(answer) {
                    Some(wait) => (wait <= limits.longest_wait).then_some(wait),
                    None if is_passing(answer.status) => {
                        let wait = pause::retry_after(&answer.headers);
                        let wait = wait.unwrap_or_else(|| jittered(limits.backoff, tries));
                        (wait <= limits.longest_wait).then_some(wait)
                    }
                    None => None,
                },
                Err(Stop::Failed(Failure::Broken(_))) => Some(jittered(limits.backoff, tries)),
                Err(_) => None,
            };
            match wait {
                Some(wait) if tries < limits.tries => thread::sleep(wait),
                _ => {
                    return answer.map_err(|stop| match stop {
                        Stop::Failed(failure) => self.failed(failure),
                        Stop::Refused(error) => error,
                    });
                }
            }
            tries += 1;
        }
    }

    /// Asks once, and goes where the answer leads if that is the same host. The token must not
    /// reach another one.
    fn follow(&self, url: &str, etag: Option<&str>, account: &Account) -> Result<Answer, Stop> {
        let mut url = url.to_owned();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.with_headers(Request::get(&url));
            if let Some(etag) = etag {
                request = request.header(IF_NONE_MATCH, etag);
            }
            let request = request.body(());
            let request =
                request.map_err(|error| Stop::Refused(self.unexpected(&error.to_string())))?;
            let answer = self.exchange.ask(request).map_err(Stop::Failed)?;
            self.note_pause(account, &answer);
            if !matches!(answer.status.as_u16(), 301 | 302 | 307 | 308) {
                return Ok(answer);
            }
            url = self.target(&answer.headers).ok_or_else(|| {
                Stop::Refused(self.unexpected("it leads to another host, which is not asked"))
            })?;
        }
        Err(Stop::Refused(self.unexpected("it leads on and on")))
    }

    /// Where an answer leads, if that is where the interface is.
    fn target(&self, headers: &HeaderMap) -> Option<String> {
        let location = headers.get("location")?.to_str().ok()?;
        let url = match location.strip_prefix('/') {
            Some(rest) if !rest.starts_with(['/', '\\']) => format!("{}{location}", self.origin()),
            Some(_) => return None,
            None => location.to_owned(),
        };
        let uri: Uri = url.parse().ok()?;
        (Origin::of(&uri)? == *self.origin()).then_some(url)
    }

    pub(super) fn account(&self) -> Account {
        let token = self.token.as_ref().map(Token::digest);
        (self.url.as_str().to_owned(), token)
    }

    pub(super) fn wait_for_pause(&self, account: &Account) -> Result<(), ForgeError> {
        match self.exchange.pauses.left(account) {
            Some(left) if left > self.exchange.limits.longest_wait => {
                Err(ForgeError::RateLimited { retry_after: left })
            }
            Some(left) => {
                thread::sleep(left);
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn note_pause(&self, account: &Account, answer: &Answer) {
        if let Some(pause) = pause::wanted(answer).or_else(|| pause::after_last(answer)) {
            self.exchange.pauses.begin(account, pause);
        }
    }
}

/// What a gateway says while the forge behind it starts or is busy.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 502..=504)
}

/// Doubles with each try, and differs by half, so that not all come back at once.
fn jittered(backoff: Duration, tries: u32) -> Duration {
    let whole = backoff.saturating_mul(1 << tries.saturating_sub(1).min(16));
    let chance = RandomState::new().build_hasher().finish() % 1000;
    let part = u32::try_from(chance).unwrap_or_default();
    whole / 2 + whole * part / 1000 / 2
}
