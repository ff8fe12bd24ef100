use std::fmt;

use crate::host::Host;

/// Longer addresses are not read.
const MAX_LEN: usize = 2048;
/// Groups of GitLab nest up to twenty deep.
const MAX_SEGMENTS: usize = 24;

/// Where a repository is: a host, the path of its owner, and its name.
///
/// Two addresses are equal when their parts are. Forges take no notice of case:
/// [`is_same`](Self::is_same) does not either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepositoryAddress {
    host: Host,
    owner: String,
    name: String,
    scheme: Scheme,
}

/// How the repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scheme {
    Https,
    Http,
    /// By SSH, whose port says nothing of the forge's web pages.
    Ssh,
}

impl RepositoryAddress {
    /// Reads `https://host[:port]/owner/name[.git]`, `http://...`, `ssh://[user@]host[:port]/...`
    /// or `user@host:owner/name[.git]`. A user and a password are dropped. `None` for anything
    /// else: local paths, `file://`, percent codes, queries, and names that no forge has.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LEN {
            return None;
        }
        let (scheme, authority, path) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let scheme = match scheme.to_ascii_lowercase().as_str() {
                    "https" => Scheme::Https,
                    "http" => Scheme::Http,
                    "ssh" | "git+ssh" | "ssh+git" => Scheme::Ssh,
                    _ => return None,
                };
                let (authority, path) = rest.split_once('/')?;
                (scheme, authority, path)
            }
            None => {
                // Git reads this as a host only if no slash stands before the colon.
                let (authority, path) = text.split_once(':')?;
                let has_user = authority.contains('@') && !authority.contains('/');
                if !has_user {
                    return None;
                }
                (
                    Scheme::Ssh,
                    authority,
                    path.strip_prefix('/').unwrap_or(path),
                )
            }
        };
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let host = Host::parse(host)?;
        let host = match scheme {
            Scheme::Https => host.without_port(443),
            Scheme::Http => host.without_port(80),
            Scheme::Ssh => host.bare(),
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = path.strip_suffix(".git").unwrap_or(path);
        let (owner, name) = path.rsplit_once('/')?;
        let fits = path.split('/').count() <= MAX_SEGMENTS && path.split('/').all(is_name);
        fits.then(|| Self {
            host,
            owner: owner.to_owned(),
            name: name.to_owned(),
            scheme,
        })
    }

    /// The host in lower case, with its port where that is not the usual one.
    #[must_use]
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    /// The path of the owner: one name, or groups joined by `/`.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The name, without `.git`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Owner and name, as in `owner/name`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// The repository of another name at the same host; `None` for what is no name.
    pub(crate) fn renamed(&self, full_name: &str) -> Option<Self> {
        let (owner, name) = full_name.rsplit_once('/')?;
        let fits =
            full_name.split('/').count() <= MAX_SEGMENTS && full_name.split('/').all(is_name);
        fits.then(|| Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            ..self.clone()
        })
    }

    /// Whether both lead to one repository. A port counts only if both tell one of web pages.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_at(&other.host, other.scheme == Scheme::Ssh)
            && self.owner.eq_ignore_ascii_case(&other.owner)
            && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// Whether it is at this host of web pages.
    pub(crate) fn is_on(&self, host: &Host) -> bool {
        self.is_at(host, false)
    }

    fn is_at(&self, host: &Host, any_port: bool) -> bool {
        let any_port = any_port || self.scheme == Scheme::Ssh;
        self.host.name() == host.name() && (any_port || self.host == *host)
    }

    /// Whether its web pages are asked for without TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.scheme == Scheme::Http
    }
}

/// Shows `host/owner/name`.
impl fmt::Display for RepositoryAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}

/// What the three kinds of forges let an owner, a group or a repository be named.
fn is_name(segment: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !segment.is_empty() && segment != "." && segment != ".." && segment.bytes().all(fits)
}
