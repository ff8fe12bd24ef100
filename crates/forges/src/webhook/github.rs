//! GitHub: <https://docs.github.com/en/webhooks/webhook-events-and-payloads>.

use serde::Deserialize;

use super::event::{Event, EventKind, Head};
use super::hub::{PullRequestDelivery, Repository, StatusDelivery};
use super::read;

#[derive(Deserialize)]
struct Pull {
    number: u64,
}

#[derive(Deserialize)]
struct CheckRunDelivery {
    action: String,
    check_run: CheckRun,
    repository: Repository,
}

#[derive(Deserialize)]
struct CheckRun {
    head_sha: String,
    #[serde(default)]
    pull_requests: Vec<Pull>,
    check_suite: Option<SuiteOfRun>,
}

#[derive(Deserialize)]
struct SuiteOfRun {
    head_branch: Option<String>,
}

#[derive(Deserialize)]
struct CheckSuiteDelivery {
    action: String,
    check_suite: CheckSuite,
    repository: Repository,
}

#[derive(Deserialize)]
struct CheckSuite {
    head_sha: String,
    head_branch: Option<String>,
    #[serde(default)]
    pull_requests: Vec<Pull>,
}

pub(super) fn parse(name: &str, body: &[u8]) -> Option<Event> {
    match name {
        "pull_request" => read::<PullRequestDelivery>(body)?.event(),
        "check_run" => {
            let delivery: CheckRunDelivery = read(body)?;
            let run = delivery.check_run;
            let branch = run.check_suite.and_then(|suite| suite.head_branch);
            let head = head(&run.head_sha, branch);
            completed(
                &delivery.action,
                &delivery.repository,
                &run.pull_requests,
                head,
            )
        }
        "check_suite" => {
            let delivery: CheckSuiteDelivery = read(body)?;
            let suite = delivery.check_suite;
            let head = head(&suite.head_sha, suite.head_branch);
            completed(
                &delivery.action,
                &delivery.repository,
                &suite.pull_requests,
                head,
            )
        }
        "status" => read::<StatusDelivery>(body)?.event(),
        _ => None,
    }
}

fn head(sha: &str, branch: Option<String>) -> Head<'_> {
    Head {
        sha,
        branches: branch.into_iter().collect(),
    }
}

fn completed(
    action: &str,
    repository: &Repository,
    pulls: &[Pull],
    head: Head<'_>,
) -> Option<Event> {
    if action != "completed" {
        return None;
    }
    let numbers = pulls.iter().map(|pull| pull.number).collect();
    Event::new(
        EventKind::ChecksCompleted,
        &repository.place(),
        numbers,
        head,
    )
}
