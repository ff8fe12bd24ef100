//! Merges two commits without any files.

use std::collections::BTreeSet;

use crate::contents::attributes::Attributes;
use crate::contents::private_files::PrivateFiles;
use crate::contents::refusal::{Reason, Refusal};
use crate::program::{LIST_LIMIT, lossy};
use crate::view::View;
use crate::{CommitId, GitError};

/// How git calls the merge of what two sides changed in one file.
const MERGED: &[u8] = b"Auto-merging";

/// What a merge comes to.
pub(crate) enum Merged {
    /// This tree.
    Tree(String),
    /// These paths conflict.
    Conflict(Vec<String>),
    /// These files want to be merged by a program of the repository.
    Refused(Vec<Refusal>),
}

/// Merges as git would in a worktree of `ours`: with the merge drivers that git itself has and
/// the files `.gitattributes` choose. Attributes that stand beside the files choose none, since
/// nobody but the agent may have seen them.
pub(crate) async fn merge_tree(
    view: &View,
    ours: &CommitId,
    theirs: &CommitId,
) -> Result<Merged, GitError> {
    let files = PrivateFiles::new(view)?;
    let attributes = Attributes::of(view, ours.as_str()).await?;
    attributes.write_to(files.path()).await?;
    let output = view
        .command_in("merge-tree", files.path())
        .args(["--write-tree", "-z", "--name-only", "--messages"])
        .args([ours.as_str(), theirs.as_str()])
        .stdout_limit(LIST_LIMIT)
        .run()
        .await?;
    let mut printed = output.stdout.split(|&b| b == 0);
    let (tree, is_clean) = match (output.code, printed.next()) {
        (Some(0), Some(tree)) if !tree.is_empty() => (lossy(tree), true),
        (Some(1), Some(tree)) if !tree.is_empty() => (lossy(tree), false),
        _ => return Err(output.failed("merge-tree")),
    };
    let conflicts: Vec<String> = printed
        .by_ref()
        .take_while(|path| !path.is_empty())
        .map(lossy)
        .collect();
    if !is_clean {
        return Ok(Merged::Conflict(conflicts));
    }
    let refused = without_driver(view, ours, &merged(printed)).await?;
    Ok(match refused.is_empty() {
        true => Merged::Tree(tree),
        false => Merged::Refused(refused),
    })
}

/// The paths that both sides changed, by what git says about a merge: for each message a number
/// of paths, these, its kind, and a text.
fn merged<'a>(mut messages: impl Iterator<Item = &'a [u8]>) -> BTreeSet<&'a [u8]> {
    let mut merged = BTreeSet::new();
    while let Some(count) = messages.next().and_then(|it| lossy(it).parse().ok()) {
        let paths: Vec<&[u8]> = messages.by_ref().take(count).collect();
        if messages.next() == Some(MERGED) {
            merged.extend(paths);
        }
        messages.next();
    }
    merged
}

/// Those of some merged files that git would not have merged as text.
async fn without_driver(
    view: &View,
    ours: &CommitId,
    merged: &BTreeSet<&[u8]>,
) -> Result<Vec<Refusal>, GitError> {
    if merged.is_empty() {
        return Ok(Vec::new());
    }
    let view = View::new(view.repository(), None).await?;
    view.use_attributes().await?;
    let attributes = Attributes::of(&view, ours.as_str()).await?;
    let drivers = attributes.values("merge", merged.iter().copied()).await?;
    let refused = drivers.into_iter().filter_map(|(path, driver)| {
        let driver = match driver.as_str() {
            "set" | "text" | "union" => return None,
            "unset" => "binary".to_owned(),
            _ => driver,
        };
        Some(Refusal {
            path: lossy(&path),
            reason: Reason::MergeDriver(driver),
        })
    });
    Ok(refused.collect())
}
