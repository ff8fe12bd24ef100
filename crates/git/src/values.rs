//! Values that are checked once.

use std::fmt;

use workforce_domain::approval::{BranchFault, check_branch};

/// The id of a commit: 40 or 64 hexadecimal digits in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(String);

/// The text is no id of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 40 or 64 hexadecimal digits in lower case")]
pub struct NotACommitId;

impl CommitId {
    /// Takes the whole id.
    ///
    /// # Errors
    /// An abbreviated id, a name, or the id of nothing (all zeros).
    pub fn new(text: impl Into<String>) -> Result<Self, NotACommitId> {
        let text = text.into();
        let is_hex = text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let is_null = text.bytes().all(|b| b == b'0');
        if is_hex && !is_null && matches!(text.len(), 40 | 64) {
            Ok(Self(text))
        } else {
            Err(NotACommitId)
        }
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads what git printed.
    pub(crate) fn printed(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        Self::new(text.trim_end_matches('\n')).ok()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a branch, such as `feature/KEY-1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Branch(String);

impl Branch {
    /// Takes a name without `refs/heads/`.
    ///
    /// # Errors
    /// Says what is wrong with the name.
    pub fn new(name: impl Into<String>) -> Result<Self, BranchFault> {
        let name = name.into();
        check_branch(&name)?;
        Ok(Self(name))
    }

    /// The name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full name of its ref.
    pub(crate) fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who a commit is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    name: String,
    mail: String,
}

/// The name or the mail address cannot stand in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name and a mail address must not be empty, and hold no control characters, `<` or `>`")]
pub struct NotAnIdentity;

impl Identity {
    /// Takes a name and a mail address.
    ///
    /// # Errors
    /// One of them is empty, or holds what git would strip.
    pub fn new(name: impl Into<String>, mail: impl Into<String>) -> Result<Self, NotAnIdentity> {
        let (name, mail) = (name.into(), mail.into());
        // Git strips these from both ends, and refuses what is then empty.
        let stripped = |c: char| c.is_ascii_whitespace() || ".,:;<>\"\\'".contains(c);
        let fits = |text: &str| {
            !text.trim_matches(stripped).is_empty()
                && !text.contains(|c: char| c.is_control() || c == '<' || c == '>')
        };
        if fits(&name) && fits(&mail) {
            Ok(Self { name, mail })
        } else {
            Err(NotAnIdentity)
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mail address.
    #[must_use]
    pub fn mail(&self) -> &str {
        &self.mail
    }
}

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// The id of the tree without entries.
    pub(crate) const fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    pub(crate) const fn of(id: &CommitId) -> Self {
        if id.0.len() == 64 {
            Self::Sha256
        } else {
            Self::Sha1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_in_full() {
        for good in ["a".repeat(40), "0123456789abcdef".repeat(4)] {
            assert!(CommitId::new(good).is_ok());
        }
        for bad in ["", "HEAD", "--all", "abc"] {
            assert!(CommitId::new(bad).is_err(), "{bad}");
        }
        for bad in ["0".repeat(40), "A".repeat(40), "a".repeat(41)] {
            assert!(CommitId::new(bad).is_err());
        }
    }

    #[test]
    fn an_identity_survives_git() {
        assert!(Identity::new("Ada L.", "ada@example.com").is_ok());
        for (name, mail) in [
            ("", "a@b"),
            ("a", ""),
            ("..", "a@b"),
            ("a\nb", "c"),
            ("a", "<b>"),
        ] {
            assert!(Identity::new(name, mail).is_err(), "{name} {mail}");
        }
    }
}
