#![expect(unsafe_code, reason = "capabilities have no safe wrapper")]

use nix::errno::Errno;
use nix::libc;

/// What root needs to install programs, to give files away and to become somebody else:
/// CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID, CAP_SETUID,
/// CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SYS_CHROOT, CAP_AUDIT_WRITE,
/// CAP_SETFCAP. Containers usually have these. The others lead around Landlock's rules,
/// or change the computer.
const USUAL: [libc::c_ulong; 13] = [0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 29, 31];
/// The kernel keeps capabilities in 64 bits.
const NUMBERS: std::ops::Range<libc::c_ulong> = 0..64;
const CAPABILITY_VERSION: u32 = 0x2008_0522;

/// Leaves this process, and whatever it executes, only the usual ones of root's rights.
///
/// # Errors
///
/// This process may not give rights away.
pub(super) fn keep_usual() -> Result<(), Errno> {
    let mut others = NUMBERS.filter(|number| !USUAL.contains(number));
    others.try_for_each(narrow)?;
    let usual = USUAL.iter().fold(0, |all, number| all | 1 << number);
    let [low, _] = present()?;
    let kept = Sets {
        effective: low.effective & usual,
        permitted: low.permitted & usual,
        // Root would get these whatever else it is denied.
        inheritable: 0,
    };
    set([kept, NOTHING])
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

const NOTHING: Sets = Sets {
    effective: 0,
    permitted: 0,
    inheritable: 0,
};
const OWN: Header = Header {
    version: CAPABILITY_VERSION,
    pid: 0,
};

/// Gives up every right of this process itself, those that it would hand on
/// included.
///
/// # Errors
///
/// The kernel refuses.
pub(crate) fn give_up_all() -> Result<(), Errno> {
    set([NOTHING; 2])
}

/// What this process has: the lower 32, and the others.
fn present() -> Result<[Sets; 2], Errno> {
    let (mut header, mut sets) = (OWN, [NOTHING; 2]);
    // SAFETY: both are laid out as version 3 has them.
    let outcome = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    Errno::result(outcome).map(|_| sets)
}

/// Ambient ones go with those that can be inherited.
fn set(sets: [Sets; 2]) -> Result<(), Errno> {
    let mut header = OWN;
    // SAFETY: both are laid out as version 3 has them, and the kernel only reads the sets.
    let outcome = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) };
    Errno::result(outcome).map(drop)
}
