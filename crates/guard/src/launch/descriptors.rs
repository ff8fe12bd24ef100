#![expect(unsafe_code, reason = "`close_range` has no safe wrapper")]

use nix::libc;

/// Up to where descriptors are closed one by one on kernels before 5.9.
const HIGHEST_DESCRIPTOR: i32 = 65_535;

/// Closes every descriptor above the three streams except these.
pub(crate) fn close_all_but(kept: &[i32]) {
    let mut kept = kept.to_vec();
    kept.sort_unstable();
    let mut first = 3;
    for kept in kept {
        close_between(first, kept - 1);
        first = kept + 1;
    }
    close_between(first, i32::MAX);
}

/// Closes every descriptor above the three streams.
pub(crate) fn close_inherited() {
    close_between(3, i32::MAX);
}

fn close_between(first: i32, last: i32) {
    if first > last {
        return;
    }
    // SAFETY: takes plain numbers and touches no memory. Nothing uses what it
    // closes: the process has just begun, or is about to become another program.
    let outcome = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if outcome == 0 {
        return;
    }
    for descriptor in first..=last.min(HIGHEST_DESCRIPTOR) {
        // SAFETY: as above.
        unsafe {
            libc::close(descriptor);
        }
    }
}
