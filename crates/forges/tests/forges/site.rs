//! A repository on an imitated forge, and the client of it.

use std::time::Duration;

use serde_json::json;
use workforce_forge_imitation::{ForgeImitation, ImitatedForge, LoggedRequest, PullRequest, TOKEN};
use workforce_forges::{
    Forge, ForgeConfig, ForgeKind, Forges, Limits, NewPullRequest, RepositoryAddress, Token,
};

pub(crate) const REPOSITORY: &str = "acme/shop";
pub(crate) const HEAD: &str = "agents/SHOP-12";
pub(crate) const HEAD_SHA: &str = "1111111111111111111111111111111111111111";
pub(crate) const NEXT_SHA: &str = "2222222222222222222222222222222222222222";
const BASE_SHA: &str = "0000000000000000000000000000000000000000";

pub(crate) struct Site {
    pub(crate) imitation: ForgeImitation,
    pub(crate) forges: Forges,
    pub(crate) repository: RepositoryAddress,
}

/// Those of tests: nothing waits for long.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.backoff = Duration::from_millis(1);
    limits
}

impl Site {
    pub(crate) fn of(kind: ImitatedForge) -> Self {
        Self::with(kind, limits())
    }

    pub(crate) fn with(kind: ImitatedForge, limits: Limits) -> Self {
        let imitation = ForgeImitation::start(kind).unwrap();
        imitation.add_repository(REPOSITORY);
        imitation.set_branch(REPOSITORY, "main", BASE_SHA);
        imitation.set_branch(REPOSITORY, HEAD, HEAD_SHA);
        let config = config(&imitation, Token::parse(TOKEN));
        let repository = RepositoryAddress::parse(&imitation.repository_url(REPOSITORY));
        Self {
            forges: Forges::new(vec![config], limits).unwrap(),
            repository: repository.unwrap(),
            imitation,
        }
    }

    pub(crate) fn forge(&self) -> Forge {
        self.forges.of(&self.repository).unwrap()
    }

    pub(crate) fn new_pull_request(&self) -> NewPullRequest {
        NewPullRequest {
            repository: self.repository.clone(),
            head: HEAD.to_owned(),
            head_sha: None,
            base: "main".to_owned(),
            title: "SHOP-12: Sell shoes".to_owned(),
            body: "Made by an agent.\n\nCloses #12.".to_owned(),
            draft: false,
        }
    }

    /// What the forge keeps.
    pub(crate) fn kept(&self) -> Vec<PullRequest> {
        self.imitation.pull_requests(REPOSITORY)
    }

    pub(crate) fn requests_of(&self, method: &str) -> Vec<LoggedRequest> {
        let requests = self.imitation.requests().into_iter();
        requests
            .filter(|request| request.method == method)
            .collect()
    }

    /// A list of one open pull request, as any of the forges would answer it.
    pub(crate) fn list_of_one(&self, head: &str, base: &str, url: &str) -> String {
        let is_gitlab = self.imitation.kind() == ImitatedForge::GitLab;
        let state = if is_gitlab { "opened" } else { "open" };
        let branch = |name: &str| {
            json!({
                "label": name, "ref": name, "sha": HEAD_SHA, "repo_id": 1, "repo": {"id": 1},
            })
        };
        let pull = json!({
            "number": 1, "iid": 1, "html_url": url, "web_url": url, "title": "t",
            "state": state, "draft": false, "merged_at": null,
            "head": branch(head), "base": branch(base), "sha": HEAD_SHA,
            "source_branch": head, "target_branch": base,
            "source_project_id": 1, "target_project_id": 1,
        });
        format!("[{pull}]")
    }

    /// What stands in the path of every request for pull requests.
    pub(crate) fn pulls(&self) -> &'static str {
        match self.imitation.kind() {
            ImitatedForge::GitLab => "/merge_requests",
            ImitatedForge::GitHub | ImitatedForge::Gitea => "/pulls",
        }
    }
}

pub(crate) fn config(imitation: &ForgeImitation, token: Option<Token>) -> ForgeConfig {
    ForgeConfig {
        kind: match imitation.kind() {
            ImitatedForge::GitHub => ForgeKind::GitHub,
            ImitatedForge::GitLab => ForgeKind::GitLab,
            ImitatedForge::Gitea => ForgeKind::Gitea,
        },
        host: imitation.host().to_owned(),
        api_url: Some(imitation.api_url()),
        token,
    }
}

/// Does something on a site of each kind of forge.
#[track_caller]
pub(crate) fn on_every_forge(test: impl Fn(&Site)) {
    for kind in ImitatedForge::ALL {
        eprintln!("{}", kind.word());
        test(&Site::of(kind));
    }
}
