use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

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
    /// A check run of its newest commit ended.
    CheckRunCompleted,
    /// Its newest commit got a status.
    Status,
}

/// What GitHub sends to a webhook.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The header `X-GitHub-Event`.
    pub event: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Delivery {
    pub(crate) fn about(
        pull: &PullRequest,
        full_name: &str,
        web: &str,
        happening: Happening,
    ) -> Self {
        let (event, mut body) = match happening {
            Happening::Opened => ("pull_request", of_pull(pull, "opened")),
            Happening::Synchronized => ("pull_request", of_pull(pull, "synchronize")),
            Happening::Closed => ("pull_request", of_pull(pull, "closed")),
            Happening::Reopened => ("pull_request", of_pull(pull, "reopened")),
            Happening::CheckRunCompleted => {
                let run = json!({
                    "head_sha": pull.head_sha,
                    "status": "completed",
                    "conclusion": "success",
                    "check_suite": {"head_branch": pull.head, "head_sha": pull.head_sha},
                    "pull_requests": [{"number": pull.number}],
                });
                (
                    "check_run",
                    json!({"action": "completed", "check_run": run}),
                )
            }
            Happening::Status => {
                let branches = json!([{"name": pull.head}]);
                let body = json!({"sha": pull.head_sha, "state": "success", "branches": branches});
                ("status", body)
            }
        };
        let page = format!("{web}/{full_name}");
        body["repository"] = json!({"full_name": full_name, "html_url": page});
        Self {
            event,
            body: body.to_string().into_bytes(),
        }
    }

    /// The header `X-Hub-Signature-256` of somebody who knows this secret.
    #[must_use]
    pub fn signature(&self, secret: &[u8]) -> String {
        let mut code = match Hmac::<Sha256>::new_from_slice(secret) {
            Ok(code) => code,
            Err(error) => panic!("no such secret: {error}"),
        };
        code.update(&self.body);
        format!("sha256={}", HEXLOWER.encode(&code.finalize().into_bytes()))
    }
}

fn of_pull(pull: &PullRequest, action: &str) -> Value {
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
    })
}
