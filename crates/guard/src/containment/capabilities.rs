#![expect(unsafe_code, reason = "the bounding set has no safe wrapper")]

use nix::errno::Errno;
use nix::libc;

/// What lets root read other processes, files behind rules, and devices, whatever
/// Landlock says: CAP_DAC_READ_SEARCH, CAP_SYS_MODULE, CAP_SYS_RAWIO,
/// CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_MKNOD, CAP_PERFMON, CAP_BPF,
/// CAP_CHECKPOINT_RESTORE.
const WAYS_AROUND: [libc::c_ulong; 9] = [2, 16, 17, 19, 21, 27, 38, 39, 40];

/// Takes these rights of root from whatever this process executes.
///
/// # Errors
///
/// This process may not give rights away.
pub(super) fn give_up_ways_around() -> Result<(), Errno> {
    for capability in WAYS_AROUND {
        // SAFETY: takes plain numbers.
        let outcome = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        match Errno::result(outcome) {
            // The kernel does not know it.
            Ok(_) | Err(Errno::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
