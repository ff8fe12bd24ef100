//! The board token that a server is started with (docs/access.md#callers):
//! given by the operator, or kept in a file that the first start writes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use workforce_domain::port::{TokenKind, Tokens};
use zeroize::Zeroizing;

use crate::private_file::{self, ReadError};

/// The name of the file in the data folder.
pub const FILE_NAME: &str = "board-token";

/// A given token is at most so long.
const MAX: usize = 512;
/// A shorter token can be guessed by whoever may ask often enough.
const STRONG: usize = 20;

/// Why there is no token to start with.
#[derive(Debug, thiserror::Error)]
pub enum StartTokenError {
    /// It cannot stand in a header, or looks like an agent's.
    #[error(
        "a board token is 1 to 512 visible ASCII characters and does not begin with \
         `wfk_` or `wfr_`"
    )]
    Form,
    /// The file holds something else.
    #[error("{} does not hold a board token; delete it to have a new one made", .0.display())]
    Damaged(PathBuf),
    /// Others may read the file.
    #[error(
        "{} may be read by others: its permissions must be 0600. Delete it to have a new token \
         made, since the old one may be known",
        .0.display()
    )]
    Exposed(PathBuf),
    /// The file cannot be read or written.
    #[error("failed to read or write {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// The token that a server is started with.
pub struct StartToken(Zeroizing<String>);

impl StartToken {
    /// The token that the operator gave.
    ///
    /// # Errors
    /// [`StartTokenError::Form`]
    pub fn given(text: &str) -> Result<Self, StartTokenError> {
        let text = text.trim();
        let agents = [TokenKind::AgentKey, TokenKind::Run]
            .map(|kind| format!("{kind}_"))
            .iter()
            .any(|prefix| text.starts_with(prefix.as_str()));
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX || !visible || agents {
            return Err(StartTokenError::Form);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// The token in the file of the data folder `folder`, if there is one.
    ///
    /// # Errors
    /// When the file cannot be read, holds no token, or may be read by others.
    pub fn kept(folder: &Path) -> Result<Option<Self>, StartTokenError> {
        let path = folder.join(FILE_NAME);
        // One more than the longest token tells a longer file apart.
        match private_file::read(&path, MAX as u64 + 2) {
            Ok(text) => match Self::given(&text) {
                Ok(token) => Ok(Some(token)),
                Err(_) => Err(StartTokenError::Damaged(path)),
            },
            Err(ReadError::File(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(ReadError::File(source)) => Err(StartTokenError::File { path, source }),
            Err(ReadError::Exposed) => Err(StartTokenError::Exposed(path)),
        }
    }

    /// The token in the file of the data folder; without such a file a token
    /// is made and written there, readable by its owner alone.
    ///
    /// # Errors
    /// When the file cannot be read or written, holds no token, or may be read
    /// by others.
    pub fn kept_or_made(folder: &Path, tokens: &dyn Tokens) -> Result<Self, StartTokenError> {
        let path = folder.join(FILE_NAME);
        let make = || Zeroizing::new(tokens.mint(TokenKind::Board).token);
        match private_file::create(&path, make) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StartTokenError::File { path, source }),
        }
        Self::kept(folder)?.ok_or(StartTokenError::Damaged(path))
    }

    /// The token itself, to be sent or digested.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// True when the token is so short that it could be guessed.
    pub fn is_weak(&self) -> bool {
        self.0.len() < STRONG
    }
}

/// The token is left out.
impl fmt::Debug for StartToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartToken").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::tokens::RandomTokens;

    #[test]
    fn a_file_is_made_once_for_its_owner_alone_and_used_again() {
        let folder = tempfile::tempdir().unwrap();
        assert!(StartToken::kept(folder.path()).unwrap().is_none());
        let made = StartToken::kept_or_made(folder.path(), &RandomTokens).unwrap();
        assert!(made.reveal().starts_with("wfb_") && !made.is_weak());
        let path = folder.path().join(FILE_NAME);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = StartToken::kept_or_made(folder.path(), &RandomTokens).unwrap();
        assert_eq!(again.reveal(), made.reveal());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no draft stays"
        );
    }

    #[test]
    fn a_file_that_others_may_read_or_that_holds_no_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        fs::write(&path, "wfb_known_to_all\n").unwrap();
        for mode in [0o644, 0o640, 0o604] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = StartToken::kept_or_made(folder.path(), &RandomTokens).unwrap_err();
            assert!(matches!(refused, StartTokenError::Exposed(_)), "{refused}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for text in [
            "",
            "\n",
            "two words\n",
            "wfk_abcdefgh_x\n",
            &"x".repeat(600),
        ] {
            fs::write(&path, text).unwrap();
            let refused = StartToken::kept_or_made(folder.path(), &RandomTokens).unwrap_err();
            assert!(
                matches!(refused, StartTokenError::Damaged(_)),
                "{text:?}: {refused}"
            );
            assert!(!refused.to_string().contains("words"));
        }
    }

    #[test]
    fn a_given_token_can_stand_in_a_header() {
        assert_eq!(
            StartToken::given(" open-sesame\n").unwrap().reveal(),
            "open-sesame"
        );
        for text in ["", " ", "a b", "naïve", "wfr_x", "wfk_x", &"x".repeat(513)] {
            assert!(StartToken::given(text).is_err(), "{text:?}");
        }
        let token = StartToken::given("open-sesame").unwrap();
        assert!(token.is_weak() && !format!("{token:?}").contains("sesame"));
    }
}
