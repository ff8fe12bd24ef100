use std::fmt;
use std::sync::Arc;

use workforce_domain::forge::ForgeKind;

use crate::address::RepositoryAddress;
use crate::api::{Api, Memory};
use crate::dialect::{self, Wanted, gitea, github, gitlab};
use crate::error::ForgeError;
use crate::pull_request::{NewPullRequest, PullRequest, PullRequestState, Snapshot};
use crate::token::Token;
use crate::turns::Turns;
use crate::validators::{Validators, Watched};

/// A forge, and the token with which it is asked. A clone asks with the same one.
#[derive(Clone)]
pub struct Forge {
    api: Api,
    is_named: bool,
    turns: Arc<Turns>,
}

impl Forge {
    pub(crate) const fn new(api: Api, is_named: bool, turns: Arc<Turns>) -> Self {
        Self {
            api,
            is_named,
            turns,
        }
    }

    /// Whether the operator named it, or it has a token: nobody else makes pull requests.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.is_named || self.has_token()
    }

    /// Which interface it speaks.
    #[must_use]
    pub const fn kind(&self) -> ForgeKind {
        self.api.kind
    }

    /// Whether it is asked with a token.
    #[must_use]
    pub const fn has_token(&self) -> bool {
        self.api.has_token()
    }

    /// User and password with which git reaches the repositories of this forge over HTTP;
    /// `None` without a token. Never write them anywhere.
    #[must_use]
    pub fn git_password(&self) -> Option<(&'static str, String)> {
        let user = match self.api.kind {
            ForgeKind::GitHub => "x-access-token",
            ForgeKind::GitLab => "oauth2",
            ForgeKind::Gitea => "token",
        };
        let token = self.api.token()?;
        Some((user, token.reveal().to_owned()))
    }

    /// The same forge, asked with another token.
    #[must_use]
    pub fn with_token(self, token: Token) -> Self {
        Self {
            api: self.api.with_token(token),
            is_named: self.is_named,
            turns: self.turns,
        }
    }

    /// The open pull request of exactly these branches of one repository; those of forks are
    /// left out. The one with the lowest number if there should be several.
    ///
    /// # Errors
    ///
    /// See [`ForgeError`].
    pub fn find_open(
        &self,
        repository: &RepositoryAddress,
        head: &str,
        base: &str,
    ) -> Result<Option<PullRequest>, ForgeError> {
        let wanted = Wanted::of(repository, head, base)?;
        let found = self.list(&wanted, None)?;
        Ok(first_open(found))
    }

    /// Makes a pull request, once and without looking for another. After
    /// [`ForgeError::Unavailable`] and [`ForgeError::Unexpected`] it may be there all the same.
    ///
    /// # Errors
    ///
    /// See [`ForgeError`].
    pub fn create(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let wanted = Wanted::of(&new.repository, &new.head, &new.base)?;
        match self.api.kind {
            ForgeKind::GitHub => github::create(&self.api, &wanted, new),
            ForgeKind::GitLab => gitlab::create(&self.api, &wanted, new),
            ForgeKind::Gitea => gitea::create(&self.api, &wanted, new),
        }
    }

    /// The pull request of these branches: the open one; else, with a
    /// [`head_sha`](NewPullRequest::head_sha), the one of that commit that was merged or closed;
    /// else a new one. However often it is called, also at once and also after an answer was
    /// lost, there is one. Only servers that call at the same moment must exclude each other:
    /// not every forge does it for them. A repository that was renamed is looked for where the
    /// forge leads to; the address of the answer tells where that is.
    ///
    /// # Errors
    ///
    /// See [`ForgeError`]. After [`ForgeError::Unavailable`] it is safe to call again.
    pub fn find_or_create(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let moved = match self.find_or_create_at(new) {
            Err(ForgeError::Moved(text)) => ForgeError::Moved(text),
            made => return made,
        };
        let repository = dialect::whereabouts(&self.api, &new.repository)?;
        if repository.is_same(&new.repository) {
            return Err(moved);
        }
        self.find_or_create_at(&NewPullRequest {
            repository,
            ..new.clone()
        })
    }

    fn find_or_create_at(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let wanted = Wanted::of(&new.repository, &new.head, &new.base)?;
        let key = format!("{} {} {}", new.repository, new.head, new.base);
        let _turn = self.turns.take(key.to_ascii_lowercase());
        let found = self.list(&wanted, new.head_sha.as_deref())?;
        if let Some(found) = chosen(found, new.head_sha.as_deref()) {
            return Ok(found);
        }
        match self.create(new) {
            Err(error) if error.leaves_doubt() => {
                // It is not sent again: the forge may still be at work on it.
                match self.list(&wanted, None).map(first_open) {
                    Ok(Some(found)) => Ok(found),
                    _ => Err(error),
                }
            }
            made => made,
        }
    }

    /// What became of a pull request, and what its checks say. What is `known` from the last
    /// time is not asked for again if the forge can tell that it is the same; on GitHub that
    /// counts against no limit.
    ///
    /// # Errors
    ///
    /// See [`ForgeError`]. Checks that the token may not see are no error.
    pub fn state(
        &self,
        repository: &RepositoryAddress,
        number: u64,
        known: Option<&Validators>,
    ) -> Result<Watched, ForgeError> {
        let nothing = Validators::default();
        let before = known.unwrap_or(&nothing);
        let mut memory = Memory {
            before,
            now: Validators::default(),
        };
        let look = match self.api.kind {
            ForgeKind::GitHub => github::look,
            ForgeKind::GitLab => gitlab::look,
            ForgeKind::Gitea => gitea::look,
        };
        let (pull_request, checks) = look(&self.api, repository, number, &mut memory)?;
        let now = memory.now;
        if now == *before {
            return Ok(Watched::NotModified);
        }
        let snapshot = Snapshot {
            pull_request,
            checks,
        };
        Ok(Watched::Changed(Box::new(snapshot), now))
    }

    fn list(
        &self,
        wanted: &Wanted<'_>,
        head_sha: Option<&str>,
    ) -> Result<Vec<PullRequest>, ForgeError> {
        let list = match self.api.kind {
            ForgeKind::GitHub => github::list,
            ForgeKind::GitLab => gitlab::list,
            ForgeKind::Gitea => gitea::list,
        };
        list(&self.api, wanted, head_sha)
    }
}

fn first_open(found: Vec<PullRequest>) -> Option<PullRequest> {
    let open = found
        .into_iter()
        .filter(|found| found.state == PullRequestState::Open);
    open.min_by_key(|found| found.number)
}

/// The open one; else the merged or closed one of this commit, merged rather than closed.
fn chosen(found: Vec<PullRequest>, head_sha: Option<&str>) -> Option<PullRequest> {
    let ended = found.iter().filter(|found| {
        let is_of_commit = head_sha.is_some_and(|sha| found.head_sha.eq_ignore_ascii_case(sha));
        found.state != PullRequestState::Open && is_of_commit
    });
    let is_merged = |found: &&PullRequest| found.state == PullRequestState::Merged;
    let ended = ended.max_by_key(|found| (is_merged(found), found.number));
    let ended = ended.cloned();
    first_open(found).or(ended)
}

/// Shows which forge it is, and nothing of the token.
impl fmt::Debug for Forge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forge")
            .field("kind", &self.api.kind)
            .field("api", &self.api.origin().to_string())
            .finish_non_exhaustive()
    }
}
