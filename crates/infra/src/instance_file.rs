//! Which servers used a data folder: the one that uses it now holds a lock
//! beside the list, so that its successor knows that it is gone and which runs
//! were its own.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use workforce_domain::id::InstanceId;

use crate::private_file;

/// The list in the data folder.
pub(crate) const LIST_NAME: &str = "instances";
/// What the living server holds.
pub(crate) const LOCK_NAME: &str = "instances.lock";

/// For how long a predecessor may take to be gone after it was killed.
const LOCK_BOUND: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Why a server may not use a data folder.
#[derive(Debug, thiserror::Error)]
pub enum InstanceFileError {
    /// Another server uses it.
    #[error("another server uses the data folder {}; each needs its own", .0.display())]
    InUse(PathBuf),
    /// The list or its lock cannot be read or written.
    #[error("failed to read or write {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// The hold of a server on its data folder; it ends with the value, or with
/// the process however that ends.
#[derive(Debug)]
pub struct InstanceFile {
    list: PathBuf,
    own: Entry,
    predecessors: Vec<InstanceId>,
    _lock: File,
}

impl InstanceFile {
    /// Takes the data folder `folder` for the server `instance`, and writes it
    /// down before it can have a run. Blocks while a killed predecessor is
    /// not yet gone, for two seconds at most.
    ///
    /// # Errors
    /// [`InstanceFileError::InUse`] when another server lives on the folder.
    pub fn take(folder: &Path, instance: InstanceId) -> Result<Self, InstanceFileError> {
        let list = folder.join(LIST_NAME);
        let lock_path = folder.join(LOCK_NAME);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| InstanceFileError::File { path, source }
        };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(at(&lock_path))?;
        hold(&lock, folder, &lock_path)?;
        let location = ServerLocation::of(&lock).map_err(at(&lock_path))?;
        let before = match private_file::read_public(&list, u64::MAX).map(|it| it.to_string()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(at(&list)(source)),
        };
        let mut lines: Vec<Entry> = before
            .lines()
            .filter_map(Entry::parse)
            .filter(|entry| entry.location.is_gone_at(&location))
            .collect();
        let predecessors = lines.iter().map(|entry| entry.instance).collect();
        let own = Entry { instance, location };
        lines.push(own.clone());
        let text: Vec<String> = lines.iter().map(Entry::line).collect();
        private_file::replace(&list, &text.join("\n")).map_err(at(&list))?;
        Ok(Self {
            list,
            own,
            predecessors,
            _lock: lock,
        })
    }

    /// The servers that used the folder before, are gone for certain, and had
    /// their processes where this one's are.
    #[must_use]
    pub fn predecessors(&self) -> &[InstanceId] {
        &self.predecessors
    }

    /// Forgets the predecessors, of which nothing is left any more.
    ///
    /// # Errors
    /// When the list cannot be written; it is as before then.
    pub fn forget_predecessors(&self) -> Result<(), InstanceFileError> {
        private_file::replace(&self.list, &self.own.line()).map_err(|source| {
            InstanceFileError::File {
                path: self.list.clone(),
                source,
            }
        })
    }
}

fn hold(lock: &File, folder: &Path, path: &Path) -> Result<(), InstanceFileError> {
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_BOUND => {
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(InstanceFileError::InUse(folder.to_owned()));
            }
            Err(TryLockError::Error(source)) => {
                let path = path.to_owned();
                return Err(InstanceFileError::File { path, source });
            }
        }
    }
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    instance: InstanceId,
    location: ServerLocation,
}

impl Entry {
    fn line(&self) -> String {
        let ServerLocation {
            boot,
            lock,
            namespace,
            pid,
        } = &self.location;
        format!("{} {boot} {lock} {namespace} {pid}", self.instance)
    }

    /// `None` for what no server wrote.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let mut field = || fields.next().filter(|field| !field.is_empty());
        Some(Self {
            instance: field()?.parse().ok()?,
            location: ServerLocation {
                boot: field()?.to_owned(),
                lock: field()?.to_owned(),
                namespace: field()?.to_owned(),
                pid: field()?.parse().ok()?,
            },
        })
    }
}

