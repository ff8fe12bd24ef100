//! The server is killed at every call of git and at every request to the forge, and started again:
//! nothing is lost, and nothing is done twice.
//!
//! The tests try every few of them; `WORKFORCE_TICKET_KILLS=all` tries all.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use workforce_forge_imitation::{Failure, ImitatedForge};

use super::repositories::{commit_at, differences, files, git, refs_but, untouchable, write};
use super::scene::{Host, REPOSITORY, Scene, Ticket, id_of};
use super::watch::When;
use crate::office::{Database, on_both};

/// No forge is waited for as long.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// Which calls are tried: every so many, from the first on.
fn every(database: &Database) -> usize {
    let all = std::env::var("WORKFORCE_TICKET_KILLS").is_ok_and(|it| it == "all");
    match database {
        _ if all => 1,
        Database::Sqlite => 3,
        Database::Postgres(_) => 9,
    }
}

on_both! {
    fn a_plan_survives_kills_at_calls_of_git(database) {
        let mut scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = untouchable(&scene.source);
        let mut number = 1;
        loop {
            let key = format!("ABC-{number}");
            let (issue, plan) = scene.planned(&key);
            let is_over = approve_with_kills(&mut scene, &plan, number);
            let ticket = scene.ticket_of(&issue, &plan);
            assert_eq!(scene.status(&issue), "in_progress");
            let main = git(&scene.remote, &["rev-parse", "main"]);
            assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), main);
            assert_eq!(git(&ticket.worktree, &["status", "--porcelain"]), "");
            if is_over {
                break;
            }
            number += every(database);
        }
        let changed = differences(&before, &untouchable(&scene.source));
        assert!(changed.is_empty(), "the source differs in {changed:?}");
        nothing_is_left(&scene);
        eprintln!("a plan: killed up to call {number}");
    }

    fn the_end_of_the_work_survives_kills_at_calls_of_git(database) {
        let mut scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = untouchable(&scene.source);
        let mut number = 1;
        loop {
            let ticket = scene.begin_ticket(&format!("ABC-{number}"));
            commit_at(&scene.remote, "main", &format!("base-{number}.txt"), "base\n");
            let part = scene.begin_part(&ticket, "A part");
            write(&ticket.worktree, "work.txt", &ticket.key);
            write(&ticket.worktree, "README.md", &ticket.key);
            let done = json!({ "status": "done" });
            let path = format!("/api/issues/{part}");
            scene.ask("PATCH", &path, Some(&scene.developer), &done);
            scene.watch.kill_at(When::Before, number);
            // The server may be killed while it answers.
            let _ = scene.try_send("PATCH", &path, Some(&scene.lead), &done);
            let is_over = !is_killed_before_asking(&scene, &ticket);
            if !is_over {
                for when in [When::Meanwhile, When::After] {
                    scene.start_again_and_kill_at(when, number);
                    if !is_killed_before_asking(&scene, &ticket) {
                        break;
                    }
                }
            }
            if is_over {
                scene.watch.kill_nobody();
            } else {
                scene.end_and_start_again();
            }
            let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
            assert_eq!(scene.status(&ticket.issue), "in_review");
            let (status, answer) = scene.approve(&approval);
            assert_eq!(status, 200, "{answer}");
            is_merged_once(&scene, &ticket);
            if is_over {
                break;
            }
            number += every(database);
        }
        let changed = differences(&before, &untouchable(&scene.source));
        assert!(changed.is_empty(), "the source differs in {changed:?}");
        nothing_is_left(&scene);
        eprintln!("the end of the work: killed up to call {number}");
    }

    fn a_pull_request_survives_kills_at_calls_of_git(database) {
        let mut scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = untouchable(&scene.source);
        let mut number = 1;
        loop {
            let (ticket, approval) = scene.ticket_to_merge(&format!("ABC-{number}"));
            // There is something to be committed and to be merged again.
            write(&ticket.worktree, "late.txt", "late\n");
            commit_at(&scene.remote, "main", &format!("base-{number}.txt"), "base\n");
            let is_over = approve_with_kills(&mut scene, &approval, number);
            is_merged_once(&scene, &ticket);
            if is_over {
                break;
            }
            number += every(database);
        }
        let changed = differences(&before, &untouchable(&scene.source));
        assert!(changed.is_empty(), "the source differs in {changed:?}");
        nothing_is_left(&scene);
        eprintln!("a pull request: killed up to call {number}");
    }

    fn a_pull_request_survives_a_stop(database) {
        let mut scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let forge = scene.forge.as_ref().unwrap();
        forge.fail(Failure::wait(Duration::from_secs(2)).on("POST", ""));
        let answer = std::thread::scope(|scope| {
            let approving = scope.spawn(|| {
                let path = format!("/api/approvals/{approval}/approve");
                scene.try_send("POST", &path, None, &json!({}))
            });
            scene.wait_for("a request", || {
                let requests = forge.requests();
                let found = requests.iter().any(|it| it.method == "POST");
                found.then_some(())
            });
            scene.server().signal(Signal::SIGTERM);
            approving.join().unwrap()
        });
        scene.start_again();
        // Whoever asked may not have been told.
        if scene.approval(&approval)["status"] == "pending" {
            assert_ne!(answer.map(|it| it.0), Some(200));
            is_interrupted(&scene, &approval);
            let (status, answer) = scene.approve(&approval);
            assert_eq!(status, 200, "{answer}");
        }
        is_merged_once(&scene, &ticket);
    }

    fn a_pull_request_survives_kills_at_requests_to_github(database) {
        kill_at_requests(database, ImitatedForge::GitHub);
    }

    fn a_pull_request_survives_kills_at_requests_to_gitlab(database) {
        kill_at_requests(database, ImitatedForge::GitLab);
    }

    fn a_pull_request_survives_kills_at_requests_to_gitea(database) {
        kill_at_requests(database, ImitatedForge::Gitea);
    }
}

