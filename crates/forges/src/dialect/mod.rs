//! What the forges call things, each in a module of its own with the same four functions'
//! shape: list, create and look.

pub(crate) mod gitea;
pub(crate) mod github;
pub(crate) mod gitlab;
mod statuses;

use serde::Deserialize;
use ureq::http::Uri;
use workforce_domain::forge::ForgeKind;
use workforce_domain::time::Timestamp;

use crate::address::RepositoryAddress;
use crate::api::Api;
use crate::config::Origin;
use crate::error::ForgeError;
use crate::kind::pull_request_segment;
use crate::pull_request::{Checks, ChecksState, FailedCheck, PullRequest, PullRequestState};

/// How a forge calls a repository.
#[derive(Deserialize)]
struct Named {
    #[serde(alias = "path_with_namespace")]
    full_name: String,
}

/// Where a repository is now, as the forge leads there.
pub(crate) fn whereabouts(
    api: &Api,
    repository: &RepositoryAddress,
) -> Result<RepositoryAddress, ForgeError> {
    let path = match api.kind {
        ForgeKind::GitHub | ForgeKind::Gitea => format!(
            "/repos/{}/{}",
            encoded(repository.owner()),
            encoded(repository.name())
        ),
        ForgeKind::GitLab => format!("/projects/{}", encoded(&repository.full_name())),
    };
    let (found, _) = api.get::<Named>(&path)?;
    let place = repository.renamed(&found.full_name);
    place.ok_or_else(|| api.unexpected("the name of the repository is none"))
}

/// What all three forges take.
const MAX_TITLE: usize = 255;
/// What all three forges take.
const MAX_BODY: usize = 65_000;
/// So much of a title is told.
const SHOWN_TITLE: usize = 1000;
/// So much of a check's name is told.
const SHOWN_NAME: usize = 200;
/// Longer addresses are not told.
const MAX_URL: usize = 2000;

/// Which pull requests are looked for.
pub(crate) struct Wanted<'a> {
    pub(crate) repository: &'a RepositoryAddress,
    pub(crate) head: &'a str,
    pub(crate) base: &'a str,
}

impl<'a> Wanted<'a> {
    /// # Errors
    ///
    /// When a name is none that a branch can have. On GitHub a colon would name a fork.
    pub(crate) fn of(
        repository: &'a RepositoryAddress,
        head: &'a str,
        base: &'a str,
    ) -> Result<Self, ForgeError> {
        for branch in [head, base] {
            let is_odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
            if branch.is_empty() || branch.len() > 1024 || branch.contains(is_odd) {
                let text = "the name of a branch is missing or not allowed";
                return Err(ForgeError::Invalid(text.to_owned()));
            }
        }
        Ok(Self {
            repository,
            head,
            base,
        })
    }

    /// Whether a pull request is of these branches.
    pub(crate) fn fits(&self, head: &str, base: &str) -> bool {
        head == self.head && base == self.base
    }
}

/// A pull request in the words of its forge.
struct Told<'a> {
    number: u64,
    url: &'a str,
    state: PullRequestState,
    is_draft: bool,
    head_sha: &'a str,
    head_branch: &'a str,
    base_branch: &'a str,
    title: &'a str,
    merged_at: Option<&'a str>,
}

impl Told<'_> {
    fn checked(self, api: &Api, repository: &RepositoryAddress) -> Result<PullRequest, ForgeError> {
        let is_sha = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.head_sha.len() > 64 || !is_sha(self.head_sha) {
            return Err(api.unexpected("the newest commit has no SHA"));
        }
        let merged_at = match self.merged_at {
            Some(text) => Some(
                Timestamp::parse(text)
                    .map_err(|_invalid| api.unexpected("the time of the merge is none"))?,
            ),
            None => None,
        };
        Ok(PullRequest {
            number: self.number,
            url: web_address(api, repository, self.number, self.url),
            state: self.state,
            is_draft: self.is_draft,
            head_sha: self.head_sha.to_ascii_lowercase(),
            head_branch: self.head_branch.to_owned(),
            base_branch: self.base_branch.to_owned(),
            title: cut(self.title, SHOWN_TITLE),
            merged_at,
        })
    }
}

/// The page of a pull request. One on a host that has nothing to do with the repository is
/// replaced: people follow it.
fn web_address(api: &Api, repository: &RepositoryAddress, number: u64, told: &str) -> String {
    let origin = told.parse::<Uri>().ok().and_then(|uri| Origin::of(&uri));
    let is_ours = origin.is_some_and(|origin| {
        let host = origin.host();
        repository.is_on(host) || api.host() == host || api.origin().host() == host
    });
    if is_ours && told.len() <= MAX_URL {
        return told.to_owned();
    }
    let is_plain = repository.is_plain() || api.origin().is_plain();
    let scheme = if is_plain { "http" } else { "https" };
    let segment = pull_request_segment(api.kind);
    let name = repository.full_name();
    format!("{scheme}://{}/{name}/{segment}/{number}", api.host())
}

/// A failed check, with its page if that is one.
fn failed_check(name: &str, url: Option<&str>) -> FailedCheck {
    let is_page = |url: &&str| {
        let uri = url.parse::<Uri>().ok();
        url.len() <= MAX_URL && uri.is_some_and(|uri| Origin::of(&uri).is_some())
    };
    FailedCheck {
        name: cut(name, SHOWN_NAME),
        url: url.filter(is_page).map(str::to_owned),
    }
}

/// Checks that the token may not see are unknown.
fn unless_hidden(checks: Result<Checks, ForgeError>) -> Result<Checks, ForgeError> {
    match checks {
        Err(ForgeError::Unauthorized(_) | ForgeError::NotFound(_)) => {
            Ok(Checks::only(ChecksState::Unknown))
        }
        told => told,
    }
}

/// At most so many characters of a text.
fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// A title, marked as a draft by words in front.
fn title(title: &str, draft_mark: Option<&str>) -> String {
    let title = title.trim();
    let is_marked = |mark: &str| {
        let start = title.get(..mark.trim_end().len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(mark.trim_end()))
    };
    match draft_mark {
        Some(mark) if !is_marked(mark) => cut(&format!("{mark}{title}"), MAX_TITLE),
        _ => cut(title, MAX_TITLE),
    }
}

fn body(body: &str) -> String {
    cut(body, MAX_BODY)
}

/// A text as one segment of a path, or as a value in a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for half in [byte >> 4, byte & 15] {
                encoded.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
    encoded
}
