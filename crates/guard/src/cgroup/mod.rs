//! The cgroup of a run: whatever the run starts is in it and cannot leave it, and
//! ends at one word (docs/operations.md#containment).

mod place;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use workforce_domain::id::RunId;

/// The cgroup within that of a run that its program is in. One that is root in a
/// namespace of its own can mount what lies below its own cgroup, but not the
/// limits of the one above.
const INNER: &str = "program";
const POLL: Duration = Duration::from_millis(5);
/// Processes that are left after this time sleep in the kernel.
const END_BOUND: Duration = Duration::from_secs(10);

fn name_of(run: RunId) -> String {
    format!("workforce-{run}")
}

/// A cgroup that was made for a run.
#[derive(Clone, Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// The cgroup at this path, if that may be the one of this run.
    pub(crate) fn at(folder: PathBuf, run: RunId) -> Option<Self> {
        let is_named = folder.file_name() == Some(name_of(run).as_ref());
        (is_named && folder.is_absolute()).then_some(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Whether a process in it executes.
    pub(crate) fn is_populated(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }

    /// Ends every process in it at once, also those that are just born.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.write("cgroup.kill", "1")
    }

    /// Ends what is in it and removes it. Returns whether nothing is left.
    pub(crate) fn end(&self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < END_BOUND {
            if self.is_populated() {
                let _ = self.kill();
            } else if matches!(remove(&self.folder), Ok(())) || !self.folder.exists() {
                return true;
            }
            std::thread::sleep(POLL);
        }
        !self.is_populated()
    }

    /// Whether the kernel ended a process of it for want of memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events"));
        let count = events.ok().and_then(|events| {
            let count = events
                .lines()
                .find_map(|line| line.strip_prefix("oom_kill "))?;
            count.parse().ok()
        });
        count.is_some_and(|count: u64| count > 0)
    }

    /// Bounds the memory of all its processes together; false where the kernel does
    /// not let this be done here.
    pub(crate) fn limit_memory(&self, bytes: u64) -> bool {
        let limited = self.write("memory.max", &bytes.to_string()).is_ok();
        if limited {
            // Neither is there on every kernel.
            let _ = self.write("memory.swap.max", "0");
            let _ = self.write("memory.oom.group", "1");
        }
        limited
    }

    /// Bounds the number of its processes; false where the kernel does not let this
    /// be done here.
    pub(crate) fn limit_processes(&self, count: u64) -> bool {
        self.write("pids.max", &count.to_string()).is_ok()
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .open(self.folder.join(file))?;
        file.write_all(value.as_bytes())
    }
}

/// Removes a cgroup with those in it.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

/// The cgroup of a run, held by its guard. It ends with this value, and with it
/// whatever is in it.
#[derive(Debug)]
pub(crate) struct RunCgroup {
    cgroup: Cgroup,
    entry: File,
}

impl RunCgroup {
    /// Makes the cgroup of a run.
    ///
    /// # Errors
    ///
    /// This process may make none.
    pub(crate) fn make(run: RunId) -> io::Result<Self> {
        Self::make_named(&name_of(run))
    }

    fn make_named(name: &str) -> io::Result<Self> {
        let place = place::place().ok_or(io::ErrorKind::PermissionDenied)?;
        let cgroup = Cgroup {
            folder: place.join(name),
        };
        let inner = cgroup.folder.join(INNER);
        fs::create_dir(&cgroup.folder)?;
        let entry = fs::create_dir(&inner).and_then(|()| {
            OpenOptions::new()
                .write(true)
                .open(inner.join("cgroup.procs"))
        });
        match entry {
            Ok(entry) => Ok(Self { cgroup, entry }),
            Err(error) => {
                let _ = remove(&cgroup.folder);
                Err(error)
            }
        }
    }

    /// Moves this process in, and all that it will start.
    ///
    /// # Errors
    ///
    /// The kernel does not allow it.
    pub(crate) fn enter(&self) -> io::Result<()> {
        (&self.entry).write_all(b"0")
    }

    /// The cgroup itself.
    pub(crate) fn cgroup(&self) -> &Cgroup {
        &self.cgroup
    }
}

impl Drop for RunCgroup {
    fn drop(&mut self) {
        self.cgroup.end();
    }
}

/// Whether this process can keep others in a cgroup, and end them by it. Tries it
/// with a process that enters one and does nothing; `fork` makes that process and
/// waits for its end.
pub(crate) fn is_usable(fork: impl FnOnce(&RunCgroup) -> bool) -> bool {
    let tried = RunCgroup::make_named(&format!("workforce-probe-{}", std::process::id()));
    tried.is_ok_and(|tried| fork(&tried) && tried.cgroup.kill().is_ok())
}

#[cfg(test)]
mod tests;
