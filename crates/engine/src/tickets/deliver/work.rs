//! What an agent did in a worktree is committed and brought up to its base branch.

use serde_json::json;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{AgentId, ApprovalId, RunId};
use workforce_domain::issue::Issue;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_git::{
    Branch, CommitId, CommitMessage, CommitOutcome, MergeOutcome, Remote, Repository, Worktree,
};

use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git, unsafe_files};
use crate::tickets::leases::attempt::Done;
use crate::tickets::repository::remotes::{fetched_from, pushed_to};
use crate::tickets::repository::source::{branch, missing_base, no_branch};
use crate::tickets::settings::{TicketSettings, identity};

/// So many conflicting paths are named.
const NAMED: usize = 50;

/// Whose work it is, and for what: what a commit says.
#[derive(Clone, Debug)]
pub(in crate::tickets) struct Credit {
    /// The agent that the issue is assigned to.
    pub(super) agent: Option<(AgentId, String)>,
    /// The run that worked in the worktree last.
    pub(super) run: Option<RunId>,
    /// The approval that is carried out.
    pub(super) approval: Option<ApprovalId>,
}

impl Credit {
    fn message(&self, settings: &TicketSettings, issue: &Issue, subject: &str) -> CommitMessage {
        let own = &settings.identity;
        let committer = identity(&own.name, &own.mail);
        let author = match &self.agent {
            Some((id, name)) => identity(name, &format!("{id}@agents.workforce.invalid")),
            None => committer.clone(),
        };
        let mut text = format!("{subject}\n\nWorkforce-Issue: {}\n", issue.identifier);
        if let Some((id, _)) = &self.agent {
            text.push_str(&format!("Workforce-Agent: {id}\n"));
        }
        if let Some(run) = self.run {
            text.push_str(&format!("Workforce-Run: {run}\n"));
        }
        if let Some(approval) = self.approval {
            text.push_str(&format!("Workforce-Approval: {approval}\n"));
        }
        CommitMessage {
            text,
            author,
            committer,
        }
    }
}

/// Commits all that is not committed yet.
pub(super) async fn commit(
    settings: &TicketSettings,
    worktree: &Worktree,
    issue: &Issue,
    credit: &Credit,
) -> Result<Done<CommitId>, StepFailure> {
    let step = ExecutionStep::Commit;
    let subject = format!("{}: {}", issue.identifier, &*issue.title);
    let message = credit.message(settings, issue, &subject);
    let outcome = worktree
        .commit(&message)
        .await
        .map_err(|error| of_git(step, &error))?;
    let (commit, is_new) = match outcome {
        CommitOutcome::Committed(commit) => (commit, true),
        CommitOutcome::Nothing(head) => (head, false),
        CommitOutcome::Refused(files) => return Err(unsafe_files(step, &files)),
    };
    let result = json!({ "commit": commit.as_str(), "created": is_new });
    Ok(with_head(commit, result))
}

fn with_head(commit: CommitId, result: serde_json::Value) -> Done<CommitId> {
    let head = commit.as_str().to_owned();
    Done {
        value: commit,
        result,
        note: Box::new(move |worktree| worktree.head_commit = Some(head.clone())),
    }
}

/// The branch of a ticket that has all of its base branch.
#[derive(Debug)]
pub(in crate::tickets) struct Synced {
    /// Its head.
    pub(in crate::tickets) head: CommitId,
    /// The head of the base branch.
    pub(in crate::tickets) base: CommitId,
    /// What others pushed to the branch of the ticket.
    pub(in crate::tickets) theirs: Option<CommitId>,
}

