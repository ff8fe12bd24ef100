//! Files that a filter has to change before they are committed.
//!
//! The server runs no filter that an agent could choose. So a file that has one is committed
//! only if it is seen from its content that the filter has changed it already.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;

use crate::contents::attributes::{Attributes, Values, values_in};
use crate::contents::lfs::{CONFIG, LFS, MAX_POINTER, Pointer};
use crate::contents::refusal::{MAX_FILE, Reason, is_git_crypt};
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;
use crate::view::View;
use crate::{CommitId, GitError};

pub(crate) const FILTER: &str = "filter";
const ENCODING: &str = "working-tree-encoding";

/// What git-crypt writes begins with this.
const ENCRYPTED: &[u8] = b"\0GITCRYPT\0";
/// So much of a file is read to tell.
const READ: usize = MAX_POINTER;

/// A file of a commit.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blob {
    pub(crate) path: Vec<u8>,
    pub(crate) id: String,
}

/// Whether a filter gave this content to a file, which begins so.
fn is_filtered(filter: &str, beginning: &[u8]) -> bool {
    if filter == LFS {
        return beginning.is_empty() || Pointer::parse(beginning).is_some();
    }
    // git-crypt leaves empty files as they are.
    is_git_crypt(filter) && (beginning.is_empty() || beginning.starts_with(ENCRYPTED))
}

/// Whether an attribute names something.
fn is_named((_, value): &(Vec<u8>, String)) -> bool {
    !matches!(value.as_str(), "set" | "unset")
}

/// The filters of paths.
struct Filters(BTreeMap<Vec<u8>, BTreeSet<String>>);

impl Filters {
    fn of(all: impl IntoIterator<Item = Values>) -> Self {
        let mut filters = BTreeMap::<Vec<u8>, BTreeSet<String>>::new();
        for (path, filter) in all.into_iter().flatten().filter(is_named) {
            filters.entry(path).or_default().insert(filter);
        }
        Self(filters)
    }
}

/// Why a file that begins so is not committed.
fn refused(filters: &BTreeSet<String>, beginning: &[u8]) -> Option<Reason> {
    let missing = filters.iter().find(|it| !is_filtered(it, beginning))?;
    Some(Reason::Filter(missing.clone()))
}

/// Changed files that have a filter.
pub(crate) struct Filtered {
    pub(crate) refused: BTreeMap<Vec<u8>, Reason>,
    /// Those that are to be committed as pointers of Git LFS.
    pub(crate) lfs: BTreeSet<Vec<u8>>,
}

/// Git LFS hides nothing: whoever takes it from a file may commit the file.
fn without_lfs(mut values: Values) -> Values {
    values.retain(|_, filter| filter != LFS);
    values
}

/// Those of the changed files in a worktree that have to be changed by a filter first: by the
/// attributes that they had, so that nobody takes a filter away and commits what it hid, or by
/// those that they have now. The index of the view is that of the commit, without what is gone.
pub(crate) async fn unfiltered(
    view: &View,
    head: &CommitId,
    files: &Path,
    changed: &BTreeSet<&[u8]>,
) -> Result<Filtered, GitError> {
    let before = Attributes::of(view, head.as_str()).await?;
    let paths = || changed.iter().copied();
    let filters = Filters::of([
        without_lfs(before.values(FILTER, paths()).await?),
        values_in(view, files, FILTER, paths()).await?,
    ]);
    let encodings = values_in(view, files, ENCODING, paths()).await?;
    let read_from = files.to_owned();
    let runs_lfs = runs_lfs(view, head, Some(files)).await?;
    let (mut refused, lfs, encoded) = run_blocking(move || {
        let folder = Folder::open(&read_from)?;
        let mut found = BTreeMap::new();
        let mut lfs = BTreeSet::new();
        for (path, mut filters) in filters.0 {
            if runs_lfs && filters.remove(LFS) {
                lfs.insert(path.clone());
            }
            if let Some(reason) = read(&folder, &path, READ)?.and_then(|it| refused(&filters, &it))
            {
                found.insert(path, reason);
            }
        }
        io::Result::Ok((found, lfs, encodings))
    })
    .await
    .tried(|| "look at the changed files".to_owned())?;
    for (path, encoding) in encoded.into_iter().filter(is_named) {
        if !refused.contains_key(&path) && !is_encoded(view, files, &path).await? {
            refused.insert(path, Reason::Encoding(encoding));
        }
    }
    Ok(Filtered { refused, lfs })
}

