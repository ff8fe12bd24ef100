//! What differs between a worktree and a base.

use std::collections::BTreeSet;

use crate::contents::scan::{Status, scan, stage};
use crate::program::lossy;
use crate::view::View;
use crate::{CommitId, GitError, Refusal, Worktree};

/// So many files that are not committed are compared line by line, and so many bytes of
/// them: whoever asks waits for it.
const COMPARED_FILES: usize = 5_000;
const COMPARED_BYTES: u64 = 128 * 1024 * 1024;

/// A path that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path in the repository; what is no UTF-8 in it is replaced.
    pub path: String,
    /// What happened to it.
    pub status: Status,
}

/// What is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The first changes, by path.
    pub first: Vec<Change>,
    /// How many there are.
    pub total: usize,
    /// Those that a commit would refuse.
    pub refused: Vec<Refusal>,
}

/// Which differences are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffTo {
    /// Up to the head of the branch.
    Head,
    /// Up to the files as they are. What a commit would refuse is left out.
    Files,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path.
    pub path: String,
    /// The path that it had, if it was renamed.
    pub old_path: Option<String>,
    /// What happened to it.
    pub status: Status,
    /// Lines that are new; none if it is no text.
    pub additions: Option<u64>,
    /// Lines that are gone; none if it is no text.
    pub deletions: Option<u64>,
}

/// What differs between a base and a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The commit that both come from, with which the comparison is made.
    pub merge_base: Option<CommitId>,
    /// All files that differ. Of those that are not committed only the first are compared
    /// line by line; the others come last, with no count of lines.
    pub files: Vec<FileDiff>,
    /// The differences as a unified diff.
    pub patch: String,
    /// The patch was longer, or files were not compared.
    pub is_truncated: bool,
    /// What was left out of it, with reasons.
    pub refused: Vec<Refusal>,
}

impl Worktree {
    /// What is not committed; at most `limit` paths are named.
    ///
    /// # Errors
    /// Git cannot read the worktree.
    pub async fn changes(&self, limit: usize) -> Result<Changes, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        let scan = scan(&view, &head, self.path()).await?;
        let first = scan
            .changes
            .iter()
            .take(limit)
            .map(|(path, status)| Change {
                path: lossy(path),
                status: *status,
            });
        Ok(Changes {
            first: first.collect(),
            total: scan.changes.len(),
            refused: scan.refused,
        })
    }

    /// Whether the head has other files than where the branch and a base parted. Told
    /// by their trees, however much differs.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn differs(&self, base: &CommitId) -> Result<bool, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        view.need_commit(base).await?;
        view.need_commit(&head).await?;
        let from = match merge_base(&view, base, &head).await? {
            Some(parted) => view.tree_of(&parted).await?,
            None => self.repository().format().empty_tree().to_owned(),
        };
        Ok(view.tree_of(&head).await? != from)
    }

    /// What differs from where the branch and a base parted, with a patch of at
    /// most `patch_limit` bytes.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn diff(
        &self,
        base: &CommitId,
        to: DiffTo,
        patch_limit: usize,
    ) -> Result<Diff, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        view.need_commit(base).await?;
        view.need_commit(&head).await?;
        let (mut refused, mut others) = (Vec::new(), Vec::new());
        let target = match to {
            DiffTo::Head => view.tree_of(&head).await?,
            DiffTo::Files => {
                let mut scan = scan(&view, &head, self.path()).await?;
                scan.keep_refused();
                others = scan.keep_first(COMPARED_FILES, COMPARED_BYTES);
                let tree = stage(&view, self.path(), &scan).await?;
                refused = scan.refused;
                tree
            }
        };
        let merge_base = merge_base(&view, base, &head).await?;
        let empty = self.repository().format().empty_tree();
        let from = merge_base.as_ref().map_or(empty, CommitId::as_str);
        let mut files = files(&view, from, &target).await?;
        let is_truncated = !others.is_empty();
        add_others(&mut files, others);
        let output = view
            .command("diff-tree")
            .args(["-r", "-p", "-M", "--no-ext-diff", "--no-textconv"])
            .args(["--no-color", "--full-index", "--submodule=short"])
            .args(["--src-prefix=a/", "--dst-prefix=b/"])
            .args([from, &target])
            .cut_at(patch_limit)
            .run()
            .await?;
        if output.code != Some(0) && !output.is_truncated {
            return Err(output.failed("diff-tree"));
        }
        Ok(Diff {
            merge_base,
            files,
            patch: lossy(&output.stdout),
            is_truncated: is_truncated || output.is_truncated,
            refused,
        })
    }
}

/// Adds files that were not compared.
fn add_others(files: &mut Vec<FileDiff>, others: Vec<(Vec<u8>, Status)>) {
    let known: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    for (path, status) in others {
        let path = lossy(&path);
        if !known.contains(&path) {
            files.push(FileDiff {
                path,
                old_path: None,
                status,
                additions: None,
                deletions: None,
            });
        }
    }
}

async fn merge_base(
    view: &View,
    base: &CommitId,
    head: &CommitId,
) -> Result<Option<CommitId>, GitError> {
    let output = view
        .command("merge-base")
        .args([base.as_str(), head.as_str()])
        .run()
        .await?;
    match output.code {
        Some(0) => Ok(CommitId::printed(&output.stdout)),
        Some(1) => Ok(None),
        _ => Err(output.failed("merge-base")),
    }
}

async fn files(view: &View, from: &str, to: &str) -> Result<Vec<FileDiff>, GitError> {
    let printed = view
        .command("diff-tree")
        .args(["-r", "-z", "-M", "--raw", "--numstat", "--no-ext-diff"])
        .args(["--no-textconv", from, to])
        .stdout_limit(64 * 1024 * 1024)
        .output()
        .await?;
    let mut files: Vec<FileDiff> = Vec::new();
    let mut at = 0;
    let mut records = printed.split(|&b| b == 0);
    while let Some(record) = records.next() {
        if let Some(header) = record.strip_prefix(b":") {
            let letter = header.rsplit(|&b| b == b' ').next().unwrap_or_default();
            let path = lossy(records.next().unwrap_or_default());
            let (status, old_path) = match letter.first() {
                Some(b'A') => (Status::Added, None),
                Some(b'D') => (Status::Deleted, None),
                Some(b'R') => (Status::Renamed, Some(path.clone())),
                _ => (Status::Modified, None),
            };
            let path = match old_path {
                Some(_) => lossy(records.next().unwrap_or_default()),
                None => path,
            };
            files.push(FileDiff {
                path,
                old_path,
                status,
                additions: None,
                deletions: None,
            });
            continue;
        }
        // The counts come after all headers, in the same order.
        let text = lossy(record);
        let mut counts = text.splitn(3, '\t').map(str::to_owned);
        let (added, deleted) = (counts.next(), counts.next());
        let (Some(added), Some(deleted), Some(path)) = (added, deleted, counts.next()) else {
            continue;
        };
        if path.is_empty() {
            // A rename has its two paths as records of their own.
            records.next();
            records.next();
        }
        if let Some(file) = files.get_mut(at) {
            file.additions = added.parse().ok();
            file.deletions = deleted.parse().ok();
        }
        at += 1;
    }
    Ok(files)
}
