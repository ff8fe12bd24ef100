//! Where a branch is pushed to, and with what.

use std::fmt;
use std::path::Path;

use data_encoding::BASE64;

/// The user that a token is presented as, if nothing else is said.
const TOKEN_USER: &str = "x-access-token";

/// A secret for a remote that is spoken to over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    user: String,
    secret: String,
}

impl Credential {
    /// A token, presented as the password of `x-access-token`.
    #[must_use]
    pub fn token(token: impl Into<String>) -> Self {
        Self::password(TOKEN_USER, token)
    }

    /// A password, or a token that wants a user of its own.
    #[must_use]
    pub fn password(user: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            secret: secret.into(),
        }
    }

    fn encoded(&self) -> String {
        BASE64.encode(format!("{}:{}", self.user, self.secret).as_bytes())
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}

/// A remote repository. Its address holds no credential. The hooks of one that is
/// a folder on this machine run only where [`Settings`](crate::Settings) say so: its
/// server is this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    address: String,
    credential: Option<Credential>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Http,
    Ssh,
    /// A folder on this machine.
    Local,
}

/// Why a text is no address of a remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Nothing at all, or longer than an address may be.
    #[error("must have 1 to 2048 characters")]
    Length,
    /// Begins with a hyphen, like an option, or its host does.
    #[error("must not begin with `-`")]
    Option,
    /// Blanks or control characters.
    #[error("must not hold blanks or control characters")]
    Malformed,
    /// Not `https`, `http`, `ssh` or `file`, nor `host:path`, nor an absolute path.
    #[error("must be an address with https, http, ssh or file, `host:path`, or an absolute path")]
    Scheme,
}

const MAX_ADDRESS: usize = 2048;

impl Remote {
    /// Takes the address of a remote. A password in the address of an HTTP
    /// remote becomes its credential.
    ///
    /// # Errors
    /// The address is none that git may be given.
    pub fn new(address: &str) -> Result<Self, AddressFault> {
        if address.is_empty() || address.len() > MAX_ADDRESS {
            return Err(AddressFault::Length);
        }
        if address.starts_with('-') {
            return Err(AddressFault::Option);
        }
        if address.contains(|c: char| c.is_control() || c == ' ' || c == '\\') {
            return Err(AddressFault::Malformed);
        }
        let (kind, address, credential) = parse(address)?;
        Ok(Self {
            address,
            credential,
            kind,
        })
    }

    /// Uses a credential, in the place of one that the address held. Only a
    /// remote that is spoken to over HTTP is sent one.
    #[must_use]
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credential = Some(credential);
        self
    }

    /// True for a remote that is sent a credential.
    #[must_use]
    pub fn takes_credential(&self) -> bool {
        self.kind == Kind::Http
    }

    /// The address, without a credential.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The folder of a remote on this machine.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let path = self.address.strip_prefix("file://");
        let path = path.unwrap_or(&self.address);
        (self.kind == Kind::Local).then(|| Path::new(path))
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// The setting that sends the credential to this host alone.
    pub(crate) fn header(&self) -> Option<(String, String)> {
        let credential = self.credential.as_ref()?;
        if !self.takes_credential() {
            return None;
        }
        let (scheme, rest) = self.address.split_once("://")?;
        let host = rest.split('/').next()?;
        let key = format!("http.{scheme}://{host}/.extraHeader");
        Some((
            key,
            format!("Authorization: Basic {}", credential.encoded()),
        ))
    }

    /// Takes the credential out of a text, and any password in an address.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some(credential) = &self.credential {
            let secret = match credential.secret.as_str() {
                "" => &credential.user,
                secret => secret,
            };
            for hidden in [&credential.encoded(), secret] {
                if !hidden.is_empty() {
                    text = text.replace(hidden, "[hidden]");
                }
            }
        }
        without_passwords(&text)
    }
}

fn parse(address: &str) -> Result<(Kind, String, Option<Credential>), AddressFault> {
    if address.starts_with('/') {
        return Ok((Kind::Local, address.to_owned(), None));
    }
    if let Some((scheme, rest)) = address.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        return match scheme.as_str() {
            "http" | "https" => http(&scheme, rest),
            "ssh" => {
                let authority = rest.split('/').next().unwrap_or_default();
                check_host(authority)?;
                Ok((Kind::Ssh, format!("ssh://{rest}"), None))
            }
            "file" if rest.starts_with('/') => Ok((Kind::Local, format!("file://{rest}"), None)),
            _ => Err(AddressFault::Scheme),
        };
    }
    // `host:path`; two colons would name a program that speaks for git.
    let (authority, path) = address.split_once(':').ok_or(AddressFault::Scheme)?;
    if path.is_empty() || path.starts_with(':') || authority.contains('/') {
        return Err(AddressFault::Scheme);
    }
    if path.starts_with('-') {
        return Err(AddressFault::Option);
    }
    check_host(authority)?;
    Ok((Kind::Ssh, address.to_owned(), None))
}

fn http(scheme: &str, rest: &str) -> Result<(Kind, String, Option<Credential>), AddressFault> {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(host)?;
    let credential = user.map(|user| match user.split_once(':') {
        Some((user, secret)) => Credential::password(decoded(user), decoded(secret)),
        // Alone it is the token.
        None => Credential::password(decoded(user), ""),
    });
    Ok((Kind::Http, format!("{scheme}://{host}{path}"), credential))
}

fn check_host(authority: &str) -> Result<(), AddressFault> {
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() {
        return Err(AddressFault::Scheme);
    }
    if authority.starts_with('-') || host.starts_with('-') {
        return Err(AddressFault::Option);
    }
    if host.contains(['?', '#', '%']) {
        return Err(AddressFault::Malformed);
    }
    Ok(())
}

/// Resolves `%41`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = (first == b'%').then(|| tail.get(..2)).flatten();
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Hides what stands between `://` and `@` in each address of a text.
pub(crate) fn without_passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || "'\"".contains(c))
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        clean.push_str(match authority.rsplit_once('@') {
            Some(("git", _)) => authority,
            Some((_, host)) => host,
            None => authority,
        });
        rest = tail;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests;
