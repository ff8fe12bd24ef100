//! Commit statuses, of which GitHub and Gitea tell alike.

use serde::Deserialize;

use super::failed_check;
use crate::pull_request::{Checks, ChecksState};

/// A page of the newest status of each context.
#[derive(Deserialize)]
pub(super) struct StatusPage {
    /// Gitea says null where there are none.
    statuses: Option<Vec<Status>>,
}

#[derive(Deserialize)]
struct Status {
    /// GitHub's word is `state`, that of Gitea `status`.
    #[serde(alias = "status")]
    state: String,
    context: String,
    target_url: Option<String>,
}

impl StatusPage {
    pub(super) fn checks(&self) -> Checks {
        let statuses = self.statuses.iter().flatten();
        statuses.fold(Checks::only(ChecksState::None), |checks, status| {
            checks.and(status.check())
        })
    }
}

impl Status {
    fn check(&self) -> Checks {
        let state = match self.state.as_str() {
            // Gitea's warnings keep nobody from merging.
            "success" | "warning" | "skipped" => ChecksState::Passed,
            "pending" => ChecksState::Pending,
            "failure" | "error" => ChecksState::Failed,
            _ => ChecksState::Unknown,
        };
        let mut check = Checks::only(state);
        if state == ChecksState::Failed {
            let url = self.target_url.as_deref();
            check.failed.push(failed_check(&self.context, url));
        }
        check
    }
}
