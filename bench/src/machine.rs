//! Where it was measured.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Facts of the machine, as far as it tells them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) cpu: Option<String>,
    pub(crate) kernel: Option<String>,
    /// The kind of file system that both databases lie on.
    pub(crate) file_system: Option<String>,
}

impl Machine {
    pub(crate) fn of(data: &Path) -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: fs::read_to_string("/proc/cpuinfo")
                .ok()
                .and_then(|it| cpu(&it)),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                .ok()
                .map(|it| it.trim().to_owned()),
            file_system: fs::read_to_string("/proc/self/mounts")
                .ok()
                .and_then(|mounts| file_system(&mounts, data)),
        }
    }

    /// Whether what is written never reaches a disk, so that no commit costs anything.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.file_system.as_deref(), Some("tmpfs" | "ramfs"))
    }
}

/// How many processes wanted a core in the last minute.
pub(crate) fn load_average() -> Option<f64> {
    let line = fs::read_to_string("/proc/loadavg").ok()?;
    line.split(' ').next()?.parse().ok()
}

fn cpu(info: &str) -> Option<String> {
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The type of the deepest mount that `path` lies below.
fn file_system(mounts: &str, path: &Path) -> Option<String> {
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((Path::new(fields.next()?), fields.next()?))
        })
        .filter(|(mount, _)| path.starts_with(mount))
        .max_by_key(|(mount, _)| mount.components().count())
        .map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_counts() {
        let mounts =
            "/dev/sda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/sdb /tmp/a xfs rw 0 0\n";
        for (path, expected) in [("/home", "ext4"), ("/tmp/b", "tmpfs"), ("/tmp/a/b", "xfs")] {
            assert_eq!(
                file_system(mounts, Path::new(path)).unwrap(),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn the_processor_is_named() {
        let info = "processor\t: 0\nmodel name\t: A B\nprocessor\t: 1\nmodel name\t: A B\n";
        assert_eq!(cpu(info).unwrap(), "A B");
        assert_eq!(cpu("processor : 0\n"), None);
    }
}
