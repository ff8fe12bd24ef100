//! What the rules do not have: a clock, randomness, and credentials made of it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use uuid::Uuid;

use crate::string_enum;
use crate::time::Timestamp;

/// Tells the time.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// Gives out ids.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Ids: Send + Sync {
    /// A new UUID v7. Convert it into the kind at hand.
    fn next(&self) -> Uuid;
}

string_enum! {
    /// The kinds of bearer credential, by the word they start with.
    pub enum TokenKind {
        /// An agent's long-lived key.
        AgentKey = "wfk",
        /// The token of one run.
        Run = "wfr",
        /// A person of the board.
        Board = "wfb",
        /// A session of the board, in a browser.
        BoardSession = "wfs",
        /// What makes such a session, once.
        LoginLink = "wfl",
        /// What opens one stream of events, once.
        StreamTicket = "wft",
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

/// Makes credentials, which are shown once, and the digests by which they are found.
#[cfg_attr(feature = "mocks", mockall::automock)]
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

/// Names a master key without telling anything of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

impl core::fmt::Display for KeyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where a vault has its master keys from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A file of its own, which a rotation rewrites.
    File,
    /// The operator gives them at the start.
    Given,
}

/// Why the master key was not changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyChangeError {
    /// The operator gives the keys.
    #[error("the master key is given from outside")]
    Given,
    /// An earlier rotation has not ended.
    #[error("a rotation of the master key is going on")]
    InProgress,
    /// The keys cannot be written down.
    #[error("the master key cannot be written down")]
    Failed(#[source] Box<dyn core::error::Error + Send + Sync>),
}

/// Seals what may not lie in plain text at rest. Each value has a key of its own, which is sealed
/// under a master key. Values sealed under former master keys open until those are forgotten.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Vault: Send + Sync {
    /// Seals `plain` under the current master key; it opens only with the same
    /// `context`.
    fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8>;

    /// Opens what was sealed with the same `context`.
    ///
    /// # Errors
    /// When it was sealed with another key or context, or changed since.
    fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError>;

    /// The same value under the current master key. Only its own key is
    /// sealed again, so the context does not matter, and the beginning of a
    /// sealed value will do.
    ///
    /// # Errors
    /// When it is sealed under a key that the vault does not have.
    fn rewrap(&self, sealed: &[u8]) -> Result<Vec<u8>, SealError>;

    /// The master key that seals.
    fn current_key(&self) -> KeyId;

    /// Master keys that only open.
    fn former_keys(&self) -> Vec<KeyId>;

    /// Where the master keys come from.
    fn key_source(&self) -> KeySource;

    /// Makes a new master key the current one and keeps the present one as a
    /// former. Returns when that outlives a loss of power.
    ///
    /// # Errors
    /// [`KeyChangeError`]; the keys are as before.
    fn change_key(&self) -> Result<KeyId, KeyChangeError>;

    /// Forgets the former master keys: nothing is sealed under them any more.
    ///
    /// # Errors
    /// [`KeyChangeError`]; the keys are as before.
    fn forget_former_keys(&self) -> Result<(), KeyChangeError>;
}

/// Takes the values of a run's secrets out of what the run writes.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait TextScrubber: Send + Sync {
    /// The same text without the values, or `None` when it has none of them.
    fn scrub(&self, text: &str) -> Option<String>;

    /// The same JSON without the values in its texts, or `None` when there are
    /// none of them.
    fn scrub_json(&self, text: &[u8]) -> Option<Vec<u8>>;
}

/// Told when the engine has something to do at once.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait EngineSignal: Send + Sync {
    /// By which means runs are contained; none when they are not.
    fn containment(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// A wake was queued or a run asked to stop; the change is committed.
    fn nudge(&self);

    /// A call was made with this run's credential, which is a sign of life: the
    /// run's idle limit counts from here again.
    /// Without effect for a run that is not live on this server.
    fn run_is_active(&self, _run: crate::id::RunId) {}

    /// What cleans the texts of a run that is live on this server; the caller
    /// has made sure that the run is its own.
    fn scrubber_of(&self, _run: crate::id::RunId) -> Option<Arc<dyn TextScrubber>> {
        None
    }

    /// The same for whoever presents the token with this digest.
    fn scrubber_of_token(&self, _digest: &[u8; 32]) -> Option<Arc<dyn TextScrubber>> {
        None
    }

    /// True while due wakes are looked for: `now` is not long after the last
    /// look that the store answered.
    fn is_dispatching(&self, _now: Timestamp) -> bool {
        true
    }

    /// At most so many runs are live at once on this server.
    fn instance_cap(&self) -> i64 {
        i64::MAX
    }

    /// When due wakes were last looked for and the store answered; `None`
    /// before the first time.
    fn last_tick(&self) -> Option<Timestamp> {
        None
    }
}
