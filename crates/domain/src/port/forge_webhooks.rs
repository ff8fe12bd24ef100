//! What forges tell by themselves.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::pin::Pin;

use crate::port::StoreError;

/// A message of a forge, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeDelivery {
    /// What it is about, by the word of the forge.
    pub event: String,
    /// What proves whom it is from.
    pub signature: String,
    /// What it says.
    pub body: Vec<u8>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// Nobody signs messages for this server: nothing was read.
    NotConfigured,
    /// It is signed by somebody else: nothing was read.
    Forged,
    /// It was taken, also if it means nothing.
    Taken,
}

/// The future of a message.
pub type DeliveryFuture<'a> =
    Pin<Box<dyn Future<Output = Result<DeliveryOutcome, StoreError>> + Send + 'a>>;

/// Takes messages of GitHub (docs/tickets.md#webhook). What they say is not believed:
/// pull requests that they are about are looked at soon.
pub trait ForgeWebhooks: Send + Sync {
    /// Whether messages are taken at all.
    fn is_configured(&self) -> bool;

    /// Takes one. Not to be called in a transaction.
    fn take(&self, delivery: ForgeDelivery) -> DeliveryFuture<'_>;
}
