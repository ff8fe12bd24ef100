//! What the rules do not have: a clock, randomness, and credentials made of it.

use alloc::string::String;
use alloc::vec::Vec;

use uuid::Uuid;

use crate::time::Timestamp;
use crate::words;

/// Tells the time.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// Gives out ids.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Ids: Send + Sync {
    /// A new UUID v7. Convert it into the kind at hand.
    fn next(&self) -> Uuid;
}

words! {
    /// The kinds of bearer credential, by the word they start with.
    pub enum TokenKind {
        /// An agent's long-lived key.
        AgentKey = "wfk",
        /// The token of one run.
        Run = "wfr",
        /// A person of the board.
        Board = "wfb",
    }
}

/// A freshly made credential. Shown once; only the digest is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct MintedToken {
    /// The whole credential: `wfk_<8 characters>_<43 characters>`.
    pub token: String,
    /// The part that may be shown: `wfk_<8 characters>`.
    pub prefix: String,
    /// SHA-256 of the whole.
    pub digest: [u8; 32],
}

impl core::fmt::Debug for MintedToken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MintedToken")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// Makes credentials and their digests (contract section 5).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Tokens: Send + Sync {
    /// A new credential with 256 random bits.
    fn mint(&self, kind: TokenKind) -> MintedToken;

    /// The digest a credential is stored and found by. No salt or stretching:
    /// the credential is random enough.
    fn digest(&self, token: &str) -> [u8; 32];
}

/// What was sealed cannot be opened: wrong key, wrong context, or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sealed value cannot be opened")]
pub struct SealError;

/// Seals what may not lie in plain text at rest (amendment A4).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Vault: Send + Sync {
    /// Seals `plain`; it opens only with the same `context`.
    fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8>;

    /// Opens what was sealed with the same `context`.
    ///
    /// # Errors
    /// When it was sealed with another key or context, or changed since.
    fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// A piece of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSlice {
    /// The text; bytes that are not UTF-8 are replaced.
    pub content: String,
    /// Where the next piece begins, in bytes.
    pub next_offset: u64,
    /// How long the log is now, in bytes.
    pub total: u64,
}

/// Why a run's log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the log cannot be read")]
pub struct LogError(#[source] pub alloc::boxed::Box<dyn core::error::Error + Send + Sync>);

/// Where the output of runs is kept.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait RunLogs: Send + Sync {
    /// At most `limit` bytes of a run's log from `offset` on; empty for a run
    /// that wrote nothing.
    ///
    /// # Errors
    /// When the log exists and cannot be read.
    fn read(
        &self,
        company: crate::id::CompanyId,
        run: crate::id::RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError>;
}

/// Told when the engine has something to do at once.
pub trait EngineSignal: Send + Sync {
    /// A wake was queued or a run asked to stop; the change is committed.
    fn wake_up(&self);

    /// A call was made with this run's credential, which is a sign of life:
    /// the run's idle limit counts from here again (contract section 10.1).
    /// Without effect for a run that is not live on this server.
    fn run_is_active(&self, _run: crate::id::RunId) {}

    /// True while due wakes are looked for: `now` is not long after the last
    /// look that the store answered.
    fn is_dispatching(&self, _now: Timestamp) -> bool {
        true
    }

    /// When due wakes were last looked for and the store answered; `None`
    /// before the first time.
    fn last_tick(&self) -> Option<Timestamp> {
        None
    }
}
