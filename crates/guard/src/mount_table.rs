//! The table of mounts.

use std::fs;
use std::path::PathBuf;

/// Where file systems of the wanted kinds are mounted, and which folder of theirs each
/// mount shows.
pub(crate) fn mounts_of(is_wanted: impl Fn(&str) -> bool) -> Vec<(PathBuf, PathBuf)> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let mut fields = place.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // Blanks and their like are written in another way there.
        let is_plain = !point.contains('\\') && !root.contains('\\');
        let (kind, _) = kind.split_once(' ')?;
        (is_wanted(kind) && is_plain).then(|| (point.into(), root.into()))
    };
    table.lines().filter_map(mount).collect()
}
