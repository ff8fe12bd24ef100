//! Who is who in a user namespace: everybody stays who they are.

use std::fs;
use std::io;

use nix::unistd::{getegid, geteuid};

/// Maps the user and group of this process to themselves, in the namespace that it
/// has just made.
pub(crate) fn map_own(user: u32, group: u32) -> io::Result<()> {
    // Else groups could be dropped that are denied something.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The user and group of this process, to be asked for before it enters a
/// namespace, in which it is nobody at first.
pub(crate) fn own_ids() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

/// Maps every user and group that this process knows to itself, in the namespace
/// of a child. Only root may.
pub(crate) fn map_all(child: i32) -> io::Result<()> {
    for file in ["uid_map", "gid_map"] {
        let known = fs::read_to_string(format!("/proc/self/{file}"))?;
        let same: String = known
            .lines()
            .filter_map(|line| {
                let mut numbers = line.split_ascii_whitespace();
                let (first, count) = (numbers.next()?, numbers.nth(1)?);
                Some(format!("{first} {first} {count}\n"))
            })
            .collect();
        fs::write(format!("/proc/{child}/{file}"), same)?;
    }
    Ok(())
}
