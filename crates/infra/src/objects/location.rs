use core::fmt;
use core::str::FromStr;
use std::path::PathBuf;

/// Why a place for attachments cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Neither kind of place.
    #[error("must be file:///FOLDER or s3://BUCKET/PREFIX")]
    Scheme,
    /// A folder that is not named from the root.
    #[error("a folder must be named from the root: file:///srv/attachments")]
    Relative,
    /// A bucket without a name, or with a name or prefix that no bucket has.
    #[error("must name a bucket and nothing but plain words below it: s3://BUCKET/PREFIX")]
    Bucket,
}

/// Where bytes are kept: `file:///FOLDER`, written as it is, or `s3://BUCKET/PREFIX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder of the server.
    Folder(PathBuf),
    /// A bucket with the interface of Amazon S3.
    Bucket(Bucket),
}

/// A bucket and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// What the name of every object begins with; may be empty.
    pub prefix: String,
    /// The server, when it is not Amazon's or the environment does not name it.
    pub endpoint: Option<String>,
    /// The region, when the environment does not name it.
    pub region: Option<String>,
    /// Who asks, when that does not come from the environment.
    pub credentials: Option<Credentials>,
}

/// A key of a bucket's owner. Its secret is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub(super) access_key: String,
    pub(super) secret_key: String,
}

impl Credentials {
    /// The key with this id and secret.
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<String>) -> Self {
        Self {
            access_key: access_key.into(),
            secret_key: secret_key.into(),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key", &self.access_key)
            .finish_non_exhaustive()
    }
}

impl Location {
    /// The same place, reached at an endpoint and in a region, where they are given. A folder
    /// has neither.
    #[must_use]
    pub fn reached_at(self, endpoint: Option<String>, region: Option<String>) -> Self {
        match self {
            Self::Folder(folder) => Self::Folder(folder),
            Self::Bucket(bucket) => Self::Bucket(Bucket {
                endpoint,
                region,
                ..bucket
            }),
        }
    }
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(url: &str) -> Result<Self, LocationError> {
        if let Some(folder) = url.strip_prefix("file://") {
            let is_absolute = folder.starts_with('/');
            return is_absolute
                .then(|| Self::Folder(PathBuf::from(folder)))
                .ok_or(LocationError::Relative);
        }
        let place = url.strip_prefix("s3://").ok_or(LocationError::Scheme)?;
        let (name, prefix) = place.split_once('/').unwrap_or((place, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_plain = |word: &str| {
            !word.is_empty()
                && !word.starts_with('.')
                && word
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        if is_plain(name) && (prefix.is_empty() || prefix.split('/').all(is_plain)) {
            Ok(Self::Bucket(Bucket {
                name: name.to_owned(),
                prefix: prefix.to_owned(),
                ..Bucket::default()
            }))
        } else {
            Err(LocationError::Bucket)
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "file://{}", folder.display()),
            Self::Bucket(bucket) => write!(f, "s3://{}/{}", bucket.name, bucket.prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Location, LocationError> {
        url.parse()
    }

    #[test]
    fn both_kinds_are_understood() {
        assert_eq!(
            parse("file:///srv/a b"),
            Ok(Location::Folder(PathBuf::from("/srv/a b")))
        );
        for (url, name, prefix) in [
            ("s3://files", "files", ""),
            ("s3://files/", "files", ""),
            ("s3://my.files/work/force/", "my.files", "work/force"),
        ] {
            let bucket = Bucket {
                name: name.into(),
                prefix: prefix.into(),
                ..Bucket::default()
            };
            assert_eq!(parse(url), Ok(Location::Bucket(bucket)), "{url}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for (url, error) in [
            ("", LocationError::Scheme),
            ("/srv/files", LocationError::Scheme),
            ("https://example.com/", LocationError::Scheme),
            ("file://srv/files", LocationError::Relative),
            ("s3://", LocationError::Bucket),
            ("s3:///prefix", LocationError::Bucket),
            ("s3://files/../other", LocationError::Bucket),
            ("s3://user:word@files", LocationError::Bucket),
            ("s3://files//x", LocationError::Bucket),
        ] {
            assert_eq!(parse(url), Err(error), "{url}");
        }
    }
}
