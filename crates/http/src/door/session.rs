//! Sessions of the board, as a visit brings, begins and ends them.

use std::net::IpAddr;

use actix_web::http::{Method, header};
use workforce_app::authenticate::AuthMode;
use workforce_app::board_sessions;
use workforce_domain::board_session::{BoardSession, SESSION_LIFETIME};

use super::is_page;
use super::visit::{Visit, text};
use crate::allowed_hosts::without_port;
use crate::problem::Problem;
use crate::state::State;

/// The cookie that holds the session.
const COOKIE: &str = "workforce_session";
/// Its name where browsers take it over TLS alone, from this host alone.
const SECURE_COOKIE: &str = "__Host-workforce_session";

/// The host name under which this machine reaches the server alone. Cookies ignore ports: those of
/// `localhost` are sent to every program that serves something there.
const OWN_HOST: &str = "workforce.localhost";

impl Visit {
    /// Whether people sign in to see pages. Where everybody is the board, no session exists.
    pub fn takes_sessions(&self) -> bool {
        self.state().auth.mode == AuthMode::Token
    }

    /// Whether a browser asks for a page to show.
    pub fn wants_page(&self) -> bool {
        let head = self.head();
        matches!(*head.method(), Method::GET | Method::HEAD) && is_page(head)
    }

    /// The session that the visit brings; a credential in a header wins over it.
    pub(super) fn session(&self) -> Option<&str> {
        let has_credential = self.head().headers().contains_key(header::AUTHORIZATION);
        (self.takes_sessions() && !has_credential).then(|| self.session_cookie())?
    }

    fn session_cookie(&self) -> Option<&str> {
        self.cookie(cookie_of(self.state()))
    }

    /// Whether this is the session that the visit brings.
    pub fn is_own(&self, session: &BoardSession) -> bool {
        let (state, own) = (self.state(), self.session());
        own.is_some_and(|own| board_sessions::is_of(session, &*state.ports.tokens, state.auth, own))
    }

    /// Where a browser on this machine signs in, without a path: under a host name of the server's
    /// own. `None` where it asks under such a name already, or the operator named one.
    pub fn own_place(&self) -> Option<String> {
        let host = text(self.head(), header::HOST)?;
        let name = without_port(host);
        let is_shared = name.eq_ignore_ascii_case("localhost")
            || name
                .trim_matches(['[', ']'])
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        let port = host.strip_prefix(name)?;
        (is_shared && self.state().public_url.is_none()).then(|| format!("http://{OWN_HOST}{port}"))
    }

    /// Begins a session of a token of the board; the cookie that holds it.
    ///
    /// # Errors
    /// `rate_limited` after failures from the same address; it is no valid token of the board; or
    /// the store failed.
    pub async fn sign_in(&self, token: &str) -> Result<String, Problem> {
        let state = self.state();
        let address = self.head().peer_addr().map(|address| address.ip());
        let begun = state.sign_ins.begin(address, state.ports.clock.now());
        begun.map_err(Problem::rate_limited)?;
        let former = self.session_cookie().map(str::to_owned);
        let rqctx = self.request_context(None);
        let begun = rqctx.sign_in(token, former).await;
        let value = begun.inspect_err(|problem| self.note(problem))?;
        state.sign_ins.succeeded(address);
        Ok(self.with_session(&value))
    }

    /// The same with a link, which is used up.
    ///
    /// # Errors
    /// It is no link that may be used, or the store failed.
    pub async fn sign_in_by_link(&self, link: &str) -> Result<String, Problem> {
        let former = self.session_cookie().map(str::to_owned);
        let rqctx = self.request_context(None);
        let begun = rqctx.sign_in_by_link(link.to_owned(), former).await;
        let value = begun.inspect_err(|problem| self.note(problem))?;
        Ok(self.with_session(&value))
    }

    /// Ends the session that the visit brings; the cookie that takes it from the browser.
    ///
    /// # Errors
    /// The store failed.
    pub async fn sign_out(&self) -> Result<String, Problem> {
        if let Some(session) = self.session_cookie() {
            let ended = self.request_context(None).sign_out(session.to_owned());
            ended.await.inspect_err(|problem| self.note(problem))?;
        }
        Ok(self.cookie_with("", 0))
    }

    fn with_session(&self, value: &str) -> String {
        self.cookie_with(value, SESSION_LIFETIME.as_secs())
    }

    fn cookie_with(&self, value: &str, seconds: u64) -> String {
        let name = cookie_of(self.state());
        let secure = if is_secure(self.state()) {
            "; Secure"
        } else {
            ""
        };
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
    }
}

fn cookie_of(state: &State) -> &'static str {
    if is_secure(state) {
        SECURE_COOKIE
    } else {
        COOKIE
    }
}

fn is_secure(state: &State) -> bool {
    let url = state.public_url.as_deref();
    url.is_some_and(|url| url.starts_with("https://"))
}
