//! Files that a filter has to change before they are committed.
//!
//! The server runs no filter that an agent could choose. So a file that has one is committed
//! only if it is seen from its content that the filter has changed it already.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;

use crate::contents::attributes::{Attributes, Values, values_in};
use crate::contents::refusal::{MAX_FILE, Reason, is_git_crypt};
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;
use crate::view::View;
use crate::{CommitId, GitError};

const FILTER: &str = "filter";
const ENCODING: &str = "working-tree-encoding";

/// What git-crypt writes begins with this.
const ENCRYPTED: &[u8] = b"\0GITCRYPT\0";
/// So much of a file is read to tell.
const READ: usize = ENCRYPTED.len();

/// A file of a commit.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blob {
    pub(crate) path: Vec<u8>,
    pub(crate) id: String,
}

/// Whether a filter gave this content to a file, which begins so.
fn is_filtered(filter: &str, beginning: &[u8]) -> bool {
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

/// Those of the changed files in a worktree that have to be changed by a filter first: by the
/// attributes that they had, so that nobody takes a filter away and commits what it hid, or by
/// those that they have now. The index of the view is that of the commit, without what is gone.
pub(crate) async fn unfiltered(
    view: &View,
    head: &CommitId,
    files: &Path,
    changed: &BTreeSet<&[u8]>,
) -> Result<BTreeMap<Vec<u8>, Reason>, GitError> {
    let before = Attributes::of(view, head.as_str()).await?;
    let paths = || changed.iter().copied();
    let filters = Filters::of([
        before.values(FILTER, paths()).await?,
        values_in(view, files, FILTER, paths()).await?,
    ]);
    let encodings = values_in(view, files, ENCODING, paths()).await?;
    let read_from = files.to_owned();
    let (mut refused, encoded) = run_blocking(move || {
        let folder = Folder::open(&read_from)?;
        let mut found = BTreeMap::new();
        for (path, filters) in filters.0 {
            if let Some(reason) = read(&folder, &path, READ)?.and_then(|it| refused(&filters, &it))
            {
                found.insert(path, reason);
            }
        }
        io::Result::Ok((found, encodings))
    })
    .await
    .tried(|| "look at the changed files".to_owned())?;
    for (path, encoding) in encoded.into_iter().filter(is_named) {
        if !refused.contains_key(&path) && !is_encoded(view, files, &path).await? {
            refused.insert(path, Reason::Encoding(encoding));
        }
    }
    Ok(refused)
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
    attributes_of: &[&CommitId],
    blobs: &BTreeSet<Blob>,
) -> Result<Vec<(Vec<u8>, Reason)>, GitError> {
    let mut values = Vec::new();
    for commit in attributes_of {
        let attributes = Attributes::of(view, commit.as_str()).await?;
        let paths = blobs.iter().map(|blob| blob.path.as_slice());
        values.push(attributes.values(FILTER, paths).await?);
    }
    let filters = Filters::of(values);
    let mut found = Vec::new();
    for blob in blobs {
        let Some(filters) = filters.0.get(&blob.path) else {
            continue;
        };
        let content = view.command("cat-file").args(["blob", &blob.id]);
        let beginning = content.cut_at(READ).output().await?;
        if let Some(reason) = refused(filters, &beginning) {
            found.push((blob.path.clone(), reason));
        }
    }
    Ok(found)
}
