//! Gitea and Forgejo: the page `/api/swagger` of each of them.

use serde::Deserialize;
use serde_json::json;

use super::github::all_pages;
use super::statuses::StatusPage;
use super::{Told, Wanted, body, encoded, title, unless_hidden};
use crate::address::RepositoryAddress;
use crate::api::{Api, Memory, has_next_page};
use crate::error::ForgeError;
use crate::pull_request::{Checks, ChecksState, NewPullRequest, PullRequest, PullRequestState};

/// The most that a server gives without being told otherwise.
const PER_PAGE: u32 = 50;
/// What marks a title as that of a draft on every server that nobody told otherwise.
const DRAFT: &str = "WIP: ";
/// Of pull requests that ended so many pages are looked at, the last changed first.
const ENDED_PAGES: u32 = 2;

#[derive(Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    state: String,
    title: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    merged: bool,
    merged_at: Option<String>,
    head: Branch,
    base: Branch,
}

#[derive(Deserialize)]
struct Branch {
    /// The name of the branch, as it was when the pull request was made.
    label: String,
    sha: String,
    /// -1 if the fork is gone.
    repo_id: i64,
}

/// The open pull requests that are wanted; with a commit also those that ended lately.
///
/// The servers differ in what they filter by, so that all are read that are open.
pub(crate) fn list(
    api: &Api,
    wanted: &Wanted<'_>,
    head_sha: Option<&str>,
) -> Result<Vec<PullRequest>, ForgeError> {
    let mut found = pages(api, wanted, "open", api.pages())?;
    if found.is_empty() && head_sha.is_some() {
        found = pages(api, wanted, "closed", ENDED_PAGES.min(api.pages()))?;
    }
    Ok(found)
}

fn pages(
    api: &Api,
    wanted: &Wanted<'_>,
    state: &str,
    pages: u32,
) -> Result<Vec<PullRequest>, ForgeError> {
    let mut found = Vec::new();
    for page in 1..=pages {
        let path = format!(
            "{}/pulls?state={state}&sort=recentupdate&limit={PER_PAGE}&page={page}",
            path_of(wanted.repository)
        );
        let (pulls, headers) = api.get::<Vec<Pull>>(&path)?;
        for pull in pulls.into_iter().filter(|pull| pull.is_one_of(wanted)) {
            found.push(pull.checked(api, wanted.repository)?);
        }
        if !has_next_page(&headers) {
            break;
        }
    }
    Ok(found)
}

/// Makes a pull request.
pub(crate) fn create(
    api: &Api,
    wanted: &Wanted<'_>,
    new: &NewPullRequest,
) -> Result<PullRequest, ForgeError> {
    let document = json!({
        "title": title(&new.title, new.draft.then_some(DRAFT)),
        "head": wanted.head,
        "base": wanted.base,
        "body": body(&new.body),
    });
    let path = format!("{}/pulls", path_of(wanted.repository));
    let pull: Pull = api.post(&path, &document)?;
    pull.checked(api, wanted.repository)
}

/// A pull request, and the statuses of its newest commit.
pub(crate) fn look(
    api: &Api,
    repository: &RepositoryAddress,
    number: u64,
    memory: &mut Memory<'_>,
) -> Result<(PullRequest, Checks), ForgeError> {
    let root = path_of(repository);
    let path = format!("{root}/pulls/{number}");
    let pull = api.get_known(&path, memory, |pull: Pull, _| pull.checked(api, repository))?;
    if pull.head_sha.is_empty() {
        return Ok((pull, Checks::only(ChecksState::Unknown)));
    }
    let statuses = format!("{root}/commits/{}/status?limit={PER_PAGE}", pull.head_sha);
    let checks = all_pages(api, &statuses, memory, StatusPage::checks);
    Ok((pull, unless_hidden(checks)?))
}

fn path_of(repository: &RepositoryAddress) -> String {
    let owner = encoded(repository.owner());
    format!("/repos/{owner}/{}", encoded(repository.name()))
}

impl Pull {
    /// A branch of a fork may have the same name.
    fn is_one_of(&self, wanted: &Wanted<'_>) -> bool {
        let is_of_one_repository = self.head.repo_id == self.base.repo_id;
        is_of_one_repository && wanted.fits(&self.head.label, &self.base.label)
    }

    fn checked(self, api: &Api, repository: &RepositoryAddress) -> Result<PullRequest, ForgeError> {
        let state = match self.state.as_str() {
            _ if self.merged || self.merged_at.is_some() => PullRequestState::Merged,
            "open" => PullRequestState::Open,
            "closed" => PullRequestState::Closed,
            _ => return Err(api.unexpected("the pull request is neither open nor closed")),
        };
        let told = Told {
            number: self.number,
            url: &self.html_url,
            state,
            is_draft: self.draft,
            head_sha: &self.head.sha,
            head_branch: &self.head.label,
            base_branch: &self.base.label,
            title: &self.title,
            merged_at: self.merged_at.as_deref(),
        };
        told.checked(api, repository)
    }
}
