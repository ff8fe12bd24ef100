//! A disk that is full, does not answer or does not keep what it is given, when the test says so.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::harness::PATIENCE;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/binary/faulty_disk.c");

/// Lets the disk of a process seem full, nearly full, slow, deaf or dead, where a
/// part of the path says so. It needs neither rights nor a disk of its own: a library that
/// the process loads answers in place of the system.
pub(crate) struct FaultyDisk {
    folder: TempDir,
    library: PathBuf,
    full: PathBuf,
    low: PathBuf,
    small: PathBuf,
    frozen: PathBuf,
    slow: PathBuf,
    deaf: PathBuf,
    part: String,
}

impl FaultyDisk {
    /// Of files whose path contains `part`.
    pub(crate) fn of(part: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The database server is another user's.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let library = folder.path().join("faulty_disk.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(SOURCE)
            .arg("-ldl")
            .status();
        assert!(
            compiled.is_ok_and(|status| status.success()),
            "the C compiler that SQLite needs too, cc, fails"
        );
        Self {
            full: folder.path().join("full"),
            low: folder.path().join("low"),
            small: folder.path().join("small"),
            frozen: folder.path().join("frozen"),
            slow: folder.path().join("slow"),
            deaf: folder.path().join("deaf"),
            library,
            part: part.to_owned(),
            folder,
        }
    }

    /// What the process must be started with.
    pub(crate) fn variables(&self) -> [(&str, &OsStr); 8] {
        [
            ("LD_PRELOAD", self.library.as_os_str()),
            ("FAULTY_DISK_FULL", self.full.as_os_str()),
            ("FAULTY_DISK_LOW", self.low.as_os_str()),
            ("FAULTY_DISK_SMALL", self.small.as_os_str()),
            ("FAULTY_DISK_FROZEN", self.frozen.as_os_str()),
            ("FAULTY_DISK_SLOW", self.slow.as_os_str()),
            ("FAULTY_DISK_DEAF", self.deaf.as_os_str()),
            ("FAULTY_DISK_PART", OsStr::new(&self.part)),
        ]
    }

    /// Nothing can be written from now on.
    pub(crate) fn fill(&self) {
        std::fs::write(&self.full, "").unwrap();
    }

    /// Little is free from now on, but enough to write.
    pub(crate) fn nearly_fill(&self) {
        std::fs::write(&self.low, "").unwrap();
    }

    /// A folder has room for so many bytes in its files from now on.
    pub(crate) fn shrink(&self, bytes: u64) {
        std::fs::write(&self.small, bytes.to_string()).unwrap();
    }

    /// Nothing that is read answers from now on.
    pub(crate) fn freeze(&self) {
        std::fs::write(&self.frozen, "").unwrap();
    }

    /// Waits until so many reads wait for an answer.
    pub(crate) fn wait_for_reads(&self, count: u64) {
        wait_for(&self.frozen, count);
    }

    /// No flush ends from now on.
    pub(crate) fn slow_down(&self) {
        std::fs::write(&self.slow, "").unwrap();
    }

    /// Waits until a flush waits to end.
    pub(crate) fn wait_for_flush(&self) {
        wait_for(&self.slow, 1);
    }

    /// Nothing can be flushed from now on.
    pub(crate) fn deafen(&self) {
        std::fs::write(&self.deaf, "").unwrap();
    }

    /// All that a test said is over, but for what is frozen.
    pub(crate) fn free(&self) {
        for name in ["full", "low", "small", "slow", "deaf"] {
            let removed = std::fs::remove_file(self.folder.path().join(name));
            assert!(removed.is_ok() || !self.folder.path().join(name).exists());
        }
    }
}

/// Waits until so many calls wait, each of which has added a byte to the file that holds them up.
fn wait_for(file: &Path, count: u64) {
    let begun = Instant::now();
    while std::fs::metadata(file).unwrap().len() < count {
        assert!(begun.elapsed() < PATIENCE, "nothing is held up");
        std::thread::sleep(Duration::from_millis(10));
    }
}
