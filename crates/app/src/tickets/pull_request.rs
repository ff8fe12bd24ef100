//! What an approval tells of the pull requests that came of it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::execution_workspace::ExecutionWorkspace;

/// Where a payload lists its pull requests.
const ALL: &str = "pullRequests";

/// Writes into the payload what became of the worktrees: of the first one in the
/// fields that a payload with a single pull request has, of all in a list.
pub(crate) fn tell_pull_requests(payload: &mut Document, worktrees: &[ExecutionWorkspace]) {
    let facts: Vec<Value> = worktrees.iter().map(facts).collect();
    let Some(Value::Object(first)) = facts.first() else {
        return;
    };
    for (name, value) in first {
        payload.insert(name.clone(), value.clone());
    }
    payload.insert(ALL.to_owned(), Value::Array(facts));
}

fn facts(worktree: &ExecutionWorkspace) -> Value {
    let pull_request = worktree.pull_request.as_ref();
    json!({
        "branch": worktree.branch,
        "baseBranch": worktree.base_branch,
        "ticketKey": worktree.ticket_key,
        "repoUrl": worktree.repository_url,
        "repository": worktree.repository_url.as_deref().map(repository),
        "commitSha": worktree.head_commit,
        "pushed": worktree.pushed_commit.is_some(),
        "pullRequestUrl": pull_request.map(|it| &it.url),
        "pullRequestNumber": pull_request.map(|it| it.number),
    })
}

/// The name of a repository by its address, such as `owner/name`.
fn repository(address: &str) -> &str {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_host, path)| path),
        None => address
            .split_once(':')
            .map_or(address, |(_host, path)| path),
    };
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

/// The same for people; `None` for a payload without.
pub(crate) fn announcement(payload: &Document) -> Option<String> {
    let all = payload.get(ALL)?.as_array()?;
    let mut text = String::from("The work was accepted.\n");
    for one in all {
        let say = |key| one.get(key).and_then(Value::as_str);
        let branch = say("branch").unwrap_or_default();
        let written = match say("pullRequestUrl") {
            Some(url) => write!(text, "\n- `{branch}`: {url}"),
            None if one.get("pushed") == Some(&Value::Bool(true)) => {
                write!(text, "\n- `{branch}` is pushed")
            }
            None => write!(text, "\n- `{branch}` is ready to be merged"),
        };
        written.ok()?;
    }
    Some(text)
}
