//! What each run is kept from (docs/operations.md#containment).

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::config::is_way;
use crate::run_owner::RunOwner;
use workforce_guard::client::{self, GuardProgram};
use workforce_guard::{Containment, Means, RunAs, Shown, containment_names};

/// How strictly the runs of a server are contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContainmentMode {
    /// By the best means that there are.
    #[default]
    BestEffort,
    /// As [`Required`](Self::Required), and a run writes only to its own places.
    Strict,
    /// The server's files are kept from runs, or no server starts.
    Required,
    /// Not at all.
    Off,
}

/// How the runs of this server are contained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainmentPlan {
    /// By which means.
    pub means: Means,
    /// Files and folders of the server. Each run is shown only what is its own.
    pub hidden: Vec<PathBuf>,
    /// With `Some`, runs write only here, and to their own places.
    pub writable: Option<Vec<PathBuf>>,
    /// The account that their programs have; the server's own when `None`.
    pub run_as: Option<RunAs>,
}

/// The mode cannot be had on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this kernel gives this user neither namespaces nor Landlock rules, as --containment {0} \
     needs; see docs/operations.md#containment"
)]
pub struct NotContained(&'static str);

impl ContainmentMode {
    /// The means to use of those that there are. Landlock's rules for files keep a
    /// run from making mounts, and from making files in the parents of hidden
    /// folders, so that they are used only where namespaces do not hide, or where
    /// only listed places may be written.
    ///
    /// # Errors
    ///
    /// The mode asks for more than there is.
    pub fn choose(self, available: Means) -> Result<Means, NotContained> {
        let default = Means {
            files: available.files && !available.namespaces,
            ..available
        };
        match self {
            Self::Off => Ok(Means::NONE),
            Self::BestEffort => Ok(default),
            Self::Required if default.hide_files() => Ok(default),
            Self::Required => Err(NotContained("required")),
            Self::Strict if available.files => Ok(available),
            Self::Strict => Err(NotContained("strict")),
        }
    }
}

impl ContainmentPlan {
    /// Finds out what this computer gives, and plans with it.
    ///
    /// # Errors
    ///
    /// See [`ContainmentMode::choose`].
    pub async fn make(
        mode: ContainmentMode,
        guard: &GuardProgram,
        hidden: Vec<PathBuf>,
        writable: Vec<PathBuf>,
        run_as: Option<RunAs>,
    ) -> Result<Self, NotContained> {
        let available = client::probe(guard, run_as.as_ref())
            .await
            .unwrap_or_else(|error| {
                tracing::error!(%error, "it is not known how runs can be contained");
                Means::NONE
            });
        Ok(Self {
            means: mode.choose(available)?,
            hidden,
            writable: (mode == ContainmentMode::Strict).then_some(writable),
            run_as,
        })
    }

    /// The fences around runs by name.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        containment_names(self.means, self.run_as.as_ref())
    }

    /// Opens the way through a data folder to what is the runs' in it, where their
    /// account goes it: the folder can be searched by the group of that account, and
    /// nothing else in it is open to anybody but its owner.
    ///
    /// # Errors
    ///
    /// A file cannot be closed, or the folder not be opened.
    pub fn open_data_folder(&self, folder: &Path) -> io::Result<()> {
        let owner = self.owner();
        if owner.run_as.is_none() || !owner.opens_way {
            return Ok(());
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if is_way(&entry.file_name()) || entry.file_type()?.is_symlink() {
                continue;
            }
            let mode = entry.metadata()?.permissions().mode();
            fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o700))?;
        }
        owner.make_way(&[folder])
    }

    /// Who owns what runs are given.
    pub(crate) fn owner(&self) -> RunOwner {
        RunOwner {
            run_as: self.run_as.clone(),
            // In namespaces only what is shown lies on the way.
            opens_way: !self.means.namespaces,
        }
    }

    /// The containment of one run. It changes what is its own, is shown what it is
    /// told, and writes to `places` where writing is restricted.
    pub(crate) fn of_run(
        &self,
        own: &[PathBuf],
        told: &[PathBuf],
        places: &[PathBuf],
    ) -> Containment {
        if self.means == Means::NONE {
            return Containment {
                run_as: self.run_as.clone(),
                ..Containment::default()
            };
        }
        let shown = |paths: &[PathBuf], is_writable| {
            let paths = paths.iter().cloned();
            paths
                .map(|path| Shown { path, is_writable })
                .collect::<Vec<_>>()
        };
        let writable = self.writable.as_ref().map(|listed| {
            let all = listed.iter().chain(own).chain(places);
            all.cloned().collect()
        });
        Containment {
            means: self.means,
            hidden: self.hidden.clone(),
            shown: [shown(told, false), shown(own, true)].concat(),
            writable,
            run_as: self.run_as.clone(),
        }
    }
}
