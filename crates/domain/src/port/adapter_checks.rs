//! Looks at whether agents could run.

use alloc::boxed::Box;
use core::pin::Pin;

use crate::Document;
use crate::actor::CompanyScope;
use crate::adapter_check::AdapterCheck;
use crate::agent::AdapterType;
use crate::id::AgentId;
use crate::port::StoreError;

/// What an agent is run with.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterToCheck {
    /// The company, whose secrets the configuration may name.
    pub company: CompanyScope,
    /// The agent; `None` for one that is not hired yet.
    pub agent: Option<AgentId>,
    /// How it is run.
    pub adapter_type: AdapterType,
    /// The configuration of the adapter.
    pub adapter_config: Document,
}

/// Why nothing was looked at.
#[derive(Debug, thiserror::Error)]
pub enum AdapterCheckError {
    /// Other checks take all of the places that there are for them.
    #[error("too many checks at once")]
    Busy,
    /// The store or the server failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The future of a check.
pub type AdapterCheckFuture<'a> =
    Pin<Box<dyn Future<Output = Result<AdapterCheck, AdapterCheckError>> + Send + 'a>>;

/// Looks at whether agents could run on this server.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait AdapterChecks: Send + Sync {
    /// Checks one. It may start the program of the agent, and takes up to a minute: not
    /// to be called in a transaction. It goes to its end when the future is dropped.
    fn check(&self, adapter: AdapterToCheck) -> AdapterCheckFuture<'_>;
}
