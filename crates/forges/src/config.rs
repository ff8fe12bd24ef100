use std::fmt;

use ureq::http::Uri;
use workforce_domain::forge::ForgeKind;

use crate::host::Host;
use crate::token::Token;

/// A forge that an operator names.
#[derive(Clone, Debug)]
pub struct ForgeConfig {
    /// Which interface it speaks.
    pub kind: ForgeKind,
    /// The host of its web pages, with the port if that is not the usual one, as in
    /// `git.example.com:3000`.
    pub host: String,
    /// Where its interface answers, as in `https://git.example.com/api/v4`. `None` for the usual
    /// place on its host, with TLS.
    pub api_url: Option<String>,
    /// The credential of requests that bring none of their own.
    pub token: Option<Token>,
}

/// Why a forge cannot be used as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the forge `{host}` is not usable: {reason}")]
pub struct ConfigError {
    host: String,
    reason: &'static str,
}

impl ConfigError {
    pub(crate) fn new(host: &str, reason: &'static str) -> Self {
        Self {
            host: host.chars().take(200).collect(),
            reason,
        }
    }
}

/// The address under which an interface answers: scheme, host and a path, nothing else.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ApiUrl {
    /// Without a slash at its end.
    text: String,
    origin: Origin,
}

/// A scheme and a host. Nothing that is asked of one is sent to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    is_plain: bool,
    host: Host,
}

impl Origin {
    /// `None` for what is neither http nor https, or has a user.
    pub(crate) fn of(uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?.as_str();
        let host = Host::parse(authority)?;
        match uri.scheme_str()? {
            "https" => Some(Self {
                is_plain: false,
                host: host.without_port(443),
            }),
            "http" => Some(Self {
                is_plain: true,
                host: host.without_port(80),
            }),
            _ => None,
        }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_plain { "http" } else { "https" };
        write!(f, "{scheme}://{}", self.host)
    }
}

impl ApiUrl {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// What is wrong with it, without repeating it: it may hold a password.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "its API URL is not of the form https://host[:port][/path]";
        if text.contains(['?', '#', '\\']) {
            return Err("its API URL must have neither a query nor a fragment");
        }
        let uri: Uri = text.parse().map_err(|_unreadable| FORM)?;
        if uri.authority().is_some_and(|it| it.as_str().contains('@')) {
            return Err("its API URL must have no user and no password; the token is set apart");
        }
        let origin = Origin::of(&uri).ok_or(FORM)?;
        let path = uri.path().trim_end_matches('/');
        let is_plain_path = path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte));
        let has_dots = path.split('/').any(|part| part == "." || part == "..");
        if !is_plain_path || has_dots {
            return Err(FORM);
        }
        Ok(Self {
            text: format!("{origin}{path}"),
            origin,
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }
}
