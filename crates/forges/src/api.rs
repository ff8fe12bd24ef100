//! The interface of one forge, with the credential of its requests.

mod asking;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, LINK};
use ureq::http::request::Builder;
use ureq::http::{HeaderMap, Request, StatusCode};
use workforce_domain::forge::ForgeKind;

use crate::config::{ApiUrl, Origin};
use crate::error::ForgeError;
use crate::exchange::{Answer, Exchange, Failure};
use crate::host::Host;
use crate::refusal::{judge, shown};
use crate::token::Token;
use crate::validators::Validators;

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

    pub(super) fn with_headers(&self, request: Builder) -> Builder {
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

    pub(super) fn failed(&self, failure: Failure) -> ForgeError {
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

/// Whether a list goes on after this answer. The address of the next page is not used: a forge
/// behind a proxy may have a wrong idea of its own.
pub(crate) fn has_next_page(headers: &HeaderMap) -> bool {
    let links = headers.get_all(LINK).iter();
    let links = links.filter_map(|link| link.to_str().ok());
    links
        .flat_map(|link| link.split(','))
        .any(|link| link.contains("rel=\"next\"") || link.contains("rel=next"))
}