/// Merges the base branch, and what others pushed to the branch of the ticket.
pub(in crate::tickets) async fn sync(
    state: &EngineState,
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    issue: &Issue,
    credit: &Credit,
) -> Result<Done<Synced>, StepFailure> {
    let step = ExecutionStep::Sync;
    let repository = worktree.repository();
    let base = branch(&record.base_branch)?;
    let from = fetched_from(state, record, step).await?;
    let base_head = head_of(repository, &base, from.as_ref(), step).await?;
    let mut merged = vec![(base.as_str().to_owned(), base_head.clone())];
    let mut theirs = None;
    if let Some(remote) = pushed_to(state, record, step).await? {
        let own = branch(&record.branch)?;
        let found = repository.fetch(&remote, &own).await;
        theirs = found.map_err(|error| of_git(step, &error))?;
        let found = theirs.clone();
        merged.extend(found.map(|head| (own.as_str().to_owned(), head)));
    }
    check_commits(record, worktree, &merged, step).await?;
    for (name, head) in &merged {
        let subject = format!("Merge {name} into {}", record.branch);
        let message = credit.message(&state.config.tickets, issue, &subject);
        let outcome = worktree.merge(head, &message).await;
        match outcome.map_err(|error| of_git(step, &error))? {
            MergeOutcome::Merged(_) | MergeOutcome::UpToDate => {}
            MergeOutcome::Conflict(paths) => return Err(conflict(record, name, &paths)),
            MergeOutcome::Refused(files) => return Err(unsafe_files(step, &files)),
        }
    }
    let head = worktree.head().map_err(|error| of_git(step, &error))?;
    let result = json!({
        "commit": head.as_str(),
        "baseBranch": base.as_str(),
        "baseCommit": base_head.as_str(),
    });
    let noted = head.as_str().to_owned();
    Ok(Done {
        value: Synced {
            head,
            base: base_head,
            theirs,
        },
        result,
        note: Box::new(move |worktree| {
            worktree.head_commit = Some(noted.clone());
            worktree.conflict_wakes = 0;
        }),
    })
}

/// Refuses what an agent committed itself and workforce would not have: what others
/// have already is left out. The base branch comes first in `merged`.
async fn check_commits(
    record: &ExecutionWorkspace,
    worktree: &Worktree,
    merged: &[(String, CommitId)],
    step: ExecutionStep,
) -> Result<(), StepFailure> {
    let of_git = |error| of_git(step, &error);
    let started = [&record.base_commit, &record.pushed_commit].into_iter();
    let started = started.flatten();
    let started = started.filter_map(|commit| CommitId::new(commit.as_str()).ok());
    let merged = merged.iter().map(|(_, head)| head.clone());
    let known: Vec<CommitId> = merged.chain(started).collect();
    let head = worktree.head().map_err(of_git)?;
    let refused = worktree.refused_in_commits(&known, &head).await;
    let refused = refused.map_err(of_git)?;
    match refused.is_empty() {
        true => Ok(()),
        false => Err(unsafe_files(step, &refused)),
    }
}

/// The head of a branch at the remote, and without a remote in the repository itself.
pub(super) async fn head_of(
    repository: &Repository,
    branch: &Branch,
    remote: Option<&Remote>,
    step: ExecutionStep,
) -> Result<CommitId, StepFailure> {
    let of_git = |error| of_git(step, &error);
    let found = match remote {
        Some(remote) => repository.fetch(remote, branch).await.map_err(of_git)?,
        None => repository.branch_head(branch).map_err(of_git)?,
    };
    found.ok_or_else(|| {
        let name = branch.as_str();
        missing_base(no_branch(name, remote), name)
    })
}

fn conflict(record: &ExecutionWorkspace, with: &str, paths: &[String]) -> StepFailure {
    let named: Vec<&String> = paths.iter().take(NAMED).collect();
    let facts = json!({
        "paths": named,
        "total": paths.len(),
        "branch": record.branch,
        "baseBranch": with,
        "executionWorkspaceId": record.id,
    });
    let message = format!(
        "{with} and {} changed the same in {} files",
        record.branch,
        paths.len()
    );
    failure(ExecutionStep::Sync, StepFault::SyncConflict, message, facts)
}
