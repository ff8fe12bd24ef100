//! What the data of a cluster survives, and where it lies.

use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

/// Where Linux lets memory serve as a disk.
const IN_MEMORY: &str = "/dev/shm";

/// What has to be free there, in bytes: several times what the databases of a test run take.
const ROOM: u64 = 2 << 30;

/// What a commit survives.
#[derive(Clone, Copy)]
pub(crate) enum Durability {
    /// Nothing, for data that is thrown away: nothing waits for the disk.
    None,
    /// Loss of power.
    PowerLoss,
}

impl Durability {
    /// Settings of the server in the form `name=value`.
    pub(crate) const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::None => &[
                "fsync=off",
                "synchronous_commit=off",
                "full_page_writes=off",
                // Old journals take memory.
                "max_wal_size=256MB",
            ],
            // PostgreSQL's own defaults, spelled out.
            Self::PowerLoss => &["fsync=on", "synchronous_commit=on", "full_page_writes=on"],
        }
    }

    /// A directory for the cluster.
    pub(crate) fn home(self) -> io::Result<TempDir> {
        let mut directory = tempfile::Builder::new();
        directory.prefix("workforce-postgres-");
        if matches!(self, Self::None)
            && has_room(Path::new(IN_MEMORY))
            && let Ok(home) = directory.tempdir_in(IN_MEMORY)
        {
            return Ok(home);
        }
        directory.tempdir()
    }
}

fn has_room(directory: &Path) -> bool {
    statvfs(directory).is_ok_and(|it| it.blocks_available() * it.fragment_size() >= ROOM)
}
