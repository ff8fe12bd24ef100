//! What forges tell by themselves.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;

use crate::forge::ForgeKind;
use crate::port::StoreError;

/// A message of a forge, as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct ForgeDelivery {
    /// Whose message it is to be: it came where such forges send theirs.
    pub forge: ForgeKind,
    /// What it is about, by the word of the forge.
    pub event: String,
    /// What proves whom it is from: a signature, or the secret itself.
    pub proof: String,
    /// What it says.
    pub body: Vec<u8>,
}

/// Shows neither the proof, which may be a secret, nor the body, which nobody checked.
impl fmt::Debug for ForgeDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForgeDelivery")
            .field("forge", &self.forge)
            .field("event", &self.event)
            .finish_non_exhaustive()
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// No such forge has a secret of this server: nothing was read.
    NotConfigured,
    /// It does not prove whom it is from: nothing was read.
    Forged,
    /// The same was taken before: nothing was read.
    Repeated,
    /// It was taken, also if it means nothing.
    Taken,
}

/// The future of a message.
pub type DeliveryFuture<'a> =
    Pin<Box<dyn Future<Output = Result<DeliveryOutcome, StoreError>> + Send + 'a>>;

/// Takes messages of forges. What they say is not believed:
/// pull requests that they are about are looked at soon.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ForgeWebhooks: Send + Sync {
    /// Whether messages of such forges are taken at all.
    fn is_configured(&self, forge: ForgeKind) -> bool;

    /// Takes one. Not to be called in a transaction.
    fn take(&self, delivery: ForgeDelivery) -> DeliveryFuture<'_>;
}
