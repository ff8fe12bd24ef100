//! What a worktree holds beyond a base: changes, commits, and their text.

use crate::program::lossy;
use crate::scan::{Status, scan, stage};
use crate::view::View;
use crate::{CommitId, GitError, Refusal, Worktree};

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

/// Commits on one side only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadBehind {
    /// Commits of the branch that the base does not have.
    pub ahead: u64,
    /// Commits of the base that the branch does not have.
    pub behind: u64,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its id.
    pub commit: CommitId,
    /// The name of its author.
    pub author: String,
    /// The mail address of its author.
    pub mail: String,
    /// When it was written, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub subject: String,
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
    /// All files that differ.
    pub files: Vec<FileDiff>,
    /// The differences as a unified diff.
    pub patch: String,
    /// The patch was longer.
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

    /// How far the branch and a base are apart.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn ahead_behind(&self, base: &CommitId) -> Result<AheadBehind, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        view.need_commit(base).await?;
        let printed = view
            .command("rev-list")
            .args(["--left-right", "--count"])
            .arg(format!("{base}...{head}"))
            .text()
            .await?;
        let mut counts = printed.split_whitespace().map(str::parse);
        match (counts.next(), counts.next()) {
            (Some(Ok(behind)), Some(Ok(ahead))) => Ok(AheadBehind { ahead, behind }),
            _ => Err(unexpected("rev-list")),
        }
    }

    /// The commits of the branch that a base does not have, the newest first, at
    /// most `limit`.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn log(&self, base: &CommitId, limit: usize) -> Result<Vec<LogEntry>, GitError> {
        self.entries(&format!("^{base}"), limit, Some(base)).await
    }

    /// The newest commit of the branch.
    ///
    /// # Errors
    /// Git cannot read it.
    pub async fn last_commit(&self) -> Result<LogEntry, GitError> {
        let entries = self.entries("", 1, None).await?;
        entries.into_iter().next().ok_or_else(|| unexpected("log"))
    }

    async fn entries(
        &self,
        without: &str,
        limit: usize,
        base: Option<&CommitId>,
    ) -> Result<Vec<LogEntry>, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        if let Some(base) = base {
            view.need_commit(base).await?;
        }
        let printed = view
            .command("log")
            .args(["--no-show-signature", "--no-mailmap", "--no-notes", "-z"])
            .arg("--format=tformat:%H%x00%an%x00%ae%x00%at%x00%s")
            .arg(format!("--max-count={limit}"))
            .arg(head.as_str())
            .args(Some(without).filter(|w| !w.is_empty()))
            .arg("--")
            .output()
            .await?;
        let mut fields = printed.split(|&b| b == 0);
        let mut entries = Vec::new();
        while let (Some(id), Some(author), Some(mail), Some(time), Some(subject)) = (
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
        ) {
            entries.push(LogEntry {
                commit: CommitId::printed(id).ok_or_else(|| unexpected("log"))?,
                author: lossy(author),
                mail: lossy(mail),
                // An agent may write any time into a commit.
                time: lossy(time).parse().unwrap_or_default(),
                subject: lossy(subject),
            });
        }
        Ok(entries)
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
        let mut refused = Vec::new();
        let target = match to {
            DiffTo::Head => view.tree_of(&head).await?,
            DiffTo::Files => {
                let mut scan = scan(&view, &head, self.path()).await?;
                scan.keep_refused();
                let tree = stage(&view, self.path(), &scan).await?;
                refused = scan.refused;
                tree
            }
        };
        let merge_base = merge_base(&view, base, &head).await?;
        let empty = self.repository().format().empty_tree();
        let from = merge_base.as_ref().map_or(empty, CommitId::as_str);
        let files = files(&view, from, &target).await?;
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
            is_truncated: output.is_truncated,
            refused,
        })
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

fn unexpected(command: &'static str) -> GitError {
    GitError::Failed {
        command,
        message: "it printed something unexpected".to_owned(),
    }
}
