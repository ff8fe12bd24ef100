//! Which database to open.

use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;
use std::path::{Path, PathBuf};

/// Names a database: `sqlite:PATH`, or a `postgres://` URL as libpq reads it.
///
/// Neither `Debug` nor `Display` shows what may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Target);

/// A database of either kind.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL URL that does not send data in clear text over a network.
    Postgres(String),
}

/// Why a text names no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseUrlError {
    /// Neither of the known schemes.
    #[error("a database is named by `sqlite:PATH` or `postgres://...`")]
    Scheme,
    /// `sqlite:` without a path, or with SQLite's own URI form.
    #[error("`sqlite:` is followed by the path of a file")]
    Path,
    /// Data would travel in clear text.
    #[error(
        "PostgreSQL on another machine needs `sslmode=require`, `verify-ca` or `verify-full` in \
         its URL"
    )]
    ClearText,
}

impl DatabaseUrl {
    /// The SQLite file at `path`.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(Target::Sqlite(path.into()))
    }

    /// The SQLite file, when it is one.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }

    pub(super) const fn target(&self) -> &Target {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            if path.is_empty() || path.starts_with("//") || path.starts_with(':') {
                return Err(DatabaseUrlError::Path);
            }
            return Ok(Self::sqlite(path));
        }
        let rest = text
            .strip_prefix("postgres://")
            .or_else(|| text.strip_prefix("postgresql://"))
            .ok_or(DatabaseUrlError::Scheme)?;
        if Address::parse(rest).is_safe(std::env::var("PGHOST").ok().as_deref()) {
            Ok(Self(Target::Postgres(text.to_owned())))
        } else {
            Err(DatabaseUrlError::ClearText)
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Target::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Target::Postgres(_) => f.write_str("postgres://..."),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The parts of a PostgreSQL URL that decide where data goes and how.
#[derive(Debug, Default)]
struct Address {
    hosts: Vec<String>,
    ssl_modes: Vec<String>,
    /// A named service may hold any host.
    has_service: bool,
}

impl Address {
    fn parse(rest: &str) -> Self {
        let (location, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = location.split('/').next().unwrap_or_default();
        let hosts = authority
            .rsplit_once('@')
            .map_or(authority, |(_, hosts)| hosts);
        let mut address = Self::default();
        address.add_hosts(hosts, without_port);
        for parameter in parameters.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match percent_decoded(name).as_str() {
                "host" | "hostaddr" => address.add_hosts(value, |host| host),
                "sslmode" => address.ssl_modes.push(percent_decoded(value)),
                // What libpq's predecessors called `sslmode=require`; refused with any value.
                "service" | "requiressl" => address.has_service = true,
                _ => {}
            }
        }
        address
    }

    fn add_hosts(&mut self, list: &str, host_of: fn(&str) -> &str) {
        let hosts = list.split(',').map(|host| percent_decoded(host_of(host)));
        self.hosts.extend(hosts.filter(|host| !host.is_empty()));
    }

    /// `default_host` is where libpq goes when the URL names no host.
    fn is_safe(&self, default_host: Option<&str>) -> bool {
        let is_encrypted = !self.ssl_modes.is_empty()
            && self
                .ssl_modes
                .iter()
                .all(|mode| ["require", "verify-ca", "verify-full"].contains(&mode.as_str()));
        let stays_here = if self.hosts.is_empty() {
            default_host.is_none_or(|list| list.split(',').all(is_this_machine))
        } else {
            self.hosts.iter().all(|host| is_this_machine(host))
        };
        is_encrypted || (stays_here && !self.has_service)
    }
}

fn without_port(host: &str) -> &str {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

/// A socket directory, or a loopback address.
fn is_this_machine(host: &str) -> bool {
    host.is_empty()
        || host.starts_with(['/', '@'])
        || host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high * 16 + low);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_safe(url: &str) -> bool {
        Address::parse(url.split_once("://").unwrap().1).is_safe(None)
    }

    #[test]
    fn sqlite_is_named_by_a_path() {
        let url: DatabaseUrl = "sqlite:data/workforce.db".parse().unwrap();
        assert_eq!(url.sqlite_path(), Some(Path::new("data/workforce.db")));
        for text in ["sqlite:", "sqlite:///a", "sqlite::memory:"] {
            assert_eq!(
                text.parse::<DatabaseUrl>(),
                Err(DatabaseUrlError::Path),
                "{text}"
            );
        }
    }

    #[test]
    fn other_schemes_are_refused() {
        for text in ["", "mysql://h/db", "data.db", "host=h dbname=d", "Postgres"] {
            assert_eq!(
                text.parse::<DatabaseUrl>(),
                Err(DatabaseUrlError::Scheme),
                "{text}"
            );
        }
    }

    #[test]
    fn clear_text_stays_on_this_machine() {
        for url in [
            "postgres://me@localhost/db",
            "postgres://me:pw@127.0.0.1:5432/db",
            "postgresql://[::1]:5432/db",
            "postgres:///db?host=/run/postgresql",
            "postgres://%2Frun%2Fpostgresql/db",
            "postgres:///db",
            "postgres://db.example.org/db?sslmode=require",
            "postgres://a,b/db?sslmode=verify-full",
        ] {
            assert!(is_safe(url), "{url}");
        }
        for url in [
            "postgres://db.example.org/db",
            "postgres://me:p@w@db.example.org/db",
            "postgres://localhost,db.example.org/db",
            "postgres://db.example.org/db?sslmode=prefer",
            "postgres://db.example.org/db?sslmode=require&sslmode=disable",
            "postgres://localhost/db?host=db.example.org",
            "postgres://localhost/db?h%6Fst=db.example.org",
            "postgres://localhost/db?hostaddr=10.0.0.1",
            "postgres://[fe80::1]/db",
            "postgres:///db?service=x",
        ] {
            assert!(!is_safe(url), "{url}");
        }
    }

    #[test]
    fn the_default_host_counts_when_the_url_names_none() {
        assert!(!Address::parse("/db").is_safe(Some("db.example.org")));
        assert!(Address::parse("/db").is_safe(Some("/run/postgresql")));
    }

    #[test]
    fn a_password_is_not_shown() {
        let url: DatabaseUrl = "postgres://me:secret@localhost/db".parse().unwrap();
        assert!(!format!("{url:?} {url}").contains("secret"));
    }
}
