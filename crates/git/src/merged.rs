//! Commits that hold known work, and nothing that anybody wrote since.

use crate::merge_tree::{Merged, merge_tree};
use crate::view::View;
use crate::{CommitId, GitError, Repository};

/// More merges on top of known work are not looked through.
const MERGES: usize = 1000;

impl Repository {
    /// True where `head` is `known`, or comes from it by merges alone of what `merged` have,
    /// each with the files that git itself gives it: whoever knows these commits knows
    /// everything in `head`.
    ///
    /// # Errors
    /// [`GitError::NoCommit`] without `head`.
    pub async fn adds_merges_only(
        &self,
        known: &CommitId,
        head: &CommitId,
        merged: &[CommitId],
    ) -> Result<bool, GitError> {
        if head == known {
            return Ok(true);
        }
        let view = View::new(self, Some(head)).await?;
        view.need_commit(head).await?;
        if !view.has_commit(known).await? {
            return Ok(false);
        }
        let mut at = head.clone();
        for _ in 0..MERGES {
            if at == *known {
                return Ok(true);
            }
            let Some((ours, theirs)) = merge_of(&view, &at).await? else {
                return Ok(false);
            };
            if !is_in_any(&view, &theirs, merged).await? {
                return Ok(false);
            }
            match merge_tree(&view, &ours, &theirs).await? {
                Merged::Tree(tree) if tree == view.tree_of(&at).await? => at = ours,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// The two commits that one merges; nothing where it is no merge of two.
async fn merge_of(
    view: &View,
    commit: &CommitId,
) -> Result<Option<(CommitId, CommitId)>, GitError> {
    let printed = view
        .command("rev-list")
        .args(["--parents", "--max-count=1", commit.as_str()])
        .text()
        .await?;
    let mut parents = printed.split_whitespace().skip(1).map(CommitId::new);
    match (parents.next(), parents.next(), parents.next()) {
        (Some(Ok(ours)), Some(Ok(theirs)), None) => Ok(Some((ours, theirs))),
        _ => Ok(None),
    }
}

async fn is_in_any(view: &View, commit: &CommitId, heads: &[CommitId]) -> Result<bool, GitError> {
    for head in heads {
        if view.is_ancestor(commit, head).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
