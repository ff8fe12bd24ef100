//! Looks through commits that an agent made itself, before they are pushed.

use std::collections::BTreeMap;

use crate::private_key::holds_private_key;
use crate::program::{LIST_LIMIT, lossy};
use crate::refusal::{MAX_FILE, Reason, Refusal, by_name};
use crate::view::View;
use crate::{CommitId, GitError, Worktree};

/// The content of files is asked for in parts of about this size.
const PART: u64 = 64 * 1024 * 1024;

impl Worktree {
    /// What [`Worktree::commit`] would have refused in the commits up to `head` that
    /// none of `known` has: also of a file that a later commit removed, since it is
    /// pushed all the same.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn refused_in_commits(
        &self,
        known: &[CommitId],
        head: &CommitId,
    ) -> Result<Vec<Refusal>, GitError> {
        let view = View::new(self.repository(), Some(head)).await?;
        for commit in known.iter().chain([head]) {
            view.need_commit(commit).await?;
        }
        let printed = view
            .command("rev-list")
            .args(["--objects", head.as_str()])
            .args(known.iter().map(|commit| format!("^{commit}")))
            .stdout_limit(LIST_LIMIT)
            .output()
            .await?;
        let mut paths = BTreeMap::new();
        for line in lossy(&printed).lines() {
            // Commits have no path, and neither has the tree at the top.
            if let Some((id, path)) = line.split_once(' ')
                && !path.is_empty()
            {
                paths.insert(id.to_owned(), path.to_owned());
            }
        }
        let mut refused = Vec::new();
        let mut part = (0, Vec::new());
        for (id, size) in view.blobs(&paths).await? {
            let path = &paths[&id];
            let reason = match by_name(path.as_ref()) {
                Some(reason) => Some(reason),
                None if size > MAX_FILE => Some(Reason::TooLarge),
                None => None,
            };
            if let Some(reason) = reason {
                refused.push(Refusal {
                    path: path.clone(),
                    reason,
                });
                continue;
            }
            if part.0 + size > PART {
                let ids = std::mem::take(&mut part).1;
                view.find_keys(&ids, &paths, &mut refused).await?;
            }
            part.0 += size;
            part.1.push(id);
        }
        view.find_keys(&part.1, &paths, &mut refused).await?;
        refused.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(refused)
    }
}

impl View {
    /// The files among objects, with their sizes.
    async fn blobs(
        &self,
        objects: &BTreeMap<String, String>,
    ) -> Result<Vec<(String, u64)>, GitError> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let input: String = objects.keys().map(|id| format!("{id}\n")).collect();
        let printed = self
            .command("cat-file")
            .arg("--batch-check=%(objecttype) %(objectname) %(objectsize)")
            .input(input)
            .stdout_limit(LIST_LIMIT)
            .text()
            .await?;
        let mut blobs = Vec::new();
        for line in printed.lines() {
            // What is not there now may be there when it is pushed.
            if line.ends_with(" missing") {
                return Err(self.failed("cat-file", line.to_owned()));
            }
            let blob = |line: &str| {
                let (id, size) = line.strip_prefix("blob ")?.split_once(' ')?;
                Some((id.to_owned(), size.parse().ok()?))
            };
            blobs.extend(blob(line));
        }
        Ok(blobs)
    }

    /// Looks for private keys in files.
    async fn find_keys(
        &self,
        ids: &[String],
        paths: &BTreeMap<String, String>,
        refused: &mut Vec<Refusal>,
    ) -> Result<(), GitError> {
        if ids.is_empty() {
            return Ok(());
        }
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let printed = self
            .command("cat-file")
            .arg("--batch=%(objectname) %(objectsize)")
            .input(input)
            .stdout_limit(LIST_LIMIT)
            .output()
            .await?;
        let unexpected = || GitError::Failed {
            command: "cat-file",
            message: "it printed something unexpected".to_owned(),
        };
        let mut rest = printed.as_slice();
        while let Some(end) = rest.iter().position(|&b| b == b'\n') {
            let header = lossy(&rest[..end]);
            let (id, size) = header.split_once(' ').ok_or_else(unexpected)?;
            let size: usize = size.parse().map_err(|_number| unexpected())?;
            let content = rest.get(end + 1..end + 1 + size).ok_or_else(unexpected)?;
            if holds_private_key(content)
                && let Some(path) = paths.get(id)
            {
                refused.push(Refusal {
                    path: path.clone(),
                    reason: Reason::PrivateKey,
                });
            }
            rest = rest.get(end + size + 2..).unwrap_or_default();
        }
        Ok(())
    }
}
