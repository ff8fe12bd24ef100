//! Files of the kernel by which the whole computer is changed. Most of them ask only
//! whether it is root's user who writes, in whatever namespace.

use std::fs;
use std::path::PathBuf;

use super::Containment;
use crate::mount_table::mounts_of;

/// Who may write there leaves their cgroup, or freezes that of others.
const CGROUPS: [&str; 2] = ["cgroup", "cgroup2"];
/// What only root may write to.
const OF_ROOT: [&str; 15] = [
    "binfmt_misc",
    "bpf",
    "configfs",
    "debugfs",
    "efivarfs",
    "fusectl",
    "nfsd",
    "proc",
    "pstore",
    "resctrl",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "sysfs",
    "tracefs",
];

/// Where the file systems are mounted that a run only reads.
pub(super) fn mount_points(containment: &Containment) -> Vec<PathBuf> {
    let is_of_root = containment.leaves_root();
    let mounts = mounts_of(|kind| CGROUPS.contains(&kind) || is_of_root && OF_ROOT.contains(&kind));
    let points = mounts.into_iter().map(|(point, _)| point);
    points.filter(|point| !containment.hides(point)).collect()
}

/// What in `/proc` is not about processes. Not only what can be written: a change of
/// permissions counts for the whole computer, too.
pub(super) fn besides_processes() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_all = entries.filter(|entry| {
        let name = entry.file_name();
        let is_process = name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        // Links lead to processes.
        !is_process && entry.file_type().is_ok_and(|kind| !kind.is_symlink())
    });
    of_all.map(|entry| entry.path()).collect()
}
