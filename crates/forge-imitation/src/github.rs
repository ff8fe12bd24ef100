//! Answers as GitHub does.

use serde_json::{Value, json};

use crate::reply::{Ask, Reply};
use crate::world::{
    Check, Draft, MERGED_AT, NotMade, Outcome, PullRequest, PullRequestState, Repository, World,
};

const DOCUMENTATION: &str = "https://docs.github.com/rest";

pub(crate) fn refusal(status: u16, message: &str) -> Value {
    json!({"message": message, "documentation_url": DOCUMENTATION, "status": status.to_string()})
}

pub(crate) fn answer(world: &mut World, ask: &Ask<'_>) -> Reply {
    let full_name = format!("{}/{}", ask.of_path("owner"), ask.of_path("repo"));
    let takes_duplicates = world.takes_duplicates;
    let Some(repository) = world.find(&full_name) else {
        return Reply::new(404, refusal(404, "Not Found"));
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
            let (page, has_next) = ask.page(world, found, "per_page");
            Reply {
                has_next,
                ..Reply::new(200, page.into())
            }
        }
        ("POST", _) => create(repository, ask, takes_duplicates),
        (_, "/repos/{owner}/{repo}/pulls/{pull_number}") => {
            let number = ask.of_path("pull_number").parse().unwrap_or_default();
            let Some(pull) = repository.pull(number).cloned() else {
                return Reply::new(404, refusal(404, "Not Found"));
            };
            Reply::new(200, whole(&pull, repository, ask.web))
        }
        (_, template) => checks(world, &full_name, ask, template.ends_with("check-runs")),
    }
}

fn list(repository: &Repository, ask: &Ask<'_>) -> Vec<Value> {
    let pulls = repository.pulls.iter().rev().filter(|pull| {
        let is_open = pull.state == PullRequestState::Open;
        let fits_state = match ask.of_query("state").unwrap_or("open") {
            "all" => true,
            "open" => is_open,
            _ => !is_open,
        };
        let owner = pull.head_repository.1.split('/').next().unwrap_or_default();
        let head = format!("{owner}:{}", pull.head);
        let fits_head = ask.of_query("head").is_none_or(|wanted| wanted == head);
        let fits_base = ask
            .of_query("base")
            .is_none_or(|wanted| wanted == pull.base);
        fits_state && fits_head && fits_base
    });
    pulls
        .map(|pull| simple(pull, repository, ask.web))
        .collect()
}

fn create(repository: &mut Repository, ask: &Ask<'_>, takes_duplicates: bool) -> Reply {
    let draft = Draft {
        head: ask.of_body("head"),
        base: ask.of_body("base"),
        title: ask.of_body("title"),
        body: ask.of_body("body"),
        is_draft: ask.body.get("draft") == Some(&Value::Bool(true)),
    };
    let (head, base) = (draft.head.clone(), draft.base.clone());
    let custom =
        |message: String| json!({"resource": "PullRequest", "code": "custom", "message": message});
    let field = |name: &str| json!({"resource": "PullRequest", "field": name, "code": "invalid"});
    let error = match repository.make(draft, takes_duplicates) {
        Ok(pull) => return Reply::new(201, whole(&pull, repository, ask.web)),
        Err(NotMade::NoHead) => field("head"),
        Err(NotMade::NoBase) => field("base"),
        Err(NotMade::NothingToMerge) => custom(format!("No commits between {base} and {head}")),
        Err(NotMade::Exists(_)) => {
            let owner = repository.full_name.split('/').next().unwrap_or_default();
            custom(format!("A pull request already exists for {owner}:{head}."))
        }
    };
    let body = json!({
        "message": "Validation Failed",
        "errors": [error],
        "documentation_url": DOCUMENTATION,
    });
    Reply::new(422, body)
}

fn simple(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let merged_at = (pull.state == PullRequestState::Merged).then_some(MERGED_AT);
    let is_open = pull.state == PullRequestState::Open;
    let branch = |(id, full_name): (u64, &str), branch: &str, sha: &str| {
        let (owner, name) = full_name.split_once('/').unwrap_or_default();
        json!({
            "label": format!("{owner}:{branch}"),
            "ref": branch,
            "sha": sha,
            "repo": {"id": id, "name": name, "full_name": full_name},
        })
    };
    let (head_id, head_name) = &pull.head_repository;
    let base_sha = repository.tip(&pull.base).unwrap_or_else(|| "0".repeat(40));
    let own = (repository.id, repository.full_name.as_str());
    json!({
        "id": 70_000 + pull.number,
        "number": pull.number,
        "html_url": format!("{web}/{}/pull/{}", repository.full_name, pull.number),
        "state": if is_open { "open" } else { "closed" },
        "title": pull.title,
        "body": pull.body,
        "draft": pull.is_draft,
        "merged_at": merged_at,
        "head": branch((*head_id, head_name), &pull.head, &pull.head_sha),
        "base": branch(own, &pull.base, &base_sha),
    })
}

fn whole(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let mut whole = simple(pull, repository, web);
    whole["merged"] = (pull.state == PullRequestState::Merged).into();
    whole
}

fn checks(world: &mut World, full_name: &str, ask: &Ask<'_>, runs: bool) -> Reply {
    let Some(repository) = world.find(full_name) else {
        return Reply::new(404, refusal(404, "Not Found"));
    };
    if repository.hides_checks {
        let message = "Resource not accessible by personal access token";
        return Reply::new(403, refusal(403, message));
    }
    let sha = ask.of_path("ref");
    let found: Vec<&Check> = repository
        .checks_of(sha)
        .filter(|check| check.is_status != runs)
        .collect();
    let is_any = |outcome| found.iter().any(|check| check.outcome == outcome);
    let state = if is_any(Outcome::Failed) {
        "failure"
    } else if is_any(Outcome::Pending) || found.is_empty() {
        "pending"
    } else {
        "success"
    };
    let count = found.len();
    let shape = if runs { run } else { status };
    let found = found
        .iter()
        .enumerate()
        .map(|(index, check)| shape(check, index, ask.web));
    let found: Vec<Value> = found.collect();
    let (page, has_next) = ask.page(world, found, "per_page");
    let body = if runs {
        json!({"total_count": count, "check_runs": page})
    } else {
        json!({"state": state, "sha": sha, "total_count": count, "statuses": page})
    };
    Reply {
        has_next,
        ..Reply::new(200, body)
    }
}

fn run(check: &Check, index: usize, web: &str) -> Value {
    let (status, conclusion) = match check.outcome {
        Outcome::Pending => ("in_progress", None),
        Outcome::Passed => ("completed", Some("success")),
        Outcome::Failed => ("completed", Some("failure")),
    };
    let page = format!("{web}/checks/{}", check.name);
    json!({
        "id": index + 1,
        "name": check.name,
        "head_sha": check.sha,
        "status": status,
        "conclusion": conclusion,
        "html_url": page,
        "details_url": page,
    })
}

fn status(check: &Check, index: usize, web: &str) -> Value {
    let state = match check.outcome {
        Outcome::Pending => "pending",
        Outcome::Passed => "success",
        Outcome::Failed => "failure",
    };
    json!({
        "id": index + 1,
        "state": state,
        "context": check.name,
        "target_url": format!("{web}/checks/{}", check.name),
    })
}