/// Those of some files that have no filter. What the others are for git, only the filter tells.
pub(crate) async fn without_filter<'p>(
    view: &View,
    files: &Path,
    mut paths: Vec<&'p [u8]>,
) -> Result<Vec<&'p [u8]>, GitError> {
    let filters = values_in(view, files, FILTER, paths.iter().copied()).await?;
    let filters = Filters::of([filters]);
    paths.retain(|path| !filters.0.contains_key(*path));
    Ok(paths)
}

/// The beginning of a file; none for a link, which no filter changes.
fn read(folder: &Folder, path: &[u8], limit: usize) -> io::Result<Option<Vec<u8>>> {
    let path = path_of(path);
    let Some(parent) = folder.find(path.parent().unwrap_or(Path::new("")))? else {
        return Ok(None);
    };
    let name = path.file_name().unwrap_or_default();
    if parent.kind(name)? != Some(Kind::File) {
        return Ok(None);
    }
    let Some(file) = parent.open_file(name)? else {
        return Ok(None);
    };
    let mut beginning = Vec::new();
    file.take(limit as u64).read_to_end(&mut beginning)?;
    Ok(Some(beginning))
}

/// Whether git can turn a file into UTF-8 as its attributes say.
async fn is_encoded(view: &View, files: &Path, path: &[u8]) -> Result<bool, GitError> {
    let (from, of) = (files.to_owned(), path.to_vec());
    let reading = run_blocking(move || read(&Folder::open(&from)?, &of, MAX_FILE as usize));
    let content = reading
        .await
        .tried(|| "look at the changed files".to_owned())?;
    let Some(content) = content else {
        return Ok(true);
    };
    let mut of_path = OsString::from("--path=");
    of_path.push(path_of(path));
    // Git minds what it cannot turn only where it writes.
    let written = view
        .command_in("hash-object", files)
        .args(["-w", "--stdin"])
        .arg(of_path)
        .input(content);
    Ok(written.run().await?.code == Some(0))
}

/// Those of the files of commits that a filter should have changed, by the attributes in any of
/// some commits.
pub(crate) async fn unfiltered_in_commits(
    view: &View,
    base: Option<&CommitId>,
    head: &CommitId,
    blobs: &BTreeSet<Blob>,
    new: &BTreeSet<String>,
) -> Result<Vec<(Vec<u8>, Reason)>, GitError> {
    let paths = || blobs.iter().map(|blob| blob.path.as_slice());
    let attributes = Attributes::of(view, head.as_str()).await?;
    let mut values = vec![attributes.values(FILTER, paths()).await?];
    if let Some(base) = base {
        let attributes = Attributes::of(view, base.as_str()).await?;
        values.push(without_lfs(attributes.values(FILTER, paths()).await?));
    }
    let filters = Filters::of(values);
    let runs_lfs = runs_lfs(view, head, None).await?;
    let mut found = Vec::new();
    for blob in blobs {
        let Some(filters) = filters.0.get(&blob.path) else {
            continue;
        };
        let content = view.command("cat-file").args(["blob", &blob.id]);
        let beginning = content.cut_at(READ).output().await?;
        if let Some(reason) = refused(filters, &beginning) {
            found.push((blob.path.clone(), reason));
        } else if filters.contains(LFS)
            && new.contains(&blob.id)
            && let Some(pointer) = Pointer::parse(&beginning)
        {
            let folder = view.repository().folder();
            let is_there = pointer.is_in(folder);
            if !is_there.tried(|| "look at Git LFS objects".to_owned())? || !runs_lfs {
                found.push((blob.path.clone(), Reason::LfsObject));
            }
        }
    }
    Ok(found)
}

/// Whether the server puts files into Git LFS: where it has the program, and the objects belong to
/// the same server as the commits.
async fn runs_lfs(view: &View, commit: &CommitId, files: Option<&Path>) -> Result<bool, GitError> {
    let repository = view.repository();
    if repository.git().lfs().is_none() || repository.has_lfs_server() {
        return Ok(false);
    }
    let configured = view.command("cat-file").arg("-e");
    let configured = configured.arg(format!("{commit}:{CONFIG}"));
    let is_in_commit = configured.run().await?.code == Some(0);
    let is_in_files = files.is_some_and(|it| it.join(CONFIG).symlink_metadata().is_ok());
    Ok(!is_in_commit && !is_in_files)
}
