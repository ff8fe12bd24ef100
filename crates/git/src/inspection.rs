//! Looks through commits that an agent made itself, before they are pushed.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::filters::{Blob, unfiltered_in_commits};
use crate::contents::private_key::holds_private_key;
use crate::contents::refusal::{MAX_FILE, Reason, Refusal, by_name};
use crate::program::{LIST_LIMIT, lossy, records};
use crate::view::View;
use crate::{CommitId, GitError, Worktree};

/// The content of files is asked for in parts of about this size.
const PART: u64 = 64 * 1024 * 1024;

impl Worktree {
    /// What [`Worktree::commit`] would have refused in the commits up to `head` that
    /// none of `known` has: also of a file that a later commit removed, since it is
    /// pushed all the same. A file has the filters that `head` gives it, and the first of
    /// `known`: the head of the base branch.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn refused_in_commits(
        &self,
        known: &[CommitId],
        head: &CommitId,
    ) -> Result<Vec<Refusal>, GitError> {
        let view = View::new(self.repository(), Some(head)).await?;
        view.use_attributes().await?;
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
        let (mut paths, mut commits) = (Paths::new(), String::new());
        for line in lossy(&printed).lines() {
            match line.split_once(' ') {
                // The tree at the top has no path.
                Some((_, "")) => {}
                Some((id, path)) => {
                    paths.entry(id.to_owned()).or_default().insert(path.into());
                }
                None => commits.extend([line, "\n"]),
            }
        }
        // Objects are listed once, under one of their names, and submodules never.
        let changed = view.changed_by(commits).await?;
        let new = paths.keys().cloned().collect();
        for blob in changed.files.iter().chain(&changed.links) {
            let path = lossy(&blob.path);
            paths.entry(blob.id.clone()).or_default().insert(path);
        }
        let mut refused = Refused(BTreeMap::new());
        let unfiltered =
            unfiltered_in_commits(&view, known.first(), head, &changed.files, &new).await?;
        for path in changed.submodules {
            refused.0.insert(path, Reason::NestedRepository);
        }
        let mut part = (0, Vec::new());
        for (id, size) in view.blobs(&paths).await? {
            for path in &paths[&id] {
                if let Some(reason) = by_name(path.as_ref()) {
                    refused.0.insert(path.clone(), reason);
                }
            }
            if size > MAX_FILE {
                refused.add(&paths[&id], &Reason::TooLarge);
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
        for (path, reason) in unfiltered {
            refused.0.entry(lossy(&path)).or_insert(reason);
        }
        let refused = refused.0.into_iter();
        Ok(refused
            .map(|(path, reason)| Refusal { path, reason })
            .collect())
    }
}

/// The paths of objects.
type Paths = BTreeMap<String, BTreeSet<String>>;

/// Each path once, with the first reason that was found.
struct Refused(BTreeMap<String, Reason>);

impl Refused {
    fn add(&mut self, paths: &BTreeSet<String>, reason: &Reason) {
        for path in paths {
            self.0.entry(path.clone()).or_insert_with(|| reason.clone());
        }
    }
}

/// What commits made new or another.
#[derive(Default)]
struct ChangedBy {
    files: BTreeSet<Blob>,
    links: Vec<Blob>,
    submodules: Vec<String>,
}

impl View {
    /// What some commits, one a line, have other than all of their parents.
    async fn changed_by(&self, commits: String) -> Result<ChangedBy, GitError> {
        if commits.is_empty() {
            return Ok(ChangedBy::default());
        }
        let printed = self
            .command("diff-tree")
            .args(["--stdin", "--no-commit-id", "--root", "-r", "-c", "-z"])
            .args(["--raw", "--no-renames", "--no-abbrev"])
            .input(commits)
            .stdout_limit(LIST_LIMIT)
            .output()
            .await?;
        let mut changed = ChangedBy::default();
        let mut records = records(&printed);
        while let (Some(header), Some(path)) = (records.next(), records.next()) {
            // A colon for each parent; then their modes and the new one; the same of ids.
            let header = lossy(header);
            let words = header.trim_start_matches(':');
            let parents = header.len() - words.len();
            let words: Vec<_> = words.split(' ').collect();
            let (Some(mode), Some(id)) = (words.get(parents), words.get(2 * parents + 1)) else {
                return Err(unexpected("diff-tree"));
            };
            let blob = || Blob {
                path: path.to_vec(),
                id: (*id).to_owned(),
            };
            match *mode {
                "000000" => {}
                "160000" => changed.submodules.push(lossy(path)),
                "120000" => changed.links.push(blob()),
                _ => drop(changed.files.insert(blob())),
            }
        }
        Ok(changed)
    }

    /// The files among objects, with their sizes.
    async fn blobs(&self, objects: &Paths) -> Result<Vec<(String, u64)>, GitError> {
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
        paths: &Paths,
        refused: &mut Refused,
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
        let unexpected = || unexpected("cat-file");
        let mut rest = printed.as_slice();
        while let Some(end) = rest.iter().position(|&b| b == b'\n') {
            let header = lossy(&rest[..end]);
            let (id, size) = header.split_once(' ').ok_or_else(unexpected)?;
            let size: usize = size.parse().map_err(|_number| unexpected())?;
            let content = rest.get(end + 1..end + 1 + size).ok_or_else(unexpected)?;
            if holds_private_key(content)
                && let Some(paths) = paths.get(id)
            {
                refused.add(paths, &Reason::PrivateKey);
            }
            rest = rest.get(end + size + 2..).unwrap_or_default();
        }
        Ok(())
    }
}

fn unexpected(command: &'static str) -> GitError {
    GitError::Failed {
        command,
        message: "it printed something unexpected".to_owned(),
    }
}
