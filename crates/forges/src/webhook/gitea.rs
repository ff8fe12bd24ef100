//! Gitea: <https://docs.gitea.com/features/webhooks>, and Forgejo:
//! <https://forgejo.org/docs/latest/user/webhooks/>.

use serde::Deserialize;

use super::event::{Event, EventKind, Head};
use super::hub::{PullRequestDelivery, Repository, StatusDelivery};
use super::read;

/// A run of Forgejo's actions, which ended.
#[derive(Deserialize)]
struct RunDelivery {
    run: Run,
}

#[derive(Deserialize)]
struct Run {
    commit_sha: String,
    repository: Repository,
}

pub(super) fn parse(name: &str, body: &[u8]) -> Option<Event> {
    match name {
        // Other commits have the name of their own in a further header only.
        "pull_request" | "pull_request_sync" => read::<PullRequestDelivery>(body)?.event(),
        "status" => read::<StatusDelivery>(body)?.event(),
        "action_run_success" | "action_run_failure" | "action_run_recover" => {
            let run = read::<RunDelivery>(body)?.run;
            // `prettyref` may be a branch, a tag or a number: the commit says enough.
            let head = Head {
                sha: &run.commit_sha,
                branches: Vec::new(),
            };
            let place = run.repository.place();
            Event::new(EventKind::ChecksCompleted, &place, Vec::new(), head)
        }
        _ => None,
    }
}
