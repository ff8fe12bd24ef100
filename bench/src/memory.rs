//! Where the memory of the bench comes from.
//!
//! Rust's comes from the same allocator as the server's, so that a baseline differs by what is
//! done alone. SQLite takes that of the C library, which gives what a statement freed back to the
//! system and gets it again for the next one. Here it keeps it: a baseline is as fast as it can be,
//! whatever was measured before.

#[global_allocator]
static RUST: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Has the allocator of the C library keep what is freed. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator is asked without a safe wrapper")]
pub(crate) fn keep() {
    use nix::libc::{M_TRIM_THRESHOLD, mallopt};

    // SAFETY: it sets a number of the allocator.
    unsafe {
        mallopt(M_TRIM_THRESHOLD, i32::MAX);
    }
}

/// Other allocators keep enough by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) const fn keep() {}
