#![expect(
    unsafe_code,
    reason = "what a signal does is set without a safe wrapper"
)]

use nix::errno::Errno;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};

/// Lets the signals pass that a terminal or an operator sends to a whole service.
pub(crate) fn ignore_signals() -> Result<(), Errno> {
    for number in [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGPIPE,
    ] {
        // SAFETY: ignoring runs no code of this process.
        unsafe { signal(number, SigHandler::SigIgn) }?;
    }
    Ok(())
}

/// Programs expect signals as they are by default, and none blocked.
pub(super) fn usual_signals() -> Result<(), Errno> {
    for number in Signal::iterator() {
        if !matches!(number, Signal::SIGKILL | Signal::SIGSTOP) {
            // SAFETY: the default action runs no code of this process.
            unsafe { signal(number, SigHandler::SigDfl) }?;
        }
    }
    SigSet::empty().thread_set_mask()
}
