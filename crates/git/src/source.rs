//! What the folder of a source repository looks like. Nothing of it is written.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read as _};

use crate::config::Config;
use crate::contents::filters::without_filter;
use crate::contents::index::{forget, refresh};
use crate::contents::survey::tracked;
use crate::error::Tried as _;
use crate::folder::Folder;
use crate::operation::Operation;
use crate::program::{LIST_LIMIT, lossy, records};
use crate::remote::AddressFault;
use crate::view::View;
use crate::worktree::branch_of;
use crate::{Branch, CommitId, GitError, Remote, Repository};

/// So many paths are named.
const PATHS_NAMED: usize = 50;
/// An index has at most so many bytes, with what it shares.
const MAX_INDEX: u64 = 256 * 1024 * 1024;

/// The state of a repository and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// The branch of its head; none if it is detached.
    pub branch: Option<String>,
    /// The commit of its head; none if there is none yet.
    pub head: Option<CommitId>,
    /// What was begun and not ended.
    pub operation: Option<Operation>,
    /// The first tracked paths that differ from the head, staged or not, by name.
    pub changed: Vec<String>,
    /// How many they are.
    pub total: usize,
}

/// The addresses of a configured remote, after the rules that rewrite them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredRemote {
    /// As it is named, before any rule.
    pub named: String,
    /// Where is fetched from.
    pub fetch: String,
    /// Where is pushed to.
    pub push: String,
}

impl ConfiguredRemote {
    /// Both addresses as remotes.
    ///
    /// # Errors
    /// One of them is none that git may be given.
    pub fn remotes(&self) -> Result<(Remote, Remote), AddressFault> {
        Ok((Remote::new(&self.fetch)?, Remote::new(&self.push)?))
    }
}

impl Repository {
    /// Looks at the folder of the repository. Untracked files, what happened in submodules, and
    /// what files hold that have a filter do not count as changes.
    ///
    /// # Errors
    /// Git cannot read it.
    pub async fn source_state(&self) -> Result<SourceState, GitError> {
        let reading = || format!("read {}", self.git_dir().display());
        let folder = Folder::open(self.git_dir()).tried(reading)?;
        let branch = branch_of(&folder)?;
        let head = match branch.as_deref().map(Branch::new) {
            Some(Ok(branch)) => self.branch_head(&branch)?,
            Some(Err(_)) => None,
            None => {
                let text = folder.read("HEAD", 4096).tried(reading)?;
                CommitId::printed(text.unwrap_or_default().trim_ascii_end())
            }
        };
        let changed = match self.work_dir() {
            Some(files) => self.changed(&folder, head.as_ref(), files).await?,
            None => BTreeSet::new(),
        };
        Ok(SourceState {
            branch,
            head,
            operation: Operation::found_in(&folder).tried(reading)?,
            total: changed.len(),
            changed: changed.into_iter().take(PATHS_NAMED).collect(),
        })
    }

    async fn changed(
        &self,
        folder: &Folder,
        head: Option<&CommitId>,
        files: &std::path::Path,
    ) -> Result<BTreeSet<String>, GitError> {
        let view = View::new(self, head).await?;
        view.use_attributes().await?;
        copy_index(folder, &view).tried(|| "copy the index".to_owned())?;
        let tree = head.map_or(self.format().empty_tree(), CommitId::as_str);
        let staged = view
            .command_in("diff-index", files)
            .args(["--cached", "--name-only", "-z", "--ignore-submodules=all"])
            .args([tree, "--"]);
        let mut changed = BTreeSet::new();
        let printed = staged.stdout_limit(LIST_LIMIT).output().await?;
        changed.extend(records(&printed).map(lossy));
        // Git would look into them all the same.
        let mut submodules = Vec::new();
        for (path, _) in tracked(&view).await?.iter().filter(|(_, e)| e.is_submodule) {
            submodules.extend_from_slice(path);
            submodules.push(0);
        }
        forget(&view, submodules).await?;
        // Files that were touched or copied are what they were.
        refresh(&view, files).await?;
        let unstaged = view.command_in("diff-files", files).args([
            "--name-only",
            "-z",
            "--ignore-submodules=all",
        ]);
        let printed = unstaged.stdout_limit(LIST_LIMIT).output().await?;
        let unstaged = without_filter(&view, files, records(&printed).collect()).await?;
        changed.extend(unstaged.into_iter().map(lossy));
        Ok(changed)
    }

