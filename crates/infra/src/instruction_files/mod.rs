//! External instructions on the server's disk
//! (docs/operations.md#instructions-of-agents).

mod beneath;
mod listing;
mod roots;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use data_encoding::HEXLOWER;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use sha2::{Digest, Sha256};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::{BundlePath, MAX_FILE_BYTES};
use workforce_domain::port::{ExternalListing, InstructionFileError, InstructionFiles};

use crate::tokens::fill;
use roots::{Root, Roots};

/// Who may read a file that is made here.
const NEW_FILE_MODE: u32 = 0o644;
/// The bits of a mode that say who may do what.
const PERMISSIONS: u32 = 0o777;

/// External bundles beneath folders that the operator allows.
#[derive(Debug)]
pub struct DiskInstructionFiles {
    data_dir: PathBuf,
    roots: Roots,
    /// Taken by whoever writes, so that what is compared is what is replaced.
    writing: Mutex<()>,
}

impl DiskInstructionFiles {
    /// Bundles beneath the `allowed` folders. What lies in `data_dir`, and
    /// whatever is hidden by a dot before its name, is left out of them.
    pub fn new(data_dir: impl Into<PathBuf>, allowed: impl IntoIterator<Item = PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            roots: Roots::new(&data_dir, allowed),
            data_dir,
            writing: Mutex::new(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InstructionFiles for DiskInstructionFiles {
    fn managed_root(&self, company: CompanyId, agent: AgentId) -> String {
        let company = format!("companies/{company}/agents/{agent}/instructions");
        self.data_dir.join(company).display().to_string()
    }

    fn check_root(&self, root: &str) -> Result<(), InstructionFileError> {
        self.roots.open(root).map(|_opened| ())
    }

    fn list(&self, root: &str) -> Result<ExternalListing, InstructionFileError> {
        let root = self.roots.open(root)?;
        listing::list(&root).map_err(failed)
    }

    fn read(&self, root: &str, path: &BundlePath) -> Result<String, InstructionFileError> {
        read(&self.roots.open(root)?, path)
    }

    fn write<'a>(
        &self,
        root: &'a str,
        path: &'a BundlePath,
        content: &'a str,
        expected: Option<&'a str>,
        may_create: bool,
    ) -> Result<(), InstructionFileError> {
        let _writing = self.lock();
        let root = self.roots.open(root)?;
        let mode = match plain(&root, path) {
            Ok(stat) => stat.st_mode & PERMISSIONS,
            Err(InstructionFileError::NotFound) if may_create => NEW_FILE_MODE,
            Err(error) => return Err(error),
        };
        if let Some(expected) = expected {
            let present = match read(&root, path) {
                Err(InstructionFileError::NotFound) => None,
                read => Some(HEXLOWER.encode(&Sha256::digest(read?))),
            };
            if present.is_none_or(|present| !present.eq_ignore_ascii_case(expected)) {
                return Err(InstructionFileError::Changed);
            }
        }
        let (folder, name) = parent(&root, path)?;
        replace(&folder, name, content.as_bytes(), mode).map_err(refusal)
    }

    fn delete(&self, root: &str, path: &BundlePath) -> Result<(), InstructionFileError> {
        let _writing = self.lock();
        let root = self.roots.open(root)?;
        plain(&root, path)?;
        let (folder, name) = parent(&root, path)?;
        unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir)
            .map_err(io::Error::from)
            .and_then(|()| File::from(folder).sync_all())
            .map_err(refusal)
    }
}

fn failed(error: io::Error) -> InstructionFileError {
    tracing::warn!(%error, "external instructions cannot be used");
    InstructionFileError::Failed(error.into())
}

/// What the answer of the system means for the file of a bundle.
fn refusal(error: io::Error) -> InstructionFileError {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENOTDIR | Errno::ENAMETOOLONG) => {
            InstructionFileError::NotFound
        }
        Some(Errno::ELOOP | Errno::EXDEV | Errno::ENXIO | Errno::EISDIR) => {
            InstructionFileError::NotPlain
        }
        _ => failed(error),
    }
}

/// Looks at a file without opening it, so that no device does anything: it
/// must be a plain one that has this name only. A second name could be that of
/// a file which is left out of the folder.
fn plain(root: &Root, path: &BundlePath) -> Result<FileStat, InstructionFileError> {
    if path.is_hidden() {
        return Err(InstructionFileError::NotPlain);
    }
    let seen = root
        .open(path.as_str(), OFlag::O_PATH | OFlag::O_NOFOLLOW)
        .map_err(refusal)?;
    let stat = fstat(&seen).map_err(|errno| refusal(errno.into()))?;
    if is_plain(&stat) {
        Ok(stat)
    } else {
        Err(InstructionFileError::NotPlain)
    }
}

fn is_plain(stat: &FileStat) -> bool {
    let kind = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT;
    kind == SFlag::S_IFREG && stat.st_nlink == 1
}

fn read(root: &Root, path: &BundlePath) -> Result<String, InstructionFileError> {
    plain(root, path)?;
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = root.open(path.as_str(), flags).map_err(refusal)?;
    // It may be another one than was looked at.
    let stat = fstat(&file).map_err(|errno| refusal(errno.into()))?;
    if !is_plain(&stat) {
        return Err(InstructionFileError::NotPlain);
    }
    let mut bytes = Vec::new();
    File::from(file)
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(refusal)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(InstructionFileError::TooLarge);
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(InstructionFileError::NotText),
    }
}

/// The folder a file is in, opened, and its name there.
fn parent<'a>(
    root: &Root,
    path: &'a BundlePath,
) -> Result<(OwnedFd, &'a str), InstructionFileError> {
    let (folder, name) = path
        .as_str()
        .rsplit_once('/')
        .unwrap_or(("", path.as_str()));
    let folder = root
        .open(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY)
        .map_err(refusal)?;
    Ok((folder, name))
}

/// Puts a complete, durable file in the place of a name. A link in that place
/// is replaced itself, never followed.
fn replace(folder: &OwnedFd, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
    let mut suffix = [0; 8];
    fill(&mut suffix);
    let draft = format!(".{}.draft", HEXLOWER.encode(&suffix));
    let flags =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(folder, draft.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
    let mode = Mode::from_bits_truncate(mode);
    let mut file = File::from(file);
    let written = file
        .write_all(content)
        .and_then(|()| Ok(fchmod(&file, mode)?))
        .and_then(|()| file.sync_all())
        .and_then(|()| Ok(renameat(folder, draft.as_str(), folder, name)?));
    match written {
        Ok(()) => File::from(folder.try_clone()?).sync_all(),
        Err(error) => {
            // The reason of the failure is told, whatever comes of the draft.
            let _ = unlinkat(folder.as_fd(), draft.as_str(), UnlinkatFlags::NoRemoveDir);
            Err(error)
        }
    }
}

/// The folders that are allowed when the operator names none: the home of the
/// server's user.
pub fn default_roots(home: Option<&Path>) -> Vec<PathBuf> {
    home.filter(|home| home.is_absolute() && home.parent().is_some())
        .map(Path::to_owned)
        .into_iter()
        .collect()
}
