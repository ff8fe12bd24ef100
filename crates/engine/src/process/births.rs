use std::fs::File;
use std::os::unix::fs::FileExt;

/// Which process id the kernel gave out last, as `/proc/loadavg` tells it for
/// the server's own namespace. Threads are given ids of the same row.
#[derive(Debug)]
pub(super) struct Births {
    file: Option<File>,
}

impl Births {
    pub(super) fn open() -> Self {
        Self {
            file: File::open("/proc/loadavg").ok(),
        }
    }

    /// `None` where the kernel does not tell.
    pub(super) fn last(&self) -> Option<i32> {
        let mut line = [0; 128];
        let len = self.file.as_ref()?.read_at(&mut line, 0).ok()?;
        let line = std::str::from_utf8(line.get(..len)?).ok()?;
        line.split_ascii_whitespace().last()?.parse().ok()
    }
}
