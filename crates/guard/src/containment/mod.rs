//! What a run is kept from: the files of the server and of other agents, and the
//! processes outside of it (docs/operations.md#containment).

mod capabilities;
mod devices;
mod kernel_files;
mod keyring;
mod maps;
mod mounts;
mod namespaces;
mod probe;
mod rules;

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::run_as::RunAs;

pub(crate) use self::capabilities::{give_up_all, narrow_resources, narrow_to_nothing};
pub(crate) use self::keyring::leave_session_keyring;
pub(crate) use self::maps::{map_all, map_own, own_ids};
pub(crate) use self::mounts::prepare as prepare_mounts;
pub(crate) use self::namespaces::{Forked, fork as fork_in_namespaces, leave_mounts_locked};
pub(crate) use self::probe::probe;
pub(crate) use self::rules::Rules;

/// How a run is contained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Containment {
    /// By which means.
    pub means: Means,
    /// Files and folders that are not there for the run. Absolute, without links.
    pub hidden: Vec<PathBuf>,
    /// What is there all the same, beneath hidden folders.
    pub shown: Vec<Shown>,
    /// With `Some`, only these files and folders can be written.
    pub writable: Option<Vec<PathBuf>>,
    /// With `Some`, the program has this account and no rights of root; else that
    /// of its guard.
    pub run_as: Option<RunAs>,
}

impl Containment {
    /// The fences by name.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        names(self.means, self.run_as.as_ref())
    }

    /// Whether there is any fence between a run and the server.
    pub(crate) const fn is_any(&self) -> bool {
        self.means.hide_files() || self.run_as.is_some()
    }

    /// Whether the program is root. To be asked before the process becomes its user.
    pub(crate) fn leaves_root(&self) -> bool {
        self.run_as.is_none() && geteuid().is_root()
    }

    /// Whether a path is hidden, or beneath what is.
    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }
}

/// The fences around runs by name: the means, and `run_as` where they have an
/// account of their own.
#[must_use]
pub fn names(means: Means, run_as: Option<&RunAs>) -> Vec<&'static str> {
    let mut names = means.names();
    names.extend(run_as.map(|_| "run_as"));
    names
}

/// A file or folder beneath a hidden one that a run needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Where it is.
    pub path: PathBuf,
    /// Whether the run may change it.
    pub is_writable: bool,
}

/// What the kernel offers, or what of it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Means {
    /// Mount and PID namespaces, in a user namespace: hidden files are not there,
    /// processes outside have no number, and the end of the run's first process
    /// ends all others at once.
    pub namespaces: bool,
    /// Landlock rules for files: hidden files cannot be opened, and processes
    /// outside cannot be traced.
    pub files: bool,
    /// Landlock's scope for signals: processes outside cannot be signalled. Where the
    /// program is root, neither can it connect to their abstract sockets.
    pub signals: bool,
    /// A cgroup of the run's own: what it starts cannot leave it, and ends at once.
    pub cgroup: bool,
}

impl Means {
    /// No containment.
    pub const NONE: Self = Self {
        namespaces: false,
        files: false,
        signals: false,
        cgroup: false,
    };

    /// Whether the files of the server can be kept from runs.
    #[must_use]
    pub const fn hide_files(self) -> bool {
        self.namespaces || self.files
    }

    /// The means by name.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let named = [
            (self.namespaces, "namespaces"),
            (self.files, "landlock"),
            (self.signals, "landlock_signals"),
            (self.cgroup, "cgroup"),
        ];
        named
            .iter()
            .filter_map(|&(is_used, name)| is_used.then_some(name))
            .collect()
    }
}
