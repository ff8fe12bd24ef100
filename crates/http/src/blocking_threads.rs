//! The threads on which work may block that must outlive the worker whose request began it.

use std::sync::OnceLock;

use tokio::runtime::Handle;

/// The runtime whose blocking threads are used.
#[derive(Default)]
pub(crate) struct BlockingThreads(OnceLock<Handle>);

impl BlockingThreads {
    /// Uses those of this runtime from now on. The first one told counts.
    pub(crate) fn run_on(&self, runtime: Handle) {
        self.0.get_or_init(|| runtime);
    }

    /// The runtime that was told, or else the caller's own.
    pub(crate) fn runtime(&self) -> Handle {
        self.0.get().cloned().unwrap_or_else(Handle::current)
    }
}
