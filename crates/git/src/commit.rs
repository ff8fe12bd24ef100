//! Commits what an agent did, and merges into it.

use crate::contents::scan::{Scan, scan, stage};
use crate::error::Tried as _;
use crate::folder::Kind;
use crate::merge_tree::{Merged, merge_tree};
use crate::program::{LIST_LIMIT, lossy, records};
use crate::view::View;
use crate::worktree::{is_free, kind_at};
use crate::{CommitId, GitError, Identity, Refusal, Worktree};

/// An error names at most so many paths.
const PATHS_NAMED: usize = 50;

/// Who commits, and what they say.
#[derive(Clone, Debug)]
pub struct CommitMessage {
    /// The message, first line and all.
    pub text: String,
    /// Who did the work.
    pub author: Identity,
    /// Who made the commit.
    pub committer: Identity,
}

/// What became of a request to commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The branch has a new commit.
    Committed(CommitId),
    /// Nothing differs from the head of the branch, which is this.
    Nothing(CommitId),
    /// Nothing was committed, because of these paths.
    Refused(Vec<Refusal>),
}

/// What became of a request to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The branch has this merge as its new head.
    Merged(CommitId),
    /// The branch has all of it already.
    UpToDate,
    /// These paths conflict. Nothing was changed.
    Conflict(Vec<String>),
    /// Git itself has no merge driver for these paths. Nothing was changed.
    Refused(Vec<Refusal>),
}

impl Worktree {
    /// Commits all that differs from the head of the branch and is not ignored.
    /// No filter, hook or program of the repository runs. Call it again if it was interrupted.
    ///
    /// # Errors
    /// [`GitError::OffBranch`], [`GitError::OperationInProgress`] after what an
    /// agent did; [`GitError::Moved`] if it commits at the same time.
    pub async fn commit(&self, message: &CommitMessage) -> Result<CommitOutcome, GitError> {
        self.finish_pending().await?;
        let admin = self.admin_on_branch()?;
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        view.need_commit(&head).await?;
        let scan = scan(&view, &head, self.path()).await?;
        if !scan.refused.is_empty() {
            return Ok(CommitOutcome::Refused(scan.refused));
        }
        let tree = stage(&view, self.path(), &scan).await?;
        if tree == view.tree_of(&head).await? {
            self.place_index(&view, &admin)?;
            return Ok(CommitOutcome::Nothing(head));
        }
        check_tree(&view, &head, &tree, &scan).await?;
        let commit = commit_tree(&view, &tree, &[&head], message).await?;
        view.publish().await?;
        self.repository()
            .refs()
            .update(&self.branch().reference(), &commit, Some(&head))
            .await?;
        self.place_index(&view, &admin)?;
        Ok(CommitOutcome::Committed(commit))
    }

    /// Merges a commit into the branch, and brings the files to the result. Of a
    /// conflict nothing is written. Call it again if it was interrupted.
    ///
    /// # Errors
    /// [`GitError::Uncommitted`]: commit first; [`GitError::NoCommit`]: fetch first;
    /// [`GitError::InTheWay`] for ignored files where the merge has others.
    pub async fn merge(
        &self,
        commit: &CommitId,
        message: &CommitMessage,
    ) -> Result<MergeOutcome, GitError> {
        self.finish_pending().await?;
        let admin = self.admin_on_branch()?;
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        if view.is_ancestor(commit, &head).await? {
            return Ok(MergeOutcome::UpToDate);
        }
        self.need_no_changes().await?;
        let tree = match merge_tree(&view, &head, commit).await? {
            Merged::Tree(tree) => tree,
            Merged::Conflict(paths) => return Ok(MergeOutcome::Conflict(paths)),
            Merged::Refused(refused) => return Ok(MergeOutcome::Refused(refused)),
        };
        self.need_no_files_in_way(&view, &head, &tree).await?;
        let merge = commit_tree(&view, &tree, &[&head, commit], message).await?;
        view.publish().await?;
        // From here on an interrupted merge is finished, not begun again. The
        // branch moves first: as long as it has not, no file has changed.
        self.note_pending(Some(&head), &merge)?;
        let moved = self
            .repository()
            .refs()
            .update(&self.branch().reference(), &merge, Some(&head))
            .await;
        if let Err(error) = moved {
            self.forget_pending()?;
            return Err(error);
        }
        drop(admin);
        self.finish_pending().await?;
        Ok(MergeOutcome::Merged(merge))
    }

    /// Fails if anything is not committed.
    pub(crate) async fn need_no_changes(&self) -> Result<(), GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        let scan = scan(&view, &head, self.path()).await?;
        if scan.changes.is_empty() && scan.refused.is_empty() {
            return Ok(());
        }
        Err(GitError::Uncommitted {
            paths: scan.paths(PATHS_NAMED),
            total: scan.changes.len(),
        })
    }

    /// Fails if a file lies where the merge has a new one, and is another.
    async fn need_no_files_in_way(
        &self,
        view: &View,
        head: &CommitId,
        tree: &str,
    ) -> Result<(), GitError> {
        let names = async |filter: &str| {
            view.command("diff-tree")
                .args(["-r", "-z", "--name-only", "--no-renames", filter])
                .args([head.as_str(), tree])
                .stdout_limit(LIST_LIMIT)
                .output()
                .await
        };
        let removed = names("--diff-filter=D").await?;
        let removed = records(&removed).map(<[u8]>::to_vec).collect();
        let folder = self.folder()?;
        let mut paths = Vec::new();
        for path in records(&names("--diff-filter=A").await?) {
            let kind = kind_at(&folder, path);
            let is_other = matches!(kind, Ok(Some(kind)) if kind != Kind::Folder);
            if is_other || !is_free(&folder, path, &removed).tried(|| "look at files".to_owned())? {
                paths.push(lossy(path));
            }
        }
        if paths.is_empty() {
            return Ok(());
        }
        Err(GitError::InTheWay { paths })
    }
}

/// Compares the tree with what was looked at: an agent that still runs may have
/// put something else in the place of a file.
async fn check_tree(view: &View, head: &CommitId, tree: &str, scan: &Scan) -> Result<(), GitError> {
    let printed = view
        .command("diff-tree")
        .args(["-r", "-z", "--raw", "--no-renames", head.as_str(), tree])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
    let mut records = records(&printed);
    while let (Some(header), Some(path)) = (records.next(), records.next()) {
        let header = lossy(header);
        let is_submodule = header
            .split(' ')
            .take(2)
            .any(|mode| mode.ends_with("160000"));
        if is_submodule || !scan.changes.contains_key(path) {
            return Err(GitError::Uncommitted {
                paths: vec![lossy(path)],
                total: 1,
            });
        }
    }
    Ok(())
}

async fn commit_tree(
    view: &View,
    tree: &str,
    parents: &[&CommitId],
    message: &CommitMessage,
) -> Result<CommitId, GitError> {
    let mut command = view
        .command("commit-tree")
        .arg("--no-gpg-sign")
        .env("GIT_AUTHOR_NAME", message.author.name())
        .env("GIT_AUTHOR_EMAIL", message.author.mail())
        .env("GIT_COMMITTER_NAME", message.committer.name())
        .env("GIT_COMMITTER_EMAIL", message.committer.mail());
    for parent in parents {
        command = command.args(["-p", parent.as_str()]);
    }
    let mut text = message.text.trim_end().replace('\0', "");
    text.push('\n');
    let printed = command.arg(tree).input(text).output().await?;
    CommitId::printed(&printed).ok_or_else(|| GitError::Failed {
        command: "commit-tree",
        message: "it named no commit".to_owned(),
    })
}
