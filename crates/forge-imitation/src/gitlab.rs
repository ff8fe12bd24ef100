//! Answers as GitLab does.

use serde_json::{Value, json};

use crate::reply::{Ask, Reply};
use crate::world::{
    Check, Draft, MERGED_AT, NotMade, Outcome, PullRequest, PullRequestState, Repository, World,
};

pub(crate) fn refusal(message: &str) -> Value {
    json!({ "message": message })
}

pub(crate) fn answer(world: &mut World, ask: &Ask<'_>) -> Reply {
    let takes_duplicates = world.takes_duplicates;
    let Some(repository) = world.find(ask.of_path("id")) else {
        return Reply::new(404, refusal("404 Project Not Found"));
    };
    repository.refresh();
    match (ask.method, ask.template) {
        ("GET", "/projects/{id}") => {
            let whole = json!({
                "id": repository.id,
                "path_with_namespace": repository.full_name,
                "web_url": format!("{}/{}", ask.web, repository.full_name),
            });
            Reply::new(200, whole)
        }
        ("GET", "/projects/{id}/merge_requests") => {
            let found = list(repository, ask);
            let (page, has_next) = ask.page(world, found, "per_page");
            Reply {
                has_next,
                ..Reply::new(200, page.into())
            }
        }
        ("POST", _) => create(repository, ask, takes_duplicates),
        (_, "/projects/{id}/merge_requests/{merge_request_iid}") => {
            let number = ask.of_path("merge_request_iid").parse().unwrap_or_default();
            let Some(pull) = repository.pull(number).cloned() else {
                return Reply::new(404, refusal("404 Not found"));
            };
            Reply::new(200, whole(&pull, repository, ask.web))
        }
        _ => jobs(repository, ask),
    }
}

fn word(state: PullRequestState) -> &'static str {
    match state {
        PullRequestState::Open => "opened",
        PullRequestState::Merged => "merged",
        PullRequestState::Closed => "closed",
    }
}

fn list(repository: &Repository, ask: &Ask<'_>) -> Vec<Value> {
    let pulls = repository.pulls.iter().rev().filter(|pull| {
        let state = ask.of_query("state").unwrap_or("all");
        let fits = |name: &str, it: &str| ask.of_query(name).is_none_or(|wanted| wanted == it);
        (state == "all" || state == word(pull.state))
            && fits("source_branch", &pull.head)
            && fits("target_branch", &pull.base)
    });
    pulls.map(|pull| basic(pull, repository, ask.web)).collect()
}

fn create(repository: &mut Repository, ask: &Ask<'_>, takes_duplicates: bool) -> Reply {
    let title = ask.of_body("title");
    let draft = Draft {
        head: ask.of_body("source_branch"),
        base: ask.of_body("target_branch"),
        is_draft: title.starts_with("Draft:"),
        title,
        body: ask.of_body("description"),
    };
    let invalid = |field: &str, text: &str| Reply::new(422, json!({"message": {field: [text]}}));
    match repository.make(draft, takes_duplicates) {
        Ok(pull) => Reply::new(201, whole(&pull, repository, ask.web)),
        Err(NotMade::NoHead) => invalid("source_branch", "does not exist"),
        Err(NotMade::NoBase) => invalid("target_branch", "does not exist"),
        Err(NotMade::NothingToMerge) => invalid("base", "there is nothing to merge"),
        Err(NotMade::Exists(number)) => {
            let text = format!(
                "Another open merge request already exists for this source branch: !{number}"
            );
            Reply::new(409, json!({ "message": [text] }))
        }
    }
}

fn basic(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let merged_at = (pull.state == PullRequestState::Merged).then_some(MERGED_AT);
    let page = format!(
        "{web}/{}/-/merge_requests/{}",
        repository.full_name, pull.number
    );
    json!({
        "id": 70_000 + pull.number,
        "iid": pull.number,
        "project_id": repository.id,
        "title": pull.title,
        "description": pull.body,
        "state": word(pull.state),
        "draft": pull.is_draft,
        "merged_at": merged_at,
        "sha": pull.head_sha,
        "source_branch": pull.head,
        "target_branch": pull.base,
        "source_project_id": pull.head_repository.0,
        "target_project_id": repository.id,
        "web_url": page,
    })
}

fn whole(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let mut whole = basic(pull, repository, web);
    whole["head_pipeline"] = pipeline(pull, repository, web);
    whole
}

/// All checks of a commit are one pipeline, of the number of their first one.
fn pipeline(pull: &PullRequest, repository: &Repository, web: &str) -> Value {
    let checks: Vec<&Check> = repository.checks_of(&pull.head_sha).collect();
    let Some(first) = checks.first() else {
        return Value::Null;
    };
    let id = pipeline_id(repository, &first.sha);
    let is_any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    let status = if is_any(Outcome::Pending) {
        "running"
    } else if is_any(Outcome::Failed) {
        "failed"
    } else {
        "success"
    };
    json!({
        "id": id,
        "sha": pull.head_sha,
        "ref": pull.head,
        "status": status,
        "web_url": format!("{web}/{}/-/pipelines/{id}", repository.full_name),
    })
}

fn pipeline_id(repository: &Repository, sha: &str) -> usize {
    let first = repository.checks.iter().position(|check| check.sha == sha);
    500 + first.unwrap_or_default()
}

fn jobs(repository: &Repository, ask: &Ask<'_>) -> Reply {
    if repository.hides_checks {
        return Reply::new(403, refusal("403 Forbidden"));
    }
    let id: usize = ask.of_path("pipeline_id").parse().unwrap_or_default();
    let Some(first) = repository.checks.get(id.wrapping_sub(500)) else {
        return Reply::new(404, refusal("404 Not found"));
    };
    let wanted = ask.of_query("scope[]");
    let jobs = repository.checks_of(&first.sha).map(|check| {
        let status = match check.outcome {
            Outcome::Pending => "running",
            Outcome::Passed => "success",
            Outcome::Failed => "failed",
        };
        json!({
            "id": 1,
            "name": check.name,
            "status": status,
            "allow_failure": false,
            "web_url": format!("{}/checks/{}", ask.web, check.name),
        })
    });
    let jobs = jobs.filter(|job| wanted.is_none_or(|wanted| job["status"] == wanted));
    Reply::new(200, jobs.collect::<Vec<Value>>().into())
}
