//! How an agent left a worktree: looked at before the next program works there.

use std::ffi::OsStr;
use std::path::Path;

use crate::contents::scan::scan;
use crate::error::Tried as _;
use crate::folder::Kind;
use crate::operation::Operation;
use crate::program::lossy;
use crate::view::View;
use crate::worktree::{Admin, Place, branch_of, entries};
use crate::{Branch, CommitId, GitError, Repository, Worktree};

/// Files that a git which was killed leaves in the folder about a worktree. Each holds what was to
/// be written and was not, and every later command fails because of it.
const LOCKS: [&str; 2] = ["index.lock", "HEAD.lock"];
/// So much of the log of a head is looked at.
const MAX_LOG: usize = 4 * 1024 * 1024;
const MAX_HEAD: usize = 1024;

/// Something that is not as the server made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// An operation of several commands was not ended.
    Operation(Operation),
    /// Another branch is checked out.
    OtherBranch {
        /// That branch.
        branch: String,
    },
    /// A commit is checked out, and no branch.
    DetachedHead {
        /// That commit.
        commit: String,
    },
    /// The branch does not have any more what it had.
    BranchReset {
        /// What it was at.
        former: CommitId,
    },
    /// The branch was deleted, or has another name.
    BranchDeleted {
        /// The commit at which it is again; `None` where nobody knows one.
        commit: Option<CommitId>,
    },
    /// The file that makes the folder a worktree was replaced.
    GitFileReplaced,
    /// A killed git left a lock.
    LeftLock,
}

/// What was found in a worktree, and whether it was put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub disorder: Disorder,
    /// Whether it is in order again. Otherwise something would have been lost, and nothing was
    /// touched.
    pub is_mended: bool,
}

impl Finding {
    const fn mended(disorder: Disorder) -> Self {
        Self {
            disorder,
            is_mended: true,
        }
    }

    const fn left(disorder: Disorder) -> Self {
        Self {
            disorder,
            is_mended: false,
        }
    }
}

impl Repository {
    /// Looks at how the worktree of a branch was left, and puts in order what can be without a
    /// loss. `noted` is the commit that the branch was seen at before. Nothing works in the
    /// worktree meanwhile, and the repository is locked.
    ///
    /// # Errors
    /// [`GitError::OutsideRoot`]; [`GitError::Tampered`] for a link on the way.
    pub async fn set_in_order(
        &self,
        path: &Path,
        branch: &Branch,
        noted: Option<&CommitId>,
    ) -> Result<Vec<Finding>, GitError> {
        let worktree = Worktree {
            repository: self.clone(),
            place: Place::new(self.git(), path)?,
            branch: branch.clone(),
        };
        let mut findings = Vec::new();
        if worktree.place.open()?.is_none() {
            return Ok(findings);
        }
        let admin = match worktree.admin()? {
            Some(admin) => admin,
            None => match worktree.link_again().await? {
                Some(admin) => {
                    findings.push(Finding::mended(Disorder::GitFileReplaced));
                    admin
                }
                // Whoever makes it anew says where the folder went.
                None => return Ok(findings),
            },
        };
        if remove_locks(&admin)? {
            findings.push(Finding::mended(Disorder::LeftLock));
        }
        worktree.give_settings(&admin).await?;
        let operation = Operation::found_in(admin.folder()).tried(|| worktree.looking())?;
        if let Some(operation) = operation {
            findings.push(Finding::left(Disorder::Operation(operation)));
            return Ok(findings);
        }
        findings.extend(worktree.settle_branch(&admin, noted).await?);
        findings.extend(worktree.settle_head(&admin).await?);
        Ok(findings)
    }
}

/// Removes what a killed git left; true if there was anything.
fn remove_locks(admin: &Admin) -> Result<bool, GitError> {
    let mut is_found = false;
    for name in LOCKS {
        let name = OsStr::new(name);
        let removing = || "remove the lock of a git that was killed".to_owned();
        if admin.folder().kind(name).tried(removing)? == Some(Kind::File) {
            admin.folder().remove_file(name).tried(removing)?;
            is_found = true;
        }
    }
    Ok(is_found)
}

impl Worktree {
    fn looking(&self) -> String {
        format!("look at {}", self.path().display())
    }

    /// Makes the folder a worktree of the repository again whose file `.git` was removed or leads
    /// elsewhere. None if a whole repository is there: it may have commits.
    async fn link_again(&self) -> Result<Option<Admin>, GitError> {
        let folder = self.folder()?;
        let kind = folder.kind(OsStr::new(".git")).tried(|| self.looking())?;
        if matches!(kind, Some(Kind::Folder))
            || self.repository.branch_head(&self.branch)?.is_none()
        {
            return Ok(None);
        }
        let known = entries(&self.repository)?;
        let known = known.into_iter().find(|entry| entry.files() == self.path());
        let (admin, is_new) = match known {
            Some(admin) => (admin, false),
            None if self.repository.folder_of_branch(&self.branch)?.is_some() => return Ok(None),
            None => {
                let settings = self.repository.settings_of_worktree(self.path()).await?;
                let settings = settings.as_deref();
                let made = Admin::make(&self.repository, self.path(), &self.branch, settings)?;
                (made, true)
            }
        };
        if kind == Some(Kind::Link) {
            folder
                .remove_file(OsStr::new(".git"))
                .tried(|| self.looking())?;
        }
        folder
            .replace(".git", &admin.link(&self.repository))
            .tried(|| self.looking())?;
        if is_new {
            let head = self.head()?;
            let view = View::new(&self.repository, Some(&head)).await?;
            view.use_attributes().await?;
            self.write_index(&view, &head, &admin).await?;
        }
        Ok(Some(admin))
    }