/// Kills the server while the forge is asked, before a pull request is opened, and after.
fn kill_at_requests(database: &Database, kind: ImitatedForge) {
    let mut scene = Scene::open(database, Host::Forge(kind));
    for (number, (method, failure)) in [
        ("GET", Failure::silence()),
        ("POST", Failure::silence()),
        ("POST", Failure::wait(FOR_EVER)),
    ]
    .into_iter()
    .enumerate()
    {
        let (ticket, approval) = scene.ticket_to_merge(&format!("ABC-{number}"));
        let forge = scene.forge.as_ref().unwrap();
        forge.forget_requests();
        forge.fail(failure.on(method, ""));
        std::thread::scope(|scope| {
            let approving = scope.spawn(|| {
                let path = format!("/api/approvals/{approval}/approve");
                scene.try_send("POST", &path, None, &json!({}))
            });
            scene.wait_for("a request", || {
                let requests = forge.requests();
                let found = requests.iter().any(|it| it.method == method);
                found.then_some(())
            });
            scene.kill_now();
            assert_eq!(approving.join().unwrap(), None);
        });
        scene.start_again();
        is_interrupted(&scene, &approval);
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        is_merged_once(&scene, &ticket);
    }
    nothing_is_left(&scene);
}

/// Approves with servers that are killed at a call of git, and in the end with one that lives. True
/// when there is no such call.
fn approve_with_kills(scene: &mut Scene<'_>, approval: &str, number: usize) -> bool {
    let path = format!("/api/approvals/{approval}/approve");
    for when in [When::Before, When::Meanwhile, When::After] {
        scene.watch.kill_at(when, number);
        let answer = scene.try_send("POST", &path, None, &json!({}));
        if let Some((status, answer)) = answer {
            assert_eq!(status, 200, "{when:?} call {number}: {answer}");
            scene.watch.kill_nobody();
            return when == When::Before;
        }
        scene.start_again();
        is_interrupted(scene, approval);
    }
    let (status, answer) = scene.approve(approval);
    assert_eq!(status, 200, "call {number}: {answer}");
    false
}

