//! How tickets come to their end by other ways than the usual one.

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::repositories::{file_url, git, write};
use super::scene::{Host, REPOSITORY, Scene, id_of};
use crate::office::on_both;

on_both! {
    fn a_ticket_below_an_epic_is_pushed_as_any_other(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let epic = scene.begin_issue("Epic");
        let ticket = scene.begin_ticket("ABC-1");
        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, None, &json!({ "parentId": epic }));
        write(&ticket.worktree, "work.txt", "work\n");
        scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:work.txt"]);
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn what_was_done_since_the_board_was_asked_is_shown_to_it(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        write(&ticket.worktree, "more.txt", "more\n");
        let path = format!("/api/issues/{}", ticket.issue);
        let answer = scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
        assert_eq!(answer["rewritten"]["approvalId"], json!(approval), "{answer}");
        let shown = scene.wait_for("the new work", || {
            let shown = scene.approval(&approval);
            (shown["payload"]["work"][0]["totalFiles"] == 2).then_some(shown)
        });
        assert_eq!(shown["status"], "pending", "{shown}");
        let edited = |event: &&Value| event["type"] == "edited";
        assert_eq!(shown["events"].as_array().unwrap().iter().filter(edited).count(), 1, "{shown}");
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:more.txt"]);
    }

    fn a_ticket_whose_late_part_is_cancelled_comes_before_the_board(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        write(&ticket.worktree, "work.txt", "work\n");
        let path = format!("/api/issues/{}", ticket.issue);
        let advance = || scene.get(&path)["advance"].clone();
        let away = scene.remote.with_extension("away");
        std::fs::rename(&scene.remote, &away).unwrap();
        scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "in_review" }));
        scene.wait_for("a postponement", || advance()["code"].is_string().then_some(()));
        let late = scene.begin_part(&ticket, "Late");
        std::fs::rename(&away, &scene.remote).unwrap();
        scene.wait_for("the end of the advance", || advance().is_null().then_some(()));
        assert_eq!(scene.status(&ticket.issue), "in_review");
        let part = format!("/api/issues/{late}");
        scene.ask("PATCH", &part, Some(&scene.developer), &json!({ "status": "cancelled" }));
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn each_issue_of_a_plan_brings_their_worktree_before_the_board(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, [first, further]) = scene.begin_shared_ticket("ABC-1");
        for (issue, kind) in [
            (&further, "approve_pull_request"),
            (&first, "approve_push_to_existing_pr"),
        ] {
            write(&ticket.worktree, &format!("{kind}.txt"), "work\n");
            let path = format!("/api/issues/{issue}");
            scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
            let asked = scene.asked(issue, kind);
            assert_ne!(asked["payload"]["work"], json!([]), "{asked}");
            let (status, answer) = scene.approve(&id_of(&asked));
            assert_eq!(status, 200, "{answer}");
            assert_eq!(scene.status(issue), "done");
            git(&scene.remote, &["cat-file", "-e", &format!("feature/ABC-1:{kind}.txt")]);
        }
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
    }

    fn a_deleted_ticket_leaves_its_parts_the_worktree(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        let path = format!("/api/issues/{}", ticket.issue);
        let (status, answer) = scene.send("DELETE", &path, None, &json!({}));
        assert_eq!(status, 200, "{answer}");
        write(&ticket.worktree, "work.txt", "work\n");
        let path = format!("/api/issues/{part}");
        let done = json!({ "status": "done" });
        let answer = scene.ask("PATCH", &path, Some(&scene.developer), &done);
        assert_eq!(answer["rewritten"]["reason"], "approval_required", "{answer}");
        let approval = id_of(&scene.asked(&part, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:work.txt"]);
    }

    fn a_branch_that_anything_of_the_company_is_merged_into_is_no_branch_of_a_ticket(database) {
        let scene = Scene::open(database, Host::Remote);
        git(&scene.remote, &["branch", "feature/develop", "main"]);
        git(&scene.remote, &["branch", "feature/release", "main"]);
        let url = file_url(&scene.remote);
        let other = json!({
            "name": "Other",
            "workspace": { "repoUrl": url, "name": "copy", "defaultBaseBranch": "feature/develop" },
        });
        let other = scene.post(&scene.of_company("projects"), &other);
        // An open ticket of the other project starts from a branch that only the board named.
        let issue = json!({ "title": "Based", "status": "todo", "projectId": other["id"] });
        let based = id_of(&scene.post(&scene.of_company("issues"), &issue));
        let plan = json!({
            "type": "approve_issue_plan",
            "payload": {
                "issueId": based,
                "workspace": { "ticketKey": "ABC-9", "baseBranch": "feature/release" },
            },
        });
        let plan = id_of(&scene.post(&scene.of_company("approvals"), &plan));
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        for (key, branch, code) in [
            ("ABC-1", "feature/develop", "workspace_unavailable"),
            ("ABC-2", "feature/release", "workspace_unavailable"),
            ("ABC-3", "feature/ABC-9", "branch_in_use"),
        ] {
            let issue = scene.begin_issue(key);
            let workspace = json!({ "ticketKey": key, "branch": branch });
            let (status, plan) = scene.file_plan(&issue, &workspace);
            assert_eq!(status, 201, "{plan}");
            let seen = scene.approval(&id_of(&plan));
            assert!(seen["preflight"][0]["error"].is_string(), "{branch}: {seen}");
            let (status, answer) = scene.approve(&id_of(&plan));
            assert_eq!((status, &answer["code"]), (409, &json!(code)), "{branch}: {answer}");
            assert_eq!(answer["details"]["branch"], branch, "{answer}");
        }
    }
}
