//! A board that names what it has seen lets nothing else be pushed.

use serde_json::{Value, json};
use workforce_forge_imitation::{Failure, ImitatedForge};

use super::repositories::{commit_at, git, try_git, write};
use super::scene::{Host, REPOSITORY, Scene, Ticket, id_of};
use crate::office::on_both;

on_both! {
    fn work_that_the_board_was_not_shown_is_shown_before_it_is_pushed(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let first = scene.approval(&approval);
        let head = git(&ticket.worktree, &["rev-parse", "HEAD"]);
        assert_eq!(first["payload"]["work"][0]["commit"], json!(head), "{first}");
        write(&ticket.worktree, "more.txt", "more\n");
        let refused = changed(&scene, &ticket, &first);
        let row = &refused["details"]["worktrees"][0];
        let head = git(&ticket.worktree, &["rev-parse", "HEAD"]);
        assert_eq!(row["commit"], json!(head), "{refused}");
        assert_eq!(row["branch"], "feature/ABC-1", "{refused}");

        let shown = scene.approval(&approval);
        assert_eq!(shown["status"], "pending", "{shown}");
        assert_eq!(shown["execution"]["state"], "failed", "{shown}");
        assert_eq!(shown["execution"]["step"], "push", "{shown}");
        assert_eq!(shown["payload"]["work"][0]["commit"], json!(head), "{shown}");
        assert_eq!(shown["payload"]["work"][0]["totalFiles"], 2, "{shown}");
        let edited = |event: &&Value| event["type"] == "edited";
        assert_eq!(shown["events"].as_array().unwrap().iter().filter(edited).count(), 1, "{shown}");
        assert_ne!(shown["revision"], first["revision"], "{shown}");

        let (status, answer) = scene.approve_seen(&first);
        assert_eq!((status, &answer["code"]), (412, &json!("revision_conflict")), "{answer}");
        approved(&scene, &approval);
        assert_eq!(git(&scene.remote, &["rev-parse", "feature/ABC-1"]), head);
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn commits_of_an_agent_are_work_as_well(database) {
        let scene = Scene::open(database, Host::Remote);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let seen = scene.approval(&approval);
        commit_at(&scene.remote, "main", "theirs.txt", "theirs\n");
        git(&ticket.worktree, &["fetch", "-q", "origin", "main"]);
        git(&ticket.worktree, &["merge", "-q", "--no-commit", "FETCH_HEAD"]);
        write(&ticket.worktree, "hidden.txt", "hidden\n");
        git(&ticket.worktree, &["add", "."]);
        git(&ticket.worktree, &["commit", "-q", "-m", "Merge main into feature/ABC-1"]);
        changed(&scene, &ticket, &seen);
        // What was shown is taken away: the ticket does not end without it.
        git(&ticket.worktree, &["reset", "-q", "--hard", "HEAD~2"]);
        changed(&scene, &ticket, &scene.approval(&approval));
        let shown = scene.approval(&approval);
        assert_eq!(shown["payload"]["work"][0]["totalFiles"], 0, "{shown}");
    }

    fn without_a_look_all_that_is_there_is_pushed_and_told(database) {
        let scene = Scene::open(database, Host::Remote);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        write(&ticket.worktree, "late.txt", "late\n");
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let pushed = git(&scene.remote, &["rev-parse", "feature/ABC-1"]);
        assert_eq!(answer["payload"]["work"][0]["commit"], json!(pushed), "{answer}");
        assert_eq!(answer["payload"]["work"][0]["totalFiles"], 2, "{answer}");
        let shown = scene.approval(&approval);
        let edited = |event: &&Value| event["type"] == "edited";
        assert_eq!(shown["events"].as_array().unwrap().iter().filter(edited).count(), 1, "{shown}");
    }

    fn what_is_merged_meanwhile_needs_no_other_look(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        commit_at(&scene.remote, "main", "one.txt", "one\n");
        let forge = scene.forge.as_ref().unwrap();
        forge.fail(Failure::answer(422, "no").on("POST", "/pulls"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (502, &json!("pr_create_failed")), "{answer}");
        commit_at(&scene.remote, "main", "two.txt", "two\n");
        approved(&scene, &approval);
        for file in ["one.txt", "two.txt", "ABC-1.txt"] {
            git(&scene.remote, &["cat-file", "-e", &format!("feature/ABC-1:{file}")]);
        }
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn what_was_written_for_another_issue_in_the_worktree_is_shown_as_well(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, issues) = scene.begin_shared_ticket("ABC-1");
        let mut asked = issues.map(|issue| {
            write(&ticket.worktree, &format!("{issue}.txt"), "work\n");
            let path = format!("/api/issues/{issue}");
            scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
            scene.asked(&issue, "approve_pull_request")
        });
        changed(&scene, &ticket, &asked[0]);
        asked[0] = scene.approval(&id_of(&asked[0]));
        assert_eq!(asked[0]["payload"]["work"][0]["totalFiles"], 2, "{}", asked[0]);
        // The other one was shown all of it from the first.
        for approval in asked {
            let (status, answer) = scene.approve_seen(&approval);
            assert_eq!(status, 200, "{answer}");
        }
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
    }

    fn of_several_worktrees_none_is_pushed_before_all_were_shown(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let other = scene.add_workspace("acme/other");
        let (ticket, places) = scene.begin_ticket_on_two("ABC-1");
        for place in &places {
            write(place, "work.txt", "work\n");
        }
        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
        let seen = scene.asked(&ticket.issue, "approve_pull_request");
        write(&places[1], "more.txt", "more\n");
        let refused = changed(&scene, &ticket, &seen);
        assert_eq!(refused["details"]["worktrees"].as_array().unwrap().len(), 1, "{refused}");
        assert_eq!(git(&other, &["branch", "--list", "feature/*"]), "");
        approved(&scene, &id_of(&seen));
        let files = [&scene.remote, &other].map(|remote| {
            git(remote, &["ls-tree", "--name-only", "feature/ABC-1"]).contains("more.txt")
        });
        assert!(files.contains(&true), "{files:?}");
    }
}

/// Approves what was changed since it was seen: nothing is pushed.
#[track_caller]
fn changed(scene: &Scene, ticket: &Ticket, seen: &Value) -> Value {
    let (status, answer) = scene.approve_seen(seen);
    assert_eq!(
        (status, &answer["code"]),
        (409, &json!("work_changed")),
        "{answer}"
    );
    let pushed = try_git(&scene.remote, &["rev-parse", "--verify", "feature/ABC-1"]);
    assert!(!pushed.status.success(), "the branch is pushed");
    assert_eq!(scene.status(&ticket.issue), "in_review");
    answer
}

/// Looks and approves.
#[track_caller]
fn approved(scene: &Scene, approval: &str) {
    let (status, answer) = scene.approve_seen(&scene.approval(approval));
    assert_eq!(status, 200, "{answer}");
}
