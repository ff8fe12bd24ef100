#![expect(unsafe_code, reason = "`getxattr` has no safe wrapper")]

use std::ffi::CStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::unistd::{AccessFlags, eaccess, geteuid};

use crate::mount_table::mounts_of;

/// How systemd marks a cgroup that it leaves to a service (`Delegate=yes`).
const DELEGATION_MARKS: [&CStr; 2] = [c"user.delegate", c"trusted.delegate"];

/// The cgroup in which this process may make others: its parent, where that is left
/// to the service and its processes are in leaves of it, else its own.
///
/// Processes are never moved for that: where controllers are on, systemd could not
/// start a service anew whose runs went on.
pub(super) fn place() -> Option<PathBuf> {
    let table = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = table.lines().find_map(|line| line.strip_prefix("0::"))?;
    let found = mounts_of(|kind| kind == "cgroup2")
        .into_iter()
        .find_map(|(point, root)| {
            let below = Path::new(own).strip_prefix(root).ok()?;
            Some((point.join(below), below.parent().is_none()))
        });
    let (own, is_topmost) = found?;
    if !is_topmost
        && let Some(parent) = own.parent()
        && is_left_to_us(parent)
        && fs::read_to_string(parent.join("cgroup.procs")).is_ok_and(|pids| pids.is_empty())
    {
        switch_controllers_on(parent);
        return Some(parent.to_owned());
    }
    let is_ours = match geteuid().is_root() {
        true => is_topmost || is_left_to_us(&own),
        false => is_writable(&own) && is_writable(&own.join("cgroup.procs")),
    };
    is_ours.then_some(own)
}

fn is_writable(path: &Path) -> bool {
    eaccess(path, AccessFlags::W_OK).is_ok()
}

fn is_left_to_us(folder: &Path) -> bool {
    is_writable(folder) && DELEGATION_MARKS.iter().any(|mark| has_mark(folder, mark))
}

fn has_mark(folder: &Path, mark: &CStr) -> bool {
    let Ok(folder) = std::ffi::CString::new(folder.as_os_str().as_bytes()) else {
        return false;
    };
    let mut value = [0_u8; 1];
    // SAFETY: both names end with NUL, and the buffer is as long as told.
    let len = unsafe {
        libc::getxattr(
            folder.as_ptr(),
            mark.as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    len == 1 && value == *b"1"
}

/// Each by itself: one that is not there must not keep the other from being used.
fn switch_controllers_on(folder: &Path) {
    for controller in ["+memory", "+pids"] {
        let _ = fs::write(folder.join("cgroup.subtree_control"), controller);
    }
}
