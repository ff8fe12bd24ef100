//! The remote or the forge fails: the approval waits, and goes on when they work again.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use workforce_forge_imitation::{Failure, ImitatedForge, TOKEN};

use super::repositories::{git, write};
use super::scene::{Host, REPOSITORY, Scene, id_of};
use crate::office::on_both;

on_both! {
    fn a_forge_that_fails_delays_one_pull_request(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let forge = scene.forge.as_ref().unwrap();
        let failures = [
            Failure::status(401),
            Failure::status(422),
            Failure::status(500).after_effect(),
            Failure::drop_connection(),
            Failure::drop_connection().after_effect(),
            Failure::page(),
            Failure::status(429).header("retry-after", "1"),
        ];
        for (number, failure) in failures.into_iter().enumerate() {
            let (ticket, approval) = scene.ticket_to_merge(&format!("ABC-{number}"));
            forge.fail(failure.clone().on("POST", "/pulls"));
            let (status, answer) = scene.approve(&approval);
            let found = forge.pull_requests(REPOSITORY);
            let found = found.iter().filter(|it| it.head == ticket.branch).count();
            // A forge that did what it was asked may be found out by asking once more.
            if status == 200 {
                assert_eq!(found, 1, "{failure:?}: {answer}");
            } else {
                failed(&scene, &approval, (status, &answer), 502, "pr_create_failed");
                assert_eq!(answer["details"]["step"], "pull_request", "{failure:?}: {answer}");
                assert_eq!(scene.status(&ticket.issue), "in_review");
                approved_in_time(&scene, &approval);
            }
            assert_eq!(scene.status(&ticket.issue), "done", "{failure:?}");
            let found = forge.pull_requests(REPOSITORY);
            let found = found.iter().filter(|it| it.head == ticket.branch).count();
            assert_eq!(found, 1, "{failure:?}");
        }
    }

    fn a_forge_that_takes_no_token_is_told_to_the_board(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitLab));
        let forge = scene.forge.as_ref().unwrap();
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        forge.refuse_tokens();
        let (status, answer) = scene.approve(&approval);
        failed(&scene, &approval, (status, &answer), 502, "pr_create_failed");
        forge.accept_token(TOKEN);
        approved_in_time(&scene, &approval);
        assert_eq!(scene.status(&ticket.issue), "done");
        assert_eq!(forge.pull_requests(REPOSITORY).len(), 1);
        // What was done before is not done again.
        let commits = git(&scene.remote, &["log", "--format=%H", "main..feature/ABC-1"]);
        assert_eq!(commits.lines().count(), 1, "{commits}");
    }

    fn a_pull_request_that_is_there_already_is_taken(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::Gitea));
        let forge = scene.forge.as_ref().unwrap();
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        forge.fail(Failure::status(500).on("POST", "/pulls").after_effect());
        let (_, _) = scene.approve(&approval);
        assert_eq!(forge.pull_requests(REPOSITORY).len(), 1);
        if scene.status(&ticket.issue) != "done" {
            approved_in_time(&scene, &approval);
        }
        assert_eq!(forge.pull_requests(REPOSITORY).len(), 1);
    }

    fn a_remote_that_is_away_delays_the_push(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let away = scene.home().join("away.git");
        fs::rename(&scene.remote, &away).unwrap();
        let (status, answer) = scene.approve(&approval);
        failed(&scene, &approval, (status, &answer), 502, "git_remote_failed");
        fs::rename(&away, &scene.remote).unwrap();
        approved_in_time(&scene, &approval);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn a_remote_that_is_away_delays_what_the_board_is_asked(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        let away = scene.home().join("away.git");
        fs::rename(&scene.remote, &away).unwrap();
        scene.do_work(&ticket, |worktree| write(worktree, "work.txt", "work\n"));
        let issue = format!("/api/issues/{}", ticket.issue);
        let advance = scene.wait_for("a failure", || {
            let advance = scene.get(&issue)["advance"].clone();
            (advance["code"] == "git_remote_failed").then_some(advance)
        });
        assert!(advance["attempts"].as_i64() > Some(0), "{advance}");
        assert!(advance["error"].as_str().is_some_and(|it| !it.is_empty()), "{advance}");
        assert!(advance["nextAttemptAt"].as_str() > advance["since"].as_str(), "{advance}");
        assert_eq!(scene.status(&ticket.issue), "in_review");
        fs::rename(&away, &scene.remote).unwrap();
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        assert_eq!(scene.get(&issue)["advance"], json!(null));
        let told = scene.activity(&ticket.issue, "ticket.advance_postponed");
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((&told[0]["code"], &told[0]["error"]), (&advance["code"], &advance["error"]));
        approved_in_time(&scene, &approval);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn a_remote_that_refuses_the_branch_delays_the_push(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        git(&scene.remote, &["config", "receive.hideRefs", "refs/heads/feature"]);
        let (status, answer) = scene.approve(&approval);
        failed(&scene, &approval, (status, &answer), 409, "git_push_rejected");
        git(&scene.remote, &["config", "--unset", "receive.hideRefs"]);
        approved_in_time(&scene, &approval);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn a_token_is_shown_nowhere(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (_, approval) = scene.ticket_to_merge("ABC-1");
        let forge = scene.forge.as_ref().unwrap();
        let echo = format!("{{\"message\":\"no {TOKEN} here\"}}");
        forge.fail(Failure::answer(422, &echo).on("POST", "/pulls"));
        let (_, refused) = scene.approve(&approval);
        let seen = scene.approval(&approval);
        approved_in_time(&scene, &approval);
        assert!(forge.requests().iter().any(|it| it.headers.values().any(|it| it.contains(TOKEN))));
        let activity = scene.get(&scene.of_company("activity"));
        for (what, text) in [
            ("an answer", refused.to_string()),
            ("an approval", seen.to_string()),
            ("the activity", activity.to_string()),
            ("the log", scene.logs()),
            ("arguments of git", scene.watch.arguments()),
        ] {
            assert!(!text.contains(TOKEN), "{what} shows the token");
        }
        assert!(scene.watch.arguments().contains("push"));
        holds_nowhere(&scene.data(), TOKEN);
        holds_nowhere(&scene.source, TOKEN);
        holds_nowhere(&scene.remote, TOKEN);
    }
}

/// The approval waits, and tells why it was not carried out.
#[track_caller]
fn failed(scene: &Scene<'_>, approval: &str, answer: (u16, &Value), status: u16, code: &str) {
    let (found, answer) = answer;
    assert_eq!((found, &answer["code"]), (status, &json!(code)), "{answer}");
    let seen = scene.approval(approval);
    assert_eq!(seen["status"], "pending", "{seen}");
    assert_eq!(seen["execution"]["state"], "failed", "{seen}");
    assert_eq!(seen["execution"]["code"], code, "{seen}");
}

/// Approves until a forge that wanted a pause takes requests again.
#[track_caller]
fn approved_in_time(scene: &Scene<'_>, approval: &str) {
    let answer = scene.wait_for("a pull request", || {
        let (status, answer) = scene.approve(approval);
        (status != 502).then_some((status, answer))
    });
    assert_eq!(answer.0, 200, "{}", answer.1);
}

/// Nothing below a folder has this text in it.
#[track_caller]
fn holds_nowhere(folder: &Path, text: &str) {
    for (path, (_, content)) in super::repositories::files(folder, &[]) {
        let found = content.windows(text.len()).any(|it| it == text.as_bytes());
        assert!(!found, "{} shows the token", path.display());
    }
}
