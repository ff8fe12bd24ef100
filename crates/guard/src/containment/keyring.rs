#![expect(unsafe_code, reason = "`keyctl` has no safe wrapper")]

use nix::errno::Errno;
use nix::libc;

/// Gives this process, and what it executes, a session keyring of its own. Else it
/// would have that of the server.
///
/// # Errors
///
/// The kernel makes none.
pub(crate) fn leave_session_keyring() -> Result<(), Errno> {
    let no_name = std::ptr::null::<libc::c_char>();
    // SAFETY: takes a number, and no name.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            libc::c_long::from(libc::KEYCTL_JOIN_SESSION_KEYRING),
            no_name,
        )
    };
    match Errno::result(outcome) {
        // There are no keyrings here, for the program neither.
        Ok(_) | Err(Errno::ENOSYS | Errno::EPERM | Errno::EACCES) => Ok(()),
        Err(error) => Err(error),
    }
}
