//! GitLab: <https://docs.gitlab.com/api/rest/>.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Told, Wanted, body, encoded, failed_check, title, unless_hidden};
use crate::address::RepositoryAddress;
use crate::api::{Api, Memory, has_next_page};
use crate::error::ForgeError;
use crate::pull_request::{
    Checks, ChecksState, FailedCheck, NewPullRequest, PullRequest, PullRequestState,
};

const PER_PAGE: u32 = 100;
/// What marks a title as that of a draft.
const DRAFT: &str = "Draft: ";

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    web_url: String,
    state: String,
    title: String,
    #[serde(default)]
    draft: bool,
    merged_at: Option<String>,
    /// None until GitLab has looked at the branch.
    sha: Option<String>,
    source_branch: String,
    target_branch: String,
    /// None if the fork is gone.
    source_project_id: Option<u64>,
    target_project_id: u64,
    /// Only where one merge request is asked for.
    head_pipeline: Option<Pipeline>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pipeline {
    id: u64,
    status: String,
    web_url: Option<String>,
}

#[derive(Deserialize)]
struct Job {
    name: String,
    web_url: Option<String>,
    #[serde(default)]
    allow_failure: bool,
}

/// The open merge requests that are wanted; all of them with a commit.
pub(crate) fn list(
    api: &Api,
    wanted: &Wanted<'_>,
    head_sha: Option<&str>,
) -> Result<Vec<PullRequest>, ForgeError> {
    let state = if head_sha.is_some() { "all" } else { "opened" };
    let (head, base) = (encoded(wanted.head), encoded(wanted.base));
    let mut found = Vec::new();
    for page in 1..=api.pages() {
        let path = format!(
            "{}/merge_requests?state={state}&scope=all&source_branch={head}&target_branch={base}\
             &per_page={PER_PAGE}&page={page}",
            path_of(wanted.repository)
        );
        let (requests, headers) = api.get::<Vec<MergeRequest>>(&path)?;
        let requests = requests.into_iter();
        for request in requests.filter(|request| request.is_one_of(wanted)) {
            found.push(request.checked(api, wanted.repository)?);
        }
        if !has_next_page(&headers) {
            break;
        }
    }
    Ok(found)
}

/// Makes a merge request.
pub(crate) fn create(
    api: &Api,
    wanted: &Wanted<'_>,
    new: &NewPullRequest,
) -> Result<PullRequest, ForgeError> {
    let document = json!({
        "title": title(&new.title, new.draft.then_some(DRAFT)),
        "source_branch": wanted.head,
        "target_branch": wanted.base,
        "description": body(&new.body),
    });
    let path = format!("{}/merge_requests", path_of(wanted.repository));
    let request: MergeRequest = api.post(&path, &document)?;
    request.checked(api, wanted.repository)
}

/// A merge request, and its newest pipeline.
pub(crate) fn look(
    api: &Api,
    repository: &RepositoryAddress,
    number: u64,
    memory: &mut Memory<'_>,
) -> Result<(PullRequest, Checks), ForgeError> {
    let root = path_of(repository);
    let path = format!("{root}/merge_requests/{number}");
    let (request, pipeline) = api.get_known(&path, memory, |request: MergeRequest, _| {
        let pipeline = request.head_pipeline.clone();
        Ok((request.checked(api, repository)?, pipeline))
    })?;
    let Some(pipeline) = pipeline else {
        return Ok((request, Checks::only(ChecksState::None)));
    };
    let mut checks = Checks::only(pipeline.state());
    if checks.state == ChecksState::Failed {
        checks.failed = failed_jobs(api, &root, &pipeline, memory)?;
    }
    Ok((request, checks))
}

/// The jobs by which a pipeline failed; the pipeline itself where none tells.
fn failed_jobs(
    api: &Api,
    root: &str,
    pipeline: &Pipeline,
    memory: &mut Memory<'_>,
) -> Result<Vec<FailedCheck>, ForgeError> {
    let path = format!(
        "{root}/pipelines/{}/jobs?scope%5B%5D=failed&per_page={PER_PAGE}",
        pipeline.id
    );
    let jobs = api.get_known(&path, memory, |jobs: Vec<Job>, _| {
        let jobs = jobs.iter().filter(|job| !job.allow_failure);
        let failed = jobs.map(|job| failed_check(&job.name, job.web_url.as_deref()));
        Ok(Checks {
            state: ChecksState::Failed,
            failed: failed.take(Checks::MAX_FAILED).collect(),
        })
    });
    let mut failed = unless_hidden(jobs)?.failed;
    if failed.is_empty() {
        failed.push(failed_check("pipeline", pipeline.web_url.as_deref()));
    }
    Ok(failed)
}

/// GitLab takes a whole path in the place of a project's number.
fn path_of(repository: &RepositoryAddress) -> String {
    format!("/projects/{}", encoded(&repository.full_name()))
}

impl MergeRequest {
    /// A branch of a fork may have the same name.
    fn is_one_of(&self, wanted: &Wanted<'_>) -> bool {
        let is_of_one_project = self.source_project_id == Some(self.target_project_id);
        is_of_one_project && wanted.fits(&self.source_branch, &self.target_branch)
    }

    fn checked(self, api: &Api, repository: &RepositoryAddress) -> Result<PullRequest, ForgeError> {
        let state = match self.state.as_str() {
            // Locked while it is being merged.
            "opened" | "locked" => PullRequestState::Open,
            "merged" => PullRequestState::Merged,
            "closed" => PullRequestState::Closed,
            _ => return Err(api.unexpected("the state of the merge request is not known")),
        };
        let told = Told {
            number: self.iid,
            url: &self.web_url,
            state,
            is_draft: self.draft,
            head_sha: self.sha.as_deref().unwrap_or_default(),
            head_branch: &self.source_branch,
            base_branch: &self.target_branch,
            title: &self.title,
            merged_at: self.merged_at.as_deref(),
        };
        told.checked(api, repository)
    }
}

impl Pipeline {
    fn state(&self) -> ChecksState {
        match self.status.as_str() {
            "success" | "skipped" => ChecksState::Passed,
            "failed" | "canceled" | "canceling" => ChecksState::Failed,
            // `manual` waits for somebody who starts it.
            "created"
            | "waiting_for_resource"
            | "waiting_for_callback"
            | "preparing"
            | "pending"
            | "running"
            | "scheduled"
            | "manual" => ChecksState::Pending,
            _ => ChecksState::Unknown,
        }
    }
}
