#![expect(unsafe_code, reason = "capabilities have no safe wrapper")]

use nix::errno::Errno;
use nix::libc;

/// What lets root read other processes, files behind rules, and devices, whatever
/// Landlock says: CAP_DAC_READ_SEARCH, CAP_SYS_MODULE, CAP_SYS_RAWIO,
/// CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_MKNOD, CAP_PERFMON, CAP_BPF,
/// CAP_CHECKPOINT_RESTORE.
const WAYS_AROUND: [libc::c_ulong; 9] = [2, 16, 17, 19, 21, 27, 38, 39, 40];
/// The kernel keeps capabilities in 64 bits.
const NUMBERS: std::ops::Range<libc::c_ulong> = 0..64;
const CAPABILITY_VERSION: u32 = 0x2008_0522;

/// Takes these rights of root from whatever this process executes.
///
/// # Errors
///
/// This process may not give rights away.
pub(super) fn give_up_ways_around() -> Result<(), Errno> {
    WAYS_AROUND.into_iter().try_for_each(narrow)
}

/// Takes every right of root from whatever this process executes, while it keeps
/// its own.
///
/// # Errors
///
/// This process may not give rights away.
pub(crate) fn narrow_to_nothing() -> Result<(), Errno> {
    NUMBERS.into_iter().try_for_each(narrow)
}

/// Takes root's right to exceed limits of resources from whatever this process
/// executes: CAP_SYS_RESOURCE.
///
/// # Errors
///
/// This process may not give rights away.
pub(crate) fn narrow_resources() -> Result<(), Errno> {
    narrow(24)
}

fn narrow(capability: libc::c_ulong) -> Result<(), Errno> {
    // SAFETY: takes plain numbers.
    let outcome = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    match Errno::result(outcome) {
        // The kernel does not know it.
        Ok(_) | Err(Errno::EINVAL) => Ok(()),
        Err(error) => Err(error),
    }
}

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up every right of this process itself, those that it would hand on
/// included.
///
/// # Errors
///
/// The kernel refuses.
pub(crate) fn give_up_all() -> Result<(), Errno> {
    // Ambient ones go with those that can be inherited.
    let header = Header {
        version: CAPABILITY_VERSION,
        pid: 0,
    };
    let nothing = Sets {
        effective: 0,
        permitted: 0,
        inheritable: 0,
    };
    let sets = [nothing; 2];
    // SAFETY: both are laid out as version 3 has them, and the kernel only reads.
    let outcome = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(outcome).map(drop)
}
