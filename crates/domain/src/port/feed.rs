//! Being told of new events.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::id::CompanyId;

/// Told that a company may have new events. It is called on any thread, often,
/// and sometimes for nothing, so it must be cheap, must not block and must not
/// call the feed.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait EventListener: Send + Sync {
    /// Look again.
    fn notify(&self);
}

/// A place among the listeners of a company; given up when dropped.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait EventSubscription: Send + Sync {}

/// Tells when a company has new events, whichever server caused them. What is told is never the
/// events themselves: those are read from the store, from the number on that the reader has seen.
///
/// A listener is notified after the commit of what it is told about. It may be
/// notified late, or not at all when another server ends in that instant, so
/// whoever listens looks by itself every few seconds as well.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait EventFeed: Send + Sync {
    /// Notifies `listener` whenever events of the company were committed.
    fn subscribe(
        &self,
        company: CompanyId,
        listener: Arc<dyn EventListener>,
    ) -> Box<dyn EventSubscription>;

    /// Notifies `listener` whenever events of any company were committed. Of those of other
    /// servers it may hear a moment later than who listens to one company.
    fn subscribe_to_all(&self, listener: Arc<dyn EventListener>) -> Box<dyn EventSubscription>;
}