/// What was left is given up, and can be approved again.
#[track_caller]
pub(super) fn is_interrupted(scene: &Scene<'_>, approval: &str) {
    let execution = scene.wait_for("an end of the execution", || {
        let approval = scene.approval(approval);
        assert_eq!(approval["status"], "pending", "{approval}");
        let execution = approval["execution"].clone();
        (execution["state"] != "executing").then_some(execution)
    });
    // The server may have been killed before it began.
    if !execution.is_null() {
        assert_eq!(execution["state"], "failed", "{execution}");
        assert_eq!(execution["code"], "interrupted", "{execution}");
    }
}

/// True when the server dies before the board is asked about a ticket.
fn is_killed_before_asking(scene: &Scene<'_>, ticket: &Ticket) -> bool {
    let path = format!("/api/issues/{}/approvals", ticket.issue);
    scene.wait_for("the board's turn, or the end of the server", || {
        let answer = scene.try_send("GET", &path, None, &Value::Null);
        let Some((_, approvals)) = answer else {
            return Some(true);
        };
        let mut approvals = approvals.as_array().unwrap().iter();
        let is_asked = approvals.any(|it| it["type"] == "approve_pull_request");
        is_asked.then_some(false)
    })
}

/// The work is there once, asked for once, and its issue is done.
#[track_caller]
pub(super) fn is_merged_once(scene: &Scene<'_>, ticket: &Ticket) {
    assert_eq!(scene.status(&ticket.issue), "done");
    let branch = &ticket.branch;
    let range = format!("main..{branch}");
    let subjects = ["log", "--no-merges", "--format=%s", range.as_str()];
    let subjects = git(&scene.remote, &subjects);
    let mut counts = BTreeMap::new();
    for subject in git(
        &scene.remote,
        &["log", "--no-merges", "--format=%H", "--name-only", &range],
    )
    .lines()
    .filter(|line| line.contains('.'))
    {
        *counts.entry(subject.to_owned()).or_insert(0) += 1;
    }
    assert!(!counts.is_empty(), "no work on {branch}: {subjects}");
    for (name, count) in counts {
        assert_eq!(count, 1, "{name} is committed {count} times: {subjects}");
    }
    let head = git(&scene.remote, &["rev-parse", branch]);
    assert_eq!(git(&scene.source, &["rev-parse", branch]), head);
    assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&ticket.worktree, &["status", "--porcelain"]), "");
    git(
        &scene.remote,
        &["merge-base", "--is-ancestor", "main", branch],
    );
    let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
    let pulls: Vec<_> = pulls.iter().filter(|it| it.head == *branch).collect();
    assert_eq!(pulls.len(), 1, "{pulls:?}");
    assert_eq!(pulls[0].head_sha, head);
    let others = refs_but(&scene.remote, "refs/heads/feature/");
    let names: Vec<_> = others.keys().collect();
    assert_eq!(names, ["refs/heads/main"]);
}

/// No lock of git is left, nor a file of a moment.
#[track_caller]
fn nothing_is_left(scene: &Scene<'_>) {
    for repository in [&scene.source, &scene.remote] {
        let files = files(repository, &[]);
        let locks = files
            .keys()
            .filter(|path| path.extension().is_some_and(|it| it == "lock"));
        assert_eq!(locks.count(), 0, "locks in {}", repository.display());
        git(repository, &["fsck", "--no-dangling"]);
    }
    let listed = git(&scene.source, &["worktree", "list", "--porcelain"]);
    assert!(!listed.contains("prunable"), "{listed}");
    assert!(!listed.contains("locked"), "{listed}");
}
