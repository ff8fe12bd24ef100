//! Where memory comes from, and how what a load took from the system goes back to it.
//!
//! Rust's memory comes from mimalloc: a request is read on one thread, served on another and
//! freed on either, and with the allocator of the C library they wait for each other. It gives
//! free pages back by itself, a second later, while threads go on to use it.
//!
//! SQLite and other C code use the allocator of the C library. That of GNU keeps what was freed, in
//! up to eight heaps for each core, so its heaps are bounded and trimmed here.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use mimalloc::MiMalloc;
use workforce_domain::port::Store;
use workforce_http::State;

/// How long freed memory stays at hand for what comes next.
const PAUSE: Duration = Duration::from_secs(5);

/// Gives free memory back after requests were answered, with what `store` holds for more of them,
/// until it is dropped.
pub(crate) async fn give_back(state: Data<State>, store: Arc<dyn Store>) {
    let mut answered = state.answered();
    loop {
        tokio::time::sleep(PAUSE).await;
        let now = state.answered();
        if now == answered {
            continue;
        }
        answered = now;
        let store = Arc::clone(&store);
        // It walks the heaps; nothing else may wait for that.
        let given = tokio::task::spawn_blocking(move || {
            store.give_memory_back();
            allocator::trim();
        });
        if let Err(error) = given.await {
            tracing::warn!(%error, "free memory was not given back");
        }
    }
}

pub(crate) use allocator::bound;

#[global_allocator]
static RUST: MiMalloc = MiMalloc;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator is asked without a safe wrapper")]
mod allocator {
    use nix::libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, malloc_trim, mallopt};

    /// More heaps hold more that is free in each; with fewer, threads wait for each other.
    const HEAPS: i32 = 4;

    /// What is longer has pages of its own, which go back when it is freed.
    const OWN_PAGES: i32 = 256 * 1024;

    /// So much stays free at the end of each heap while requests come. With less, every statement
    /// that needs pages of its own for a moment would get them from the system and give them back.
    const AT_HAND: i32 = 1024 * 1024;

    /// Bounds what the allocator keeps. To be called before there are threads.
    pub(crate) fn bound() {
        // SAFETY: each sets a number of the allocator.
        unsafe {
            mallopt(M_ARENA_MAX, HEAPS);
            mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
            mallopt(M_TRIM_THRESHOLD, AT_HAND);
        }
    }

    /// Gives the pages back in which nothing lies.
    pub(super) fn trim() {
        // SAFETY: it touches free memory alone, under the allocator's own locks.
        unsafe {
            malloc_trim(0);
        }
    }
}

/// Other allocators give back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod allocator {
    pub(crate) const fn bound() {}

    pub(super) const fn trim() {}
}