/// Where a server runs, and which lock it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerLocation {
    /// Names a host from one start of its kernel to the next.
    boot: String,
    /// Device and number of the lock's file: a copy of the folder has others.
    lock: String,
    /// The namespace of its process ids.
    namespace: String,
    /// Its own process id there.
    pid: u32,
}

impl ServerLocation {
    fn of(lock: &File) -> io::Result<Self> {
        let metadata = lock.metadata()?;
        let namespace = fs::read_link("/proc/self/ns/pid")?;
        Ok(Self {
            boot: fs::read_to_string("/proc/sys/kernel/random/boot_id")?
                .trim()
                .to_owned(),
            lock: format!("{}:{}", metadata.dev(), metadata.ino()),
            namespace: namespace.to_string_lossy().into_owned(),
            pid: std::process::id(),
        })
    }

    /// Whether the server that was here is gone for certain, and the server at
    /// `now` sees its processes. The latter holds its own lock, so nobody else
    /// holds the same one. Only then may it take over the runs at once. A
    /// server on another host, or on the original of a copied folder, may
    /// still live: its runs wait for the end of their lease.
    fn is_gone_at(&self, now: &Self) -> bool {
        // The kernel ends a namespace together with its first process.
        let ended_with_it = self.pid == 1;
        self.boot == now.boot
            && self.lock == now.lock
            && (self.namespace == now.namespace || ended_with_it)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use workforce_domain::port::Ids;

    use super::*;
    use crate::clock::SystemClock;
    use crate::ids::UuidV7Ids;

    fn new_instance() -> InstanceId {
        UuidV7Ids::new(SystemClock).next().into()
    }

    fn take(folder: &Path) -> (InstanceId, InstanceFile) {
        let instance = new_instance();
        (instance, InstanceFile::take(folder, instance).unwrap())
    }

    #[test]
    fn a_successor_knows_everybody_who_left_something() {
        let folder = tempfile::tempdir().unwrap();
        let (first, hold) = take(folder.path());
        assert!(hold.predecessors().is_empty());
        drop(hold);
        let (second, hold) = take(folder.path());
        assert_eq!(hold.predecessors(), [first]);
        drop(hold);
        let (third, hold) = take(folder.path());
        assert_eq!(hold.predecessors(), [first, second]);
        hold.forget_predecessors().unwrap();
        drop(hold);
        let (_, hold) = take(folder.path());
        assert_eq!(hold.predecessors(), [third]);
        let mode = folder.path().join(LIST_NAME).metadata().unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn two_servers_never_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (_, _hold) = take(folder.path());
        let refused = InstanceFile::take(folder.path(), new_instance()).unwrap_err();
        assert!(matches!(refused, InstanceFileError::InUse(_)), "{refused}");
    }

    #[test]
    fn a_copy_of_a_folder_has_no_predecessors() {
        let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (_, _living) = take(folder.path());
        for name in [LIST_NAME, LOCK_NAME] {
            fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
        }
        let (own, hold) = take(copy.path());
        assert!(hold.predecessors().is_empty());
        drop(hold);
        let (_, hold) = take(copy.path());
        assert_eq!(hold.predecessors(), [own]);
    }

    #[test]
    fn only_who_was_here_since_the_kernel_started_is_a_predecessor() {
        let folder = tempfile::tempdir().unwrap();
        let (first, hold) = take(folder.path());
        let location = hold.own.location.clone();
        drop(hold);
        let elsewhere = [
            ServerLocation {
                boot: "another".into(),
                ..location.clone()
            },
            ServerLocation {
                lock: "1:1".into(),
                ..location.clone()
            },
            ServerLocation {
                namespace: "pid:[1]".into(),
                ..location.clone()
            },
        ];
        let first_of_all = ServerLocation {
            namespace: "pid:[1]".into(),
            pid: 1,
            ..location.clone()
        };
        assert!(elsewhere.iter().all(|other| !other.is_gone_at(&location)));
        assert!(first_of_all.is_gone_at(&location));
        let mut text = format!("not a line\n{first}\n\n");
        for location in elsewhere.into_iter().chain([location]) {
            let instance = first;
            text.push_str(&Entry { instance, location }.line());
            text.push('\n');
        }
        fs::write(folder.path().join(LIST_NAME), text).unwrap();
        let (_, hold) = take(folder.path());
        assert_eq!(hold.predecessors(), [first]);
    }
}