    /// The addresses of a remote in the settings of the repository, such as
    /// `origin`; none if it has no address. Read them once, and keep them: an
    /// agent may change these settings. A relative path is resolved.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub async fn configured_remote(
        &self,
        name: &str,
    ) -> Result<Option<ConfiguredRemote>, GitError> {
        let config = Config::of_repository(self.git(), self.folder()).await?;
        let url = |key: &str| config.all(&format!("remote.{name}.{key}")).next();
        let Some(fetch) = url("url") else {
            return Ok(None);
        };
        Ok(Some(self.by_rules(&config, fetch, url("pushurl"))))
    }

    /// What the rules of the repository that rewrite addresses make of one. Ask
    /// once, and keep the answer: an agent may change these rules.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub async fn rewritten_address(&self, address: &str) -> Result<ConfiguredRemote, GitError> {
        let config = Config::of_repository(self.git(), self.folder()).await?;
        Ok(self.by_rules(&config, address, None))
    }

    fn by_rules(&self, config: &Config, named: &str, push: Option<&str>) -> ConfiguredRemote {
        let push = match push {
            Some(push) => rewritten(config, push, "insteadof").unwrap_or_else(|| push.to_owned()),
            // Rules for pushes alone count only where no address for pushes is.
            None => rewritten(config, named, "pushinsteadof")
                .or_else(|| rewritten(config, named, "insteadof"))
                .unwrap_or_else(|| named.to_owned()),
        };
        let fetch = rewritten(config, named, "insteadof").unwrap_or_else(|| named.to_owned());
        ConfiguredRemote {
            named: named.to_owned(),
            fetch: self.resolved(fetch),
            push: self.resolved(push),
        }
    }

    fn resolved(&self, address: String) -> String {
        let is_relative = address.starts_with("./") || address.starts_with("../");
        if !is_relative {
            return address;
        }
        let top = self.work_dir().unwrap_or(self.common_dir());
        match top.join(&address).canonicalize() {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => address,
        }
    }
}

/// What the longest rule that fits makes of an address.
fn rewritten(config: &Config, address: &str, rule: &str) -> Option<String> {
    let suffix = format!(".{rule}");
    config
        .entries()
        .filter_map(|(key, prefix)| {
            let base = key.strip_prefix("url.")?.strip_suffix(&suffix)?;
            Some((base, prefix, address.strip_prefix(prefix)?))
        })
        .max_by_key(|(_, prefix, _)| prefix.len())
        .map(|(base, _, rest)| format!("{base}{rest}"))
}

/// Copies an index, and the part of it that others share.
fn copy_index(folder: &Folder, view: &View) -> io::Result<()> {
    let mut rest = MAX_INDEX;
    for name in folder.names()? {
        let is_index = name == "index" || name.as_encoded_bytes().starts_with(b"sharedindex.");
        if !is_index {
            continue;
        }
        let Some(source) = folder.open_file(OsStr::new(&name))? else {
            continue;
        };
        let modified = source.metadata()?.modified()?;
        let mut target = std::fs::File::create(view.path().join(&name))?;
        let copied = io::copy(&mut source.take(rest + 1), &mut target)?;
        rest = rest
            .checked_sub(copied)
            .ok_or_else(|| io::Error::other("the index is too large"))?;
        // Git looks again at files that changed after their index was written.
        target.set_modified(modified)?;
    }
    Ok(())
}
