//! The interface of one forge, with the credential of its requests.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LINK};
use ureq::http::request::Builder;
use ureq::http::{HeaderMap, Request, StatusCode, Uri};

use crate::config::{ApiUrl, Origin};
use crate::error::ForgeError;
use crate::exchange::{Answer, Exchange, Failure};
use crate::host::Host;
use crate::kind::ForgeKind;
use crate::pause::{self, Account};
use crate::refusal::{judge, shown};
use crate::token::Token;
use crate::validators::Validators;

/// A renamed repository answers from its new place, and so may that.
const MAX_REDIRECTS: usize = 3;

/// The interface of one forge.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) kind: ForgeKind,
    host: Host,
    url: ApiUrl,
    token: Option<Token>,
    exchange: Arc<Exchange>,
}

/// What was known before and what is known now.
pub(crate) struct Memory<'a> {
    pub(crate) before: &'a Validators,
    pub(crate) now: Validators,
}

impl Api {
    pub(crate) fn new(
        kind: ForgeKind,
        host: Host,
        url: ApiUrl,
        token: Option<Token>,
        exchange: Arc<Exchange>,
    ) -> Self {
        Self {
            kind,
            host,
            url,
            token,
            exchange,
        }
    }

    pub(crate) fn with_token(self, token: Token) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    pub(crate) const fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// The host of the forge's web pages.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Where the interface answers.
    pub(crate) fn origin(&self) -> &Origin {
        self.url.origin()
    }

    /// How many pages of a list are read.
    pub(crate) fn pages(&self) -> u32 {
        self.exchange.limits.pages
    }

    /// Reads what a path of the interface tells.
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<(T, HeaderMap), ForgeError> {
        let answer = self.ask(&self.address(path), None)?;
        self.expect(&answer, StatusCode::OK)?;
        Ok((self.read(&answer)?, answer.headers))
    }

    /// Reads what a path tells, or takes it from what is known if it is still the same.
    pub(crate) fn get_known<W: DeserializeOwned, T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        memory: &mut Memory<'_>,
        told: impl FnOnce(W, bool) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        let url = self.address(path);
        let known = memory.before.kept::<T>(&url);
        let answer = self.ask(&url, known.as_ref().map(|(etag, _)| *etag))?;
        let (etag, value) = match known {
            Some((etag, value)) if answer.status == StatusCode::NOT_MODIFIED => {
                (Some(etag.to_owned()), value)
            }
            _ => {
                self.expect(&answer, StatusCode::OK)?;
                let has_more = has_next_page(&answer.headers);
                let etag = answer.headers.get(ETAG);
                // The tag speaks of this page alone.
                let etag = etag.filter(|_| !has_more).and_then(|it| it.to_str().ok());
                let etag = etag.map(str::to_owned);
                (etag, told(self.read(&answer)?, has_more)?)
            }
        };
        memory.now.keep(url, etag, &value);
        Ok(value)
    }

    /// Sends a document to a path, once.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ForgeError> {
        let account = self.account();
        self.wait_for_pause(&account)?;
        let request = self.with_headers(Request::post(self.address(path)));
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string())
            .map_err(|error| self.unexpected(&error.to_string()))?;
        let answer = self.exchange.order(request);
        let answer = answer.map_err(|failure| self.failed(failure))?;
        self.note_pause(&account, &answer);
        self.expect(&answer, StatusCode::CREATED)?;
        self.read(&answer)
    }

    /// An answer that is not understood.
    pub(crate) fn unexpected(&self, text: &str) -> ForgeError {
        ForgeError::Unexpected(shown(&self.scrub(text)))
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url.as_str())
    }

    /// Asks until there is an answer that another try would not better.
    fn ask(&self, url: &str, etag: Option<&str>) -> Result<Answer, ForgeError> {
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

    fn with_headers(&self, request: Builder) -> Builder {
        let accepted = match self.kind {
            ForgeKind::GitHub => "application/vnd.github+json",
            ForgeKind::GitLab | ForgeKind::Gitea => "application/json",
        };
        let mut request = request.header(ACCEPT, accepted);
        if self.kind == ForgeKind::GitHub {
            request = request.header("x-github-api-version", "2022-11-28");
        }
        let Some(token) = &self.token else {
            return request;
        };
        let (name, before) = match self.kind {
            ForgeKind::GitHub => (AUTHORIZATION.as_str(), "Bearer "),
            ForgeKind::GitLab => ("private-token", ""),
            ForgeKind::Gitea => (AUTHORIZATION.as_str(), "token "),
        };
        match token.header(before) {
            Some(value) => request.header(name, value),
            None => request,
        }
    }

    fn account(&self) -> Account {
        let token = self.token.as_ref().map(Token::digest);
        (self.url.as_str().to_owned(), token)
    }

    fn wait_for_pause(&self, account: &Account) -> Result<(), ForgeError> {
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

    fn note_pause(&self, account: &Account, answer: &Answer) {
        if let Some(pause) = pause::wanted(answer).or_else(|| pause::after_last(answer)) {
            self.exchange.pauses.begin(account, pause);
        }
    }

    fn expect(&self, answer: &Answer, status: StatusCode) -> Result<(), ForgeError> {
        if answer.status == status {
            return Ok(());
        }
        Err(judge(answer, |text| self.scrub(text)))
    }

    fn read<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, ForgeError> {
        serde_json::from_slice(&answer.body).map_err(|error| {
            if answer.body.trim_ascii_start().starts_with(b"<") {
                return self.unexpected("it is a page and not JSON; is the API URL right?");
            }
            self.unexpected(&error.to_string())
        })
    }

    fn failed(&self, failure: Failure) -> ForgeError {
        match failure {
            Failure::Broken(text) | Failure::Unreachable(text) => {
                ForgeError::Unavailable(shown(&self.scrub(&text)))
            }
            Failure::Unreadable(text) => self.unexpected(&text),
        }
    }

    fn scrub(&self, text: &str) -> String {
        match &self.token {
            Some(token) => token.scrub(text),
            None => text.to_owned(),
        }
    }
}

/// Why a question has no answer.
enum Stop {
    Failed(Failure),
    Refused(ForgeError),
}

/// Whether a list goes on after this answer. The address of the next page is not used: a forge
/// behind a proxy may have a wrong idea of its own.
pub(crate) fn has_next_page(headers: &HeaderMap) -> bool {
    let links = headers.get_all(LINK).iter();
    let links = links.filter_map(|link| link.to_str().ok());
    links
        .flat_map(|link| link.split(','))
        .any(|link| link.contains("rel=\"next\"") || link.contains("rel=next"))
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
