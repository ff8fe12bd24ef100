//! The imitation is strict about what it is asked, and does what a test tells it to.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "git of a test is no agent")]

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use ureq::http::{Request, Response};
use workforce_forge_imitation::{Failure, ForgeImitation, ImitatedForge, PullRequestState, TOKEN};

const SHA: &str = "1111111111111111111111111111111111111111";

/// The headers of every request, and a path for each forge that lists pull requests.
fn manners(kind: ImitatedForge) -> (Vec<(&'static str, String)>, &'static str) {
    match kind {
        ImitatedForge::GitHub => (
            vec![
                ("accept", "application/vnd.github+json".to_owned()),
                ("x-github-api-version", "2022-11-28".to_owned()),
                ("authorization", format!("Bearer {TOKEN}")),
            ],
            "/repos/acme/shop/pulls",
        ),
        ImitatedForge::GitLab => (
            vec![
                ("accept", "application/json".to_owned()),
                ("private-token", TOKEN.to_owned()),
            ],
            "/projects/acme%2Fshop/merge_requests",
        ),
        ImitatedForge::Gitea => (
            vec![
                ("accept", "application/json".to_owned()),
                ("authorization", format!("token {TOKEN}")),
            ],
            "/repos/acme/shop/pulls",
        ),
    }
}

fn start(kind: ImitatedForge) -> ForgeImitation {
    let imitation = ForgeImitation::start(kind).unwrap();
    imitation.add_repository("acme/shop");
    imitation.set_branch("acme/shop", "main", &"0".repeat(40));
    imitation.set_branch("acme/shop", "fix", SHA);
    imitation
}

fn send(
    imitation: &ForgeImitation,
    path: &str,
    headers: &[(&'static str, String)],
    body: Option<Value>,
) -> Result<Response<Value>, ureq::Error> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None);
    let agent: ureq::Agent = config.build().into();
    let mut request = Request::builder().uri(format!("{}{path}", imitation.api_url()));
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let response = match body {
        Some(body) => {
            let request = request
                .method("POST")
                .header("content-type", "application/json");
            agent.run(request.body(body.to_string()).unwrap())
        }
        None => agent.run(request.body(()).unwrap()),
    };
    let (parts, mut body) = response?.into_parts();
    let body = body.read_to_string()?;
    let body = serde_json::from_str(&body).unwrap_or(Value::Null);
    Ok(Response::from_parts(parts, body))
}

/// Sends what is not as it is described, and tells the complaint about it.
#[track_caller]
fn complaint(
    imitation: &ForgeImitation,
    path: &str,
    headers: &[(&'static str, String)],
    body: Option<Value>,
) -> String {
    let answer = send(imitation, path, headers, body).unwrap();
    assert_eq!(answer.status(), 400, "{}", answer.body());
    let complaints = imitation.take_complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    complaints[0].clone()
}

#[test]
fn it_complains_about_requests_that_are_not_described() {
    for kind in ImitatedForge::ALL {
        let imitation = start(kind);
        let (headers, list) = manners(kind);
        let told = complaint(&imitation, &format!("{list}?sate=open"), &headers, None);
        assert!(told.contains("`sate`"), "{told}");
        let told = complaint(&imitation, &format!("{list}?state=ajar"), &headers, None);
        assert!(told.contains("ajar"), "{told}");
        let told = complaint(&imitation, &format!("{list}?page=last"), &headers, None);
        assert!(told.contains("page"), "{told}");
        let told = complaint(&imitation, &format!("{list}/1/merge"), &headers, None);
        assert!(told.contains("no operation"), "{told}");
        let told = complaint(&imitation, list, &headers[1..], None);
        assert!(told.contains("`accept`"), "{told}");
        let told = complaint(&imitation, list, &headers, Some(json!({"title": 1})));
        assert!(told.contains("/title is 1 and no string"), "{told}");
        let told = complaint(&imitation, list, &headers, Some(json!({"tilte": "x"})));
        assert!(told.contains("/tilte is not described"), "{told}");
    }
}

#[test]
#[should_panic(expected = "not as described")]
fn a_complaint_that_nobody_takes_fails_the_test() {
    let imitation = start(ImitatedForge::GitHub);
    send(
        &imitation,
        "/nothing",
        &manners(ImitatedForge::GitHub).0,
        None,
    )
    .unwrap();
}

#[test]
fn it_lets_nobody_in_without_the_token() {
    for kind in ImitatedForge::ALL {
        let imitation = start(kind);
        let (mut headers, list) = manners(kind);
        let (_, token) = headers.last_mut().unwrap();
        *token = token.replace(TOKEN, "another");
        let answer = send(&imitation, list, &headers, None).unwrap();
        assert_eq!(answer.status(), 401);
        imitation.accept_token("another");
        assert_eq!(
            send(&imitation, list, &headers, None).unwrap().status(),
            200
        );
        imitation.refuse_tokens();
        assert_eq!(
            send(&imitation, list, &headers, None).unwrap().status(),
            401
        );
    }
}

fn new(kind: ImitatedForge) -> Value {
    match kind {
        ImitatedForge::GitLab => {
            json!({"title": "t", "source_branch": "fix", "target_branch": "main"})
        }
        ImitatedForge::GitHub | ImitatedForge::Gitea => {
            json!({"title": "t", "head": "fix", "base": "main"})
        }
    }
}

#[test]
fn it_fails_as_it_is_told_and_then_no_more() {
    for kind in ImitatedForge::ALL {
        let imitation = start(kind);
        let (headers, list) = manners(kind);
        imitation.fail(Failure::status(500).on("POST", "").after_effect());
        imitation.fail(Failure::drop_connection().on("GET", list));
        assert!(send(&imitation, list, &headers, None).is_err());
        let made = send(&imitation, list, &headers, Some(new(kind))).unwrap();
        assert_eq!(made.status(), 500);
        assert_eq!(imitation.pull_requests("acme/shop").len(), 1);
        let again = send(&imitation, list, &headers, Some(new(kind))).unwrap();
        let refused = if kind == ImitatedForge::GitHub {
            422
        } else {
            409
        };
        assert_eq!(again.status(), refused);
        let found = send(&imitation, list, &headers, None).unwrap();
        assert_eq!(found.body().as_array().unwrap().len(), 1);
        let log = imitation.requests();
        let statuses: Vec<_> = log.iter().map(|request| request.status).collect();
        assert_eq!(statuses, [None, Some(500), Some(refused), Some(200)]);
        assert_eq!(log[1].body, Some(new(kind)));
    }
}

#[test]
fn it_gives_tags_where_the_forge_does() {
    for kind in ImitatedForge::ALL {
        let imitation = start(kind);
        let (mut headers, list) = manners(kind);
        let first = send(&imitation, list, &headers, None).unwrap();
        let tag = first.headers().get("etag");
        assert_eq!(tag.is_some(), kind != ImitatedForge::Gitea);
        let Some(tag) = tag else { continue };
        headers.push(("if-none-match", tag.to_str().unwrap().to_owned()));
        let again = send(&imitation, list, &headers, None).unwrap();
        assert_eq!(again.status(), 304);
        imitation.open_from_fork("acme/shop", "else/shop", "fix", "main");
        let changed = send(&imitation, list, &headers, None).unwrap();
        assert_eq!(changed.status(), 200);
    }
}

/// Runs git, and tells what it prints.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn it_follows_the_branches_of_a_repository_of_git() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| git(folder.path(), arguments);
    let commit = || {
        git(&["commit", "--quiet", "--allow-empty", "--message", "Change"]);
        git(&["rev-parse", "HEAD"])
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    commit();
    git(&["checkout", "--quiet", "-b", "team/fix"]);
    let first = commit();
    git(&["pack-refs", "--all"]);
    let imitation = ForgeImitation::start(ImitatedForge::Gitea).unwrap();
    imitation.add_repository_of("acme/shop", &folder.path().join(".git"));
    let (headers, list) = manners(ImitatedForge::Gitea);
    let new = json!({"title": "t", "head": "team/fix", "base": "main"});
    let made = send(&imitation, list, &headers, Some(new)).unwrap();
    assert_eq!(made.status(), 201, "{}", made.body());
    assert_eq!(made.body()["head"]["sha"], first.as_str());
    let second = commit();
    assert_ne!(first, second);
    assert_eq!(imitation.pull_requests("acme/shop")[0].head_sha, second);
    // What was merged stays as it was.
    imitation.set_state("acme/shop", 1, PullRequestState::Merged);
    commit();
    assert_eq!(imitation.pull_requests("acme/shop")[0].head_sha, second);
}
