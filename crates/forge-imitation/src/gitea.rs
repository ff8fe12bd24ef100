//! Answers as Gitea and Forgejo do.

use serde_json::{Value, json};

use crate::reply::{Ask, Reply};
use crate::world::{
    Check, Draft, MERGED_AT, NotMade, Outcome, PullRequest, PullRequestState, Repository, World,
};

pub(crate) fn refusal(message: &str, web: &str) -> Value {
    json!({"message": message, "url": format!("{web}/api/swagger")})
}

pub(crate) fn answer(world: &mut World, ask: &Ask<'_>) -> Reply {
    let full_name = format!("{}/{}", ask.of_path("owner"), ask.of_path("repo"));
    let takes_duplicates = world.takes_duplicates;
    let not_found = Reply::new(404, refusal("The target couldn't be found.", ask.web));
    let Some(repository) = world.find(&full_name) else {
        return not_found;
    };
    repository.refresh();
    match (ask.method, ask.template) {
        ("GET", "/repos/{owner}/{repo}") => {
            let name = repository.full_name.split('/').next_back();
            let whole = json!({
                "id": repository.id,
                "name": name,
                "full_name": repository.full_name,
            });
            Reply::new(200, whole)
        }
        ("GET", "/repos/{owner}/{repo}/pulls") => {
            let found = list(repository, ask);
            let (page, has_next) = ask.page(world, found, "limit");
            Reply {
                has_next,
                ..Reply::new(200, page.into())
            }
        }
        ("POST", _) => create(repository, ask, takes_duplicates),
        (_, "/repos/{owner}/{repo}/pulls/{index}") => {
            let number = ask.of_path("index").parse().unwrap_or_default();
            let Some(pull) = repository.pull(number).cloned() else {
                return not_found;
            };
            Reply::new(200, shape(&pull, repository, ask.web))
        }
        _ => statuses(world, &full_name, ask),
    }
}

fn list(repository: &Repository, ask: &Ask<'_>) -> Vec<Value> {
    let pulls = repository.pulls.iter().rev().filter(|pull| {
        let is_open = pull.state == PullRequestState::Open;
        match ask.of_query("state").unwrap_or("open") {
            "all" => true,
            "open" => is_open,
            _ => !is_open,
        }
    });
    pulls.map(|pull| shape(pull, repository, ask.web)).collect()
}

fn create(repository: &mut Repository, ask: &Ask<'_>, takes_duplicates: bool) -> Reply {
    let title = ask.of_body("title");
    let draft = Draft {
        head: ask.of_body("head"),
        base: ask.of_body("base"),
        is_draft: title.starts_with("WIP:"),
        title,
        body: ask.of_body("body"),
    };
    let refused = |status, message: &str| Reply::new(status, refusal(message, ask.web));
    match repository.make(draft, takes_duplicates) {
        Ok(pull) => Reply::new(201, shape(&pull, repository, ask.web)),
        Err(NotMade::NoHead | NotMade::NoBase) => refused(404, "Could not find the branch"),
        Err(NotMade::NothingToMerge) => refused(422, "there is nothing to merge"),
        Err(NotMade::Exists(number)) => {
            let text =
                format!("pull request already exists for these targets [issue_id: {number}]");
            refused(409, &text)
        }
    }
}

fn shape(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let is_merged = pull.state == PullRequestState::Merged;
    let is_open = pull.state == PullRequestState::Open;
    // Of a branch that is gone only the ref of the pull request is left.
    let is_there = pull.is_from_fork || repository.tip(&pull.head).is_some();
    let head_ref = if is_there {
        pull.head.clone()
    } else {
        format!("refs/pull/{}/head", pull.number)
    };
    json!({
        "id": 70_000 + pull.number,
        "number": pull.number,
        "html_url": format!("{web}/{}/pulls/{}", repository.full_name, pull.number),
        "state": if is_open { "open" } else { "closed" },
        "title": pull.title,
        "body": pull.body,
        "draft": pull.is_draft,
        "merged": is_merged,
        "merged_at": is_merged.then_some(MERGED_AT),
        "head": {
            "label": pull.head,
            "ref": head_ref,
            "sha": pull.head_sha,
            "repo_id": pull.head_repository.0,
        },
        "base": {
            "label": pull.base,
            "ref": pull.base,
            "sha": repository.tip(&pull.base).unwrap_or_default(),
            "repo_id": repository.id,
        },
    })
}

fn statuses(world: &mut World, full_name: &str, ask: &Ask<'_>) -> Reply {
    let Some(repository) = world.find(full_name) else {
        return Reply::new(404, refusal("The target couldn't be found.", ask.web));
    };
    if repository.hides_checks {
        return Reply::new(403, refusal("token does not have the right", ask.web));
    }
    let sha = ask.of_path("ref");
    let checks: Vec<&Check> = repository.checks_of(sha).collect();
    let is_any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    let state = if is_any(Outcome::Failed) {
        "failure"
    } else if is_any(Outcome::Pending) || checks.is_empty() {
        "pending"
    } else {
        "success"
    };
    let found: Vec<Value> = checks
        .iter()
        .enumerate()
        .map(|(index, check)| status(check, index, ask.web))
        .collect();
    let count = found.len();
    let (page, has_next) = ask.page(world, found, "limit");
    // Gitea writes null for a list that is empty.
    let page = if page.is_empty() {
        Value::Null
    } else {
        page.into()
    };
    let body = json!({"state": state, "sha": sha, "total_count": count, "statuses": page});
    Reply {
        has_next,
        ..Reply::new(200, body)
    }
}

fn status(check: &Check, index: usize, web: &str) -> Value {
    let state = match check.outcome {
        Outcome::Pending => "pending",
        Outcome::Passed => "success",
        Outcome::Failed => "failure",
    };
    json!({
        "id": index + 1,
        "status": state,
        "context": check.name,
        "target_url": format!("{web}/checks/{}", check.name),
    })
}
