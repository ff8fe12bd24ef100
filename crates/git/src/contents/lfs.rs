//! Git LFS: a file is committed as a pointer, and what it holds is kept beside the repository.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::GitError;
use crate::contents::attributes::values_in;
use crate::contents::filters::FILTER;
use crate::contents::refusal::MAX_FILE;
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::objects::publish_files;
use crate::process::run_blocking;
use crate::view::View;

/// The name of its filter.
pub(crate) const LFS: &str = "lfs";
/// Where a commit may name the server of its objects.
pub(crate) const CONFIG: &str = ".lfsconfig";
/// No pointer has more bytes.
pub(crate) const MAX_POINTER: usize = 1024;

/// Where git-lfs keeps objects, below the folder of a repository.
const OBJECTS: &str = "lfs/objects";
const VERSION: &str = "version https://git-lfs.github.com/spec/v1";

/// What stands in the place of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pointer {
    /// The SHA-256 of what the file holds, in hexadecimal.
    oid: String,
    size: u64,
}

impl Pointer {
    /// Reads a pointer as git-lfs writes it.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.lines();
        if lines.next()? != VERSION {
            return None;
        }
        let oid = lines.next()?.strip_prefix("oid sha256:")?;
        let size = lines.next()?.strip_prefix("size ")?;
        let is_oid = oid.len() == 64 && oid.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let pointer = Self {
            oid: is_oid.then(|| oid.to_owned())?,
            size: size.parse().ok()?,
        };
        (pointer.text().as_bytes() == bytes).then_some(pointer)
    }

    /// Whether this is what the file holds.
    pub(crate) fn is_of(&self, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() != self.size {
            return Ok(false);
        }
        Ok(hash(file.take(self.size + 1))? == *self)
    }

    pub(crate) fn oid(&self) -> &str {
        &self.oid
    }

    fn text(&self) -> String {
        format!("{VERSION}\noid sha256:{}\nsize {}\n", self.oid, self.size)
    }

    fn folder(&self) -> PathBuf {
        Path::new(OBJECTS)
            .join(&self.oid[..2])
            .join(&self.oid[2..4])
    }

    /// Whether a repository has the object, as far as its size tells.
    pub(crate) fn is_in(&self, repository: &Folder) -> io::Result<bool> {
        let Some(folder) = repository.find(&self.folder())? else {
            return Ok(false);
        };
        let stat = folder.stat_of(self.oid.as_ref())?;
        Ok(stat.is_some_and(|stat| stat.st_size.unsigned_abs() == self.size))
    }

    /// Copies the object of a repository to where git-lfs looks for it; false if it is not
    /// there. It is looked at: somebody could have put another file there.
    pub(crate) fn copy_to(&self, repository: &Folder, view: &Path) -> io::Result<bool> {
        let Some(folder) = repository.find(&self.folder())? else {
            return Ok(false);
        };
        let own = Folder::open(view)?.below_or_new(&self.folder(), 0o700)?;
        let limit = self.size.min(MAX_FILE) + 1;
        if folder
            .copy(self.oid.as_ref(), &own, self.oid.as_ref(), limit)?
            .is_none()
        {
            return Ok(false);
        }
        match own.open_file(self.oid.as_ref()) {
            Ok(Some(file)) if self.is_of(&file)? => Ok(true),
            _ => Err(io::Error::other(format!(
                "the Git LFS object {} is damaged",
                self.oid
            ))),
        }
    }
}

/// Keeps the objects that [`clean`] put into a view in its repository.
pub(crate) fn publish(view: &Path, repository: &Folder) -> io::Result<()> {
    let Some(objects) = Folder::open(view)?.find(Path::new(OBJECTS))? else {
        return Ok(());
    };
    for first in objects.names()? {
        for second in objects.child(&first)?.names()? {
            let below = Path::new(&first).join(&second);
            let to = repository.below_or_new(&Path::new(OBJECTS).join(&below), 0o755)?;
            let from = objects.below(&below)?;
            publish_files(&from, &from.names()?, &to)?;
        }
    }
    Ok(())
}

fn hash(mut content: impl Read) -> io::Result<Pointer> {
    let mut hash = Sha256::new();
    let (mut size, mut buffer) = (0, vec![0; 128 * 1024]);
    loop {
        let read = content.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        size += read as u64;
    }
    Ok(Pointer {
        oid: HEXLOWER.encode(&hash.finalize()),
        size,
    })
}

/// Puts a pointer in the place of a file where only the server writes, and the file to the
/// objects of a view. What is a pointer already, or empty, stays as it is.
pub(crate) fn clean(file: &Path, view: &Path) -> io::Result<()> {
    let metadata = file.symlink_metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(());
    }
    if metadata.len() < MAX_POINTER as u64 && Pointer::parse(&fs::read(file)?).is_some() {
        return Ok(());
    }
    let pointer = hash(File::open(file)?)?;
    let folder = view.join(pointer.folder());
    fs::create_dir_all(&folder)?;
    fs::rename(file, folder.join(&pointer.oid))?;
    let mode = metadata.permissions().mode() & 0o777;
    let mut new = File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(file)?;
    io::Write::write_all(&mut new, pointer.text().as_bytes())
}

/// Those of some files of a worktree that hold what the pointers in a commit stand for, given by
/// their paths and ids.
pub(crate) async fn holding_objects(
    view: &View,
    files: &Path,
    entries: Vec<(Vec<u8>, String)>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let paths = entries.iter().map(|(path, _)| path.as_slice());
    let filters = values_in(view, files, FILTER, paths).await?;
    let mut pointers = Vec::new();
    for (path, id) in entries {
        if filters.get(&path).is_some_and(|filter| filter == LFS)
            && let Some(pointer) = pointer_of(view, &id).await?
        {
            pointers.push((path, pointer));
        }
    }
    let files = files.to_owned();
    run_blocking(move || {
        let folder = Folder::open(&files)?;
        let mut found = BTreeSet::new();
        for (path, pointer) in pointers {
            let file = path_of(&path);
            let name = file.file_name().unwrap_or_default();
            if let Some(parent) = folder.find(file.parent().unwrap_or(Path::new("")))?
                && parent.kind(name)? == Some(Kind::File)
                && let Some(file) = parent.open_file(name)?
                && pointer.is_of(&file)?
            {
                found.insert(path);
            }
        }
        io::Result::Ok(found)
    })
    .await
    .tried(|| "look at the changed files".to_owned())
}

/// The pointer that a blob is, if it is one.
pub(crate) async fn pointer_of(view: &View, id: &str) -> Result<Option<Pointer>, GitError> {
    let content = view.command("cat-file").args(["blob", id]);
    let content = content.cut_at(MAX_POINTER).output().await?;
    Ok(Pointer::parse(&content))
}