    /// Gives a worktree the settings without which git finds no files in it.
    async fn give_settings(&self, admin: &Admin) -> Result<(), GitError> {
        let repository = &self.repository;
        let needs = repository.is_bare_for_all() || repository.names_files_for_all();
        let name = super::settings::FILE;
        let kind = admin.folder().kind(OsStr::new(name));
        if !needs || kind.tried(|| self.looking())?.is_some() {
            return Ok(());
        }
        match repository.settings_of_worktree(self.path()).await? {
            Some(settings) => admin
                .folder()
                .replace(name, &settings)
                .tried(|| self.looking()),
            None => Ok(()),
        }
    }

    /// Sees to it that the branch is there.
    async fn settle_branch(
        &self,
        admin: &Admin,
        noted: Option<&CommitId>,
    ) -> Result<Option<Finding>, GitError> {
        let head = self.repository.branch_head(&self.branch)?;
        let view = View::new(&self.repository, None).await?;
        let Some(head) = head else {
            let last = last_head(admin);
            let known = last.iter().chain(noted);
            let mut commit = None;
            for candidate in known {
                if commit.is_none() && view.has_commit(candidate).await? {
                    commit = Some(candidate.clone());
                }
            }
            if let Some(commit) = &commit {
                let name = self.branch.reference();
                self.repository.refs().update(&name, commit, None).await?;
            }
            let is_mended = commit.is_some();
            return Ok(Some(Finding {
                disorder: Disorder::BranchDeleted { commit },
                is_mended,
            }));
        };
        let Some(noted) = noted.filter(|noted| **noted != head) else {
            return Ok(None);
        };
        let has_all = view.has_commit(noted).await? && view.is_ancestor(noted, &head).await?;
        Ok((!has_all).then(|| {
            Finding::left(Disorder::BranchReset {
                former: noted.clone(),
            })
        }))
    }

    /// Puts the worktree back on its branch where everything that lies there is committed to
    /// something that stays.
    async fn settle_head(&self, admin: &Admin) -> Result<Option<Finding>, GitError> {
        let Some(own) = self.repository.branch_head(&self.branch)? else {
            return Ok(None);
        };
        let (disorder, at) = match branch_of(admin.folder())? {
            Some(branch) if branch == self.branch.as_str() => return Ok(None),
            Some(branch) => {
                let other = Branch::new(&branch).ok();
                let at = match &other {
                    Some(other) => self.repository.branch_head(other)?,
                    None => None,
                };
                (Disorder::OtherBranch { branch }, at)
            }
            None => {
                let commit = head_of(admin)?;
                let disorder = Disorder::DetachedHead {
                    commit: commit.clone(),
                };
                let commit = CommitId::new(&commit).ok();
                let at = match commit {
                    Some(commit) => self.kept_by(commit, &own).await?,
                    None => None,
                };
                (disorder, at)
            }
        };
        let Some(at) = at else {
            return Ok(Some(Finding::left(disorder)));
        };
        if !self.is_clean_at(&at).await? {
            return Ok(Some(Finding::left(disorder)));
        }
        self.note_pending(Some(&at), &own)?;
        let line = format!("ref: {}\n", self.branch.reference());
        admin
            .folder()
            .replace("HEAD", line.as_bytes())
            .tried(|| self.looking())?;
        self.finish_pending().await?;
        Ok(Some(Finding::mended(disorder)))
    }

    /// The commit, if the branch has it: no other ref is asked.
    async fn kept_by(
        &self,
        commit: CommitId,
        own: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let view = View::new(&self.repository, None).await?;
        let is_kept = view.has_commit(&commit).await? && view.is_ancestor(&commit, own).await?;
        Ok(is_kept.then_some(commit))
    }

    async fn is_clean_at(&self, commit: &CommitId) -> Result<bool, GitError> {
        let view = View::new(&self.repository, Some(commit)).await?;
        if !view.has_commit(commit).await? {
            return Ok(false);
        }
        let scan = scan(&view, commit, self.path()).await?;
        Ok(scan.changes.is_empty() && scan.refused.is_empty())
    }
}

/// What the head of a worktree is at by itself.
fn head_of(admin: &Admin) -> Result<String, GitError> {
    let text = admin.folder().read("HEAD", MAX_HEAD);
    let text = text.map_err(|error| GitError::tampered(format!("HEAD ({error})")))?;
    Ok(lossy(text.unwrap_or_default().trim_ascii()))
}

/// The commit that the head of a worktree came to last, by its log.
fn last_head(admin: &Admin) -> Option<CommitId> {
    let logs = admin.folder().child(OsStr::new("logs")).ok()?;
    let text = logs.read("HEAD", MAX_LOG).ok()??;
    let text = lossy(&text);
    let mut words = text.lines().last()?.split(' ');
    CommitId::new(words.nth(1)?).ok()
}
