//! What each run is kept from (docs/operations.md#containment).

use std::path::{Path, PathBuf};

use workforce_guard::client::{self, GuardProgram};
use workforce_guard::{Containment, Means, Shown};

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
    ) -> Result<Self, NotContained> {
        let available = client::probe(guard).await.unwrap_or_else(|error| {
            tracing::error!(%error, "it is not known how runs can be contained");
            Means::NONE
        });
        Ok(Self {
            means: mode.choose(available)?,
            hidden,
            writable: (mode == ContainmentMode::Strict).then_some(writable),
        })
    }

    /// The containment of one run, which is shown its home and changes it, is shown
    /// what it is told, and works in `cwd`.
    pub(crate) fn of_run(&self, home: &Path, told: &[PathBuf], cwd: &Path) -> Containment {
        if self.means == Means::NONE {
            return Containment::default();
        }
        let told = told.iter().map(|path| Shown {
            path: path.clone(),
            is_writable: false,
        });
        let own = Shown {
            path: home.to_owned(),
            is_writable: true,
        };
        let writable = self.writable.as_ref().map(|listed| {
            let own = [cwd.to_owned(), home.to_owned()];
            listed.iter().cloned().chain(own).collect()
        });
        Containment {
            means: self.means,
            hidden: self.hidden.clone(),
            shown: told.chain([own]).collect(),
            writable,
        }
    }
}
