//! What lies outside of the store for an approval: repositories, worktrees and their differences.

use serde::Deserialize;
use workforce_app::tickets::WorktreeView;
use workforce_domain::actor::CompanyOwned as _;
use workforce_domain::approval::Approval;
use workforce_domain::execution_workspace::{CommitFacts, DiffRequest};
use workforce_domain::port::Preflight;
use workforce_domain::time::Timestamp;
use workforce_http::door::Visit;

use crate::html::diff::{Diff, Wanted};
use crate::html::status::Pill;
use crate::html::when::Ago;

/// So many commits are told.
const COMMITS: usize = 20;

/// Which of the differences are wanted, as the address says it.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Part {
    file: Option<usize>,
    from: usize,
}

impl Part {
    pub(crate) fn of(visit: &Visit) -> Self {
        serde_html_form::from_str(visit.query()).unwrap_or_default()
    }
}

/// A commit.
pub(crate) struct Commit {
    pub(crate) short: String,
    pub(crate) subject: String,
    pub(crate) author: String,
    pub(crate) at: Ago,
}

/// A worktree, and what it changes.
pub(crate) struct Work {
    pub(crate) view: WorktreeView,
    pub(crate) commits: Vec<Commit>,
    pub(crate) ahead: u64,
    pub(crate) behind: u64,
    /// Files that are not committed.
    pub(crate) uncommitted: usize,
    pub(crate) diff: Diff,
    /// Whether there is more than git was asked for.
    pub(crate) is_cut: bool,
    /// Files that would not be committed, and why.
    pub(crate) refused: Vec<(String, String)>,
    /// Why it cannot be looked at.
    pub(crate) problem: Option<String>,
}

impl Work {
    /// Looks at a worktree, but not at what it changes.
    pub(crate) async fn without_diff(visit: &Visit, view: WorktreeView) -> Self {
        let mut work = Self::unread(view);
        if work.view.is_ready() {
            work.read_state(visit).await;
        }
        work
    }

    /// Looks at a worktree. What does not fit on the page is shown under `link`.
    pub(crate) async fn read(visit: &Visit, view: WorktreeView, link: &str) -> Self {
        let mut work = Self::unread(view);
        if work.view.is_ready() {
            work.read_state(visit).await;
            if work.problem.is_none() {
                work.read_diff(visit, link).await;
            }
        }
        work
    }

    /// What the checks of the pull request say; `None` where there are none.
    pub(crate) fn checks(&self) -> Option<Pill> {
        self.view.checks.and_then(Pill::of_checks)
    }

    fn unread(view: WorktreeView) -> Self {
        Self {
            commits: Vec::new(),
            ahead: 0,
            behind: 0,
            uncommitted: 0,
            diff: Diff::default(),
            is_cut: false,
            refused: Vec::new(),
            problem: None,
            view,
        }
    }

    async fn read_state(&mut self, visit: &Visit) {
        let (company, id) = (self.view.record.scope(), self.view.record.id);
        match visit.worktree_state(company, id).await {
            Ok(state) => {
                let commits = state.commits.iter().take(COMMITS);
                self.commits = commits.map(|it| commit(it, visit.now())).collect();
                (self.ahead, self.behind) = (state.ahead, state.behind);
                self.uncommitted = state.total_changed_files;
                let refused = state.refused_files.into_iter();
                self.refused = refused.map(|it| (it.path, it.reason)).collect();
            }
            Err(problem) => self.problem = Some(problem.detail().to_owned()),
        }
    }

    async fn read_diff(&mut self, visit: &Visit, link: &str) {
        let (company, id) = (self.view.record.scope(), self.view.record.id);
        let request = DiffRequest {
            patch_bytes: DiffRequest::MAX_BYTES,
            committed_only: false,
        };
        match visit.worktree_diff(company, id, request).await {
            Ok(found) => {
                let Part { file, from } = Part::of(visit);
                self.diff = Diff::read(&found.patch, Wanted { file, from }, link);
                self.is_cut = found.truncated;
            }
            Err(problem) => self.problem = Some(problem.detail().to_owned()),
        }
    }
}

fn commit(facts: &CommitFacts, now: Timestamp) -> Commit {
    let at = Timestamp::from_micros(facts.time.saturating_mul(1_000_000));
    Commit {
        short: facts.commit.chars().take(8).collect(),
        subject: facts.subject.clone(),
        author: facts.author.clone(),
        at: Ago::new(at, now),
    }
}

/// What approving a plan would find in one repository.
pub(super) struct Repository {
    pub(super) found: Preflight,
    /// What stands against it.
    pub(super) faults: Vec<String>,
}

impl Repository {
    /// Looks at the repositories of a plan.
    pub(super) async fn all(
        visit: &Visit,
        plan: &Approval,
    ) -> Result<Vec<Self>, workforce_http::problem::Problem> {
        let found = visit.preflight(plan.scope(), plan.id).await?;
        Ok(found.into_iter().map(Self::of).collect())
    }

    fn of(found: Preflight) -> Self {
        let mut faults: Vec<String> = found.error.iter().cloned().collect();
        if found.error.is_none() {
            // What a repository that is fetched only then shows first is not known yet.
            if !found.base_exists && found.base_branch.is_some() {
                faults.push("Its base branch does not exist.".to_owned());
            }
            if !found.branch_ok {
                faults.push("Another branch is checked out in the source repository.".to_owned());
            }
            if !found.clean {
                faults.push("The source repository has changes of its own.".to_owned());
            }
        }
        Self { found, faults }
    }

    /// Whether the board may approve although something is wrong.
    pub(super) const fn can_be_forced(&self) -> bool {
        let found = &self.found;
        found.error.is_none() && found.base_exists && !(found.clean && found.branch_ok)
    }
}
