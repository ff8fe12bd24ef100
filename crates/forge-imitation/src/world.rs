//! The repositories of an imitated forge and what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// When everything was merged that was.
pub(crate) const MERGED_AT: &str = "2026-01-31T12:00:00Z";

/// What became of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestState {
    /// Open.
    Open,
    /// Merged, at 2026-01-31T12:00:00Z.
    Merged,
    /// Closed without a merge.
    Closed,
}

/// A pull request as the imitation keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// The branch to merge.
    pub head: String,
    /// The branch to merge into.
    pub base: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Whether it was made as a draft: on GitLab and Gitea, whether its title says so.
    pub is_draft: bool,
    /// What became of it.
    pub state: PullRequestState,
    /// Its newest commit.
    pub head_sha: String,
    /// Whether it comes from another repository.
    pub is_from_fork: bool,
    pub(crate) head_repository: (u64, String),
}

/// How a check ended, or that it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has not ended.
    Pending,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

/// A check of a commit.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) sha: String,
    pub(crate) name: String,
    /// On GitHub, a commit status rather than a check run.
    pub(crate) is_status: bool,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) struct Repository {
    pub(crate) id: u64,
    pub(crate) full_name: String,
    pub(crate) former_names: Vec<String>,
    branches: BTreeMap<String, String>,
    git_folder: Option<PathBuf>,
    pub(crate) pulls: Vec<PullRequest>,
    pub(crate) checks: Vec<Check>,
    pub(crate) hides_checks: bool,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) repositories: Vec<Repository>,
    /// The most that a page of a list has.
    pub(crate) page_limit: Option<usize>,
    /// Whether a second pull request of the same branches is taken.
    pub(crate) takes_duplicates: bool,
}

/// Why a pull request is not made.
pub(crate) enum NotMade {
    NoHead,
    NoBase,
    NothingToMerge,
    Exists(u64),
}

/// What a pull request is to be.
pub(crate) struct Draft {
    pub(crate) head: String,
    pub(crate) base: String,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) is_draft: bool,
}

impl World {
    pub(crate) fn add(&mut self, full_name: &str, git_folder: Option<PathBuf>) {
        let id = 1000 + self.repositories.len() as u64;
        self.repositories.push(Repository {
            id,
            full_name: full_name.to_owned(),
            former_names: Vec::new(),
            branches: BTreeMap::new(),
            git_folder,
            pulls: Vec::new(),
            checks: Vec::new(),
            hides_checks: false,
        });
    }

    pub(crate) fn find(&mut self, full_name: &str) -> Option<&mut Repository> {
        let mut repositories = self.repositories.iter_mut();
        repositories.find(|it| it.full_name.eq_ignore_ascii_case(full_name))
    }
}

impl Repository {
    pub(crate) fn set_branch(&mut self, branch: &str, sha: &str) {
        self.branches.insert(branch.to_owned(), sha.to_owned());
    }

    pub(crate) fn remove_branch(&mut self, branch: &str) {
        self.branches.remove(branch);
    }

    /// The newest commit of a branch.
    pub(crate) fn tip(&self, branch: &str) -> Option<String> {
        let Some(folder) = &self.git_folder else {
            return self.branches.get(branch).cloned();
        };
        let name = format!("refs/heads/{branch}");
        if let Ok(sha) = fs::read_to_string(folder.join(&name)) {
            return Some(sha.trim().to_owned());
        }
        let packed = fs::read_to_string(folder.join("packed-refs")).ok()?;
        let mut packed = packed.lines().filter_map(|line| line.split_once(' '));
        let (sha, _) = packed.find(|(_, packed)| *packed == name)?;
        Some(sha.to_owned())
    }

    /// Open pull requests follow their branches.
    pub(crate) fn refresh(&mut self) {
        let mut pulls = std::mem::take(&mut self.pulls);
        for pull in &mut pulls {
            let is_ours = !pull.is_from_fork && pull.state == PullRequestState::Open;
            if let Some(tip) = is_ours.then(|| self.tip(&pull.head)).flatten() {
                pull.head_sha = tip;
            }
        }
        self.pulls = pulls;
    }

    pub(crate) fn pull(&mut self, number: u64) -> Option<&mut PullRequest> {
        self.pulls.iter_mut().find(|pull| pull.number == number)
    }

    pub(crate) fn make(
        &mut self,
        draft: Draft,
        takes_duplicates: bool,
    ) -> Result<PullRequest, NotMade> {
        let head_sha = self.tip(&draft.head).ok_or(NotMade::NoHead)?;
        let base_sha = self.tip(&draft.base).ok_or(NotMade::NoBase)?;
        if head_sha == base_sha {
            return Err(NotMade::NothingToMerge);
        }
        let other = self.pulls.iter().find(|pull| {
            let is_open = pull.state == PullRequestState::Open && !pull.is_from_fork;
            is_open && pull.head == draft.head && pull.base == draft.base
        });
        if let Some(other) = other.filter(|_| !takes_duplicates) {
            return Err(NotMade::Exists(other.number));
        }
        let own = (self.id, self.full_name.clone());
        Ok(self.push(draft, own, head_sha).clone())
    }

    /// A pull request from another repository, of which nothing is checked.
    pub(crate) fn push_from_fork(&mut self, draft: Draft, fork: &str, head_sha: &str) -> u64 {
        let fork = (self.id + 500, fork.to_owned());
        self.push(draft, fork, head_sha.to_owned()).number
    }

    fn push(
        &mut self,
        draft: Draft,
        head_repository: (u64, String),
        head_sha: String,
    ) -> &PullRequest {
        let number = self.pulls.len() as u64 + 1;
        self.pulls.push(PullRequest {
            number,
            head: draft.head,
            base: draft.base,
            title: draft.title,
            body: draft.body,
            is_draft: draft.is_draft,
            state: PullRequestState::Open,
            head_sha,
            is_from_fork: head_repository.0 != self.id,
            head_repository,
        });
        &self.pulls[self.pulls.len() - 1]
    }

    /// What is checked of a commit.
    pub(crate) fn checks_of<'a>(&'a self, sha: &'a str) -> impl Iterator<Item = &'a Check> {
        self.checks.iter().filter(move |check| check.sha == sha)
    }

    /// Replaces the check of the same name.
    pub(crate) fn set_check(&mut self, check: Check) {
        let same = |it: &&mut Check| it.sha == check.sha && it.name == check.name;
        match self.checks.iter_mut().find(same) {
            Some(old) => *old = check,
            None => self.checks.push(check),
        }
    }
}
