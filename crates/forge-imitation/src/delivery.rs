use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::kind::ImitatedForge;
use crate::world::{PullRequest, PullRequestState};

/// What a webhook is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A pull request was opened.
    Opened,
    /// It has other commits.
    Synchronized,
    /// It was closed, with or without a merge.
    Closed,
    /// It was opened again.
    Reopened,
    /// Checks of its newest commit ended: on GitHub a check run, on GitLab a pipeline, on
    /// Forgejo a run of its actions.
    ChecksCompleted,
    /// Its newest commit got a status, of which GitLab tells by a pipeline.
    Status,
}

/// What a forge sends to a webhook.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Whose it is.
    pub forge: ImitatedForge,
    /// The header `X-GitHub-Event`, `X-Gitlab-Event` or `X-Gitea-Event`.
    pub event: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Delivery {
    pub(crate) fn about(
        forge: ImitatedForge,
        pull: &PullRequest,
        full_name: &str,
        web: &str,
        happening: Happening,
    ) -> Self {
        let page = format!("{web}/{full_name}");
        let repository = json!({"full_name": full_name, "html_url": page});
        let (event, body) = match forge {
            ImitatedForge::GitHub => of_github(pull, &repository, happening),
            ImitatedForge::GitLab => {
                let project = json!({"path_with_namespace": full_name, "web_url": page});
                of_gitlab(pull, &project, happening)
            }
            ImitatedForge::Gitea => of_gitea(pull, &repository, happening),
        };
        Self {
            forge,
            event,
            body: body.to_string().into_bytes(),
        }
    }

    /// The header `X-Hub-Signature-256`, `X-Gitlab-Token` or `X-Gitea-Signature` of somebody who
    /// knows this secret.
    #[must_use]
    pub fn proof(&self, secret: &str) -> String {
        match self.forge {
            ImitatedForge::GitHub => format!("sha256={}", signature(secret, &self.body)),
            ImitatedForge::GitLab => secret.to_owned(),
            ImitatedForge::Gitea => signature(secret, &self.body),
        }
    }
}

/// The hexadecimal digits of the HMAC.
fn signature(secret: &str, body: &[u8]) -> String {
    let mut code = match Hmac::<Sha256>::new_from_slice(secret.as_bytes()) {
        Ok(code) => code,
        Err(error) => panic!("no such secret: {error}"),
    };
    code.update(body);
    HEXLOWER.encode(&code.finalize().into_bytes())
}

fn of_github(
    pull: &PullRequest,
    repository: &Value,
    happening: Happening,
) -> (&'static str, Value) {
    let action = match happening {
        Happening::Opened => "opened",
        Happening::Synchronized => "synchronize",
        Happening::Closed => "closed",
        Happening::Reopened => "reopened",
        Happening::ChecksCompleted => {
            let body = json!({
                "action": "completed",
                "check_run": {
                    "head_sha": pull.head_sha,
                    "status": "completed",
                    "conclusion": "success",
                    "check_suite": {"head_branch": pull.head, "head_sha": pull.head_sha},
                    "pull_requests": [{"number": pull.number}],
                },
                "repository": repository,
            });
            return ("check_run", body);
        }
        Happening::Status => {
            let mut body = status(pull, repository);
            body["branches"] = json!([{"name": pull.head}]);
            return ("status", body);
        }
    };
    ("pull_request", of_pull(pull, repository, action))
}

fn of_gitea(pull: &PullRequest, repository: &Value, happening: Happening) -> (&'static str, Value) {
    let action = match happening {
        Happening::Opened => "opened",
        Happening::Synchronized => "synchronized",
        Happening::Closed => "closed",
        Happening::Reopened => "reopened",
        Happening::ChecksCompleted => {
            let body = json!({
                "action": "success",
                "prior_status": "running",
                "run": {
                    "commit_sha": pull.head_sha,
                    "prettyref": format!("#{}", pull.number),
                    "status": "success",
                    "repository": repository,
                },
            });
            return ("action_run_success", body);
        }
        Happening::Status => return ("status", status(pull, repository)),
    };
    ("pull_request", of_pull(pull, repository, action))
}

fn of_gitlab(pull: &PullRequest, project: &Value, happening: Happening) -> (&'static str, Value) {
    let is_merged = pull.state == PullRequestState::Merged;
    let action = match happening {
        Happening::Opened => "open",
        Happening::Synchronized => "update",
        Happening::Closed if is_merged => "merge",
        Happening::Closed => "close",
        Happening::Reopened => "reopen",
        Happening::ChecksCompleted | Happening::Status => {
            let body = json!({
                "object_kind": "pipeline",
                "object_attributes": {
                    "ref": pull.head,
                    "tag": false,
                    "sha": pull.head_sha,
                    "status": "success",
                },
                "merge_request": {"iid": pull.number},
                "project": project,
            });
            return ("Pipeline Hook", body);
        }
    };
    let mut body = json!({
        "object_kind": "merge_request",
        "project": project,
        "object_attributes": {
            "iid": pull.number,
            "action": action,
            "state": match pull.state {
                PullRequestState::Open => "opened",
                PullRequestState::Merged => "merged",
                PullRequestState::Closed => "closed",
            },
            "source_branch": pull.head,
            "target_branch": pull.base,
            "last_commit": {"id": pull.head_sha},
        },
    });
    if happening == Happening::Synchronized {
        body["object_attributes"]["oldrev"] = json!("0".repeat(40));
    }
    ("Merge Request Hook", body)
}

/// What GitHub and Gitea tell of a pull request.
fn of_pull(pull: &PullRequest, repository: &Value, action: &str) -> Value {
    json!({
        "action": action,
        "number": pull.number,
        "pull_request": {
            "number": pull.number,
            "state": if pull.state == PullRequestState::Open { "open" } else { "closed" },
            "merged": pull.state == PullRequestState::Merged,
            "head": {"ref": pull.head, "sha": pull.head_sha},
            "base": {"ref": pull.base},
        },
        "repository": repository,
    })
}

/// What GitHub and Gitea tell of a status.
fn status(pull: &PullRequest, repository: &Value) -> Value {
    json!({"sha": pull.head_sha, "state": "success", "repository": repository})
}
