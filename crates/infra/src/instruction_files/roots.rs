use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use workforce_domain::port::InstructionFileError;

use super::beneath;

/// A root is at most so many bytes long.
const MAX_ROOT: usize = 4096;

/// A folder beneath which the operator allows external bundles.
#[derive(Clone, Debug)]
struct Allowed {
    /// As the operator wrote it.
    given: PathBuf,
    /// Without links.
    real: PathBuf,
}

/// The folders the operator allows, and what is left out of them.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    allowed: Vec<Allowed>,
    /// The server's own data, as written and without links.
    excluded: Vec<PathBuf>,
}

/// An opened folder of a bundle.
#[derive(Debug)]
pub(super) struct Root {
    folder: OwnedFd,
    real: PathBuf,
    excluded: Vec<PathBuf>,
}

impl Roots {
    pub(super) fn new(data_dir: &Path, allowed: impl IntoIterator<Item = PathBuf>) -> Self {
        let real = |path: &Path| {
            path.canonicalize()
                .unwrap_or_else(|_missing| path.to_owned())
        };
        let allowed = allowed
            .into_iter()
            .filter(|given| given.is_absolute())
            .map(|given| Allowed {
                real: real(&given),
                given,
            })
            .collect();
        Self {
            allowed,
            excluded: vec![data_dir.to_owned(), real(data_dir)],
        }
    }

    /// Opens the folder of a bundle, downwards from the allowed one above it.
    ///
    /// # Errors
    /// [`InstructionFileError::RootRefused`], whatever the reason: what the
    /// server's disk holds elsewhere is not to be found out here.
    pub(super) fn open(&self, root: &str) -> Result<Root, InstructionFileError> {
        let refused = || InstructionFileError::RootRefused;
        let path = Path::new(root);
        let upwards = path
            .components()
            .any(|part| matches!(part, Component::ParentDir));
        if root.len() > MAX_ROOT
            || root.chars().any(char::is_control)
            || !path.is_absolute()
            || upwards
        {
            return Err(refused());
        }
        // The innermost allowed folder decides, so that one within a hidden
        // folder can be allowed.
        let found = self
            .allowed
            .iter()
            .flat_map(|allowed| [(allowed, &allowed.given), (allowed, &allowed.real)])
            .filter_map(|(allowed, start)| Some((allowed, path.strip_prefix(start).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count());
        let (allowed, rest) = found.ok_or_else(refused)?;
        let rest = normal(rest).ok_or_else(refused)?;
        if rest.split('/').any(|name| name.starts_with('.')) {
            return Err(refused());
        }
        let real = allowed.real.join(&rest);
        if is_within(&real, &self.excluded) {
            return Err(refused());
        }
        let top = File::open(&allowed.real).map_err(|_unreadable| refused())?;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let folder = beneath::open(top.as_fd(), &rest, flags).map_err(|_unreadable| refused())?;
        Ok(Root {
            folder,
            real,
            excluded: self.excluded.clone(),
        })
    }
}

impl Root {
    /// Opens something beneath the folder.
    ///
    /// # Errors
    /// What the system answers; `ELOOP` for what is left out of the folder.
    pub(super) fn open(&self, path: &str, flags: OFlag) -> io::Result<OwnedFd> {
        if is_within(&self.real.join(path), &self.excluded) {
            return Err(io::Error::from(nix::errno::Errno::ELOOP));
        }
        beneath::open(self.folder.as_fd(), path, flags)
    }
}

fn is_within(path: &Path, excluded: &[PathBuf]) -> bool {
    excluded.iter().any(|excluded| path.starts_with(excluded))
}

/// The names of a relative path, joined; `None` when one is not text.
fn normal(path: &Path) -> Option<String> {
    let names: Option<Vec<&str>> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(names?.join("/"))
}
