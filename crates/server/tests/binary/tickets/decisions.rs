//! The board says no, or asks for a change: whoever asked goes on, and nobody is stuck.

use std::time::Duration;

use serde_json::{Value, json};
use workforce_forge_imitation::{Failure, ImitatedForge};

use super::repositories::{git, refs_but, write};
use super::scene::{Host, REPOSITORY, Scene, id_of};
use crate::office::on_both;

on_both! {
    fn a_rejected_plan_is_planned_again(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (issue, plan) = scene.planned("ABC-1");
        assert_eq!(scene.status(&issue), "blocked");
        decided(&scene, &plan, "reject");
        works(&scene, &issue);
        let (status, plan) = scene.file_plan(&issue, &json!({ "ticketKey": "ABC-1" }));
        assert_eq!(status, 201, "{plan}");
        finish(&scene, &issue, &id_of(&plan));
    }

    fn a_plan_is_revised_twice_and_then_approved(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (issue, plan) = scene.planned("ABC-1");
        for branch in ["fix/one", "feature/two"] {
            decided(&scene, &plan, "request-revision");
            works(&scene, &issue);
            let payload = json!({
                "issueId": issue,
                "workspace": { "ticketKey": "ABC-1", "branch": branch },
            });
            resubmitted(&scene, &plan, &payload);
            assert_eq!(scene.status(&issue), "blocked");
        }
        let ticket = finish(&scene, &issue, &plan);
        assert_eq!(ticket, "feature/two");
    }

    fn a_plan_that_failed_can_be_revised(database) {
        let scene = Scene::open(database, Host::Remote);
        let (issue, plan) = scene.planned("ABC-1");
        write(&scene.source, "README.md", "changed\n");
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 409, "{answer}");
        decided(&scene, &plan, "request-revision");
        works(&scene, &issue);
        git(&scene.source, &["checkout", "-q", "README.md"]);
        let payload = json!({
            "issueId": issue,
            "workspace": { "ticketKey": "ABC-2", "branch": "chore/two" },
        });
        resubmitted(&scene, &plan, &payload);
        assert_eq!(finish(&scene, &issue, &plan), "chore/two");
    }

    fn rejected_work_goes_on_and_is_asked_for_again(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "reject");
        works(&scene, &ticket.issue);
        let part = scene.begin_part(&ticket, "Better");
        write(&ticket.worktree, "better.txt", "better\n");
        scene.end_part(&part);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        decided(&scene, &approval, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:better.txt"]);
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
    }

    fn revised_work_is_sent_again_with_all_of_it(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "request-revision");
        works(&scene, &ticket.issue);
        write(&ticket.worktree, "better.txt", "better\n");
        resubmitted(&scene, &approval, &json!({ "issueId": ticket.issue, "title": "Better" }));
        assert_eq!(scene.status(&ticket.issue), "in_review");
        decided(&scene, &approval, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:better.txt"]);
        let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
        assert_eq!(pulls.len(), 1, "{pulls:?}");
        assert_eq!(pulls[0].title, "Better");
    }

    fn one_of_many_decisions_at_once_is_taken(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let forge = scene.forge.as_ref().unwrap();
        forge.fail(Failure::wait(Duration::from_secs(10)).on("POST", "/pulls"));
        let statuses = std::thread::scope(|scope| {
            let first = scope.spawn(|| scene.approve(&approval));
            scene.wait_for("a request", || (!forge.requests().is_empty()).then_some(()));
            let mut others = Vec::new();
            for decision in ["approve", "reject", "request-revision"] {
                let (status, answer) = scene.decide(&approval, decision, &json!({}));
                assert_eq!(answer["code"], "execution_in_progress", "{decision}: {answer}");
                others.push(status);
            }
            let (status, answer) = first.join().unwrap();
            assert_eq!(status, 200, "{answer}");
            others
        });
        assert_eq!(statuses, [409, 409, 409]);
        assert_eq!(scene.status(&ticket.issue), "done");
        assert_eq!(forge.pull_requests(REPOSITORY).len(), 1);
    }

    fn revised_work_that_a_part_ends_is_asked_for_once(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "request-revision");
        let part = scene.begin_part(&ticket, "Better");
        write(&ticket.worktree, "better.txt", "better\n");
        scene.end_part(&part);
        // The board is asked again by itself, for the same.
        assert_eq!(id_of(&scene.asked(&ticket.issue, "approve_pull_request")), approval);
        let path = format!("/api/issues/{}/approvals", ticket.issue);
        let found = scene.get(&path);
        let waiting = |it: &&Value| it["type"] == "approve_pull_request" && it["status"] == "pending";
        assert_eq!(found.as_array().unwrap().iter().filter(waiting).count(), 1, "{found}");
        decided(&scene, &approval, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn revised_work_that_is_done_is_asked_for_again(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "request-revision");
        write(&ticket.worktree, "better.txt", "better\n");
        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
        let asked = scene.asked(&ticket.issue, "approve_pull_request");
        assert_eq!(id_of(&asked), approval, "{asked}");
        assert_eq!(asked["resubmitCount"], 1, "{asked}");
        assert_eq!(asked["payload"]["work"][0]["totalFiles"], 2, "{asked}");
        decided(&scene, &approval, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:better.txt"]);
    }

    fn work_that_is_taken_back_needs_no_pull_request_any_more(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "request-revision");
        std::fs::remove_file(ticket.worktree.join("ABC-1.txt")).unwrap();
        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, Some(&scene.lead), &json!({ "status": "done" }));
        let completion = id_of(&scene.asked(&ticket.issue, "approve_completion"));
        // Nobody can agree to both.
        assert_eq!(scene.approval(&approval)["status"], "cancelled");
        decided(&scene, &completion, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
        assert!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).is_empty());
    }

    fn a_ticket_that_is_cancelled_meanwhile_goes_no_further(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let other = scene.add_workspace("acme/other");
        let (ticket, places) = scene.begin_ticket_on_two("ABC-1");
        let issue = ticket.issue.clone();
        let part = scene.begin_part(&ticket, "A part");
        for place in &places {
            write(place, "work.txt", "work\n");
        }
        scene.end_part(&part);
        let approval = id_of(&scene.asked(&issue, "approve_pull_request"));
        let forge = scene.forge.as_ref().unwrap();
        forge.fail(Failure::wait(Duration::from_secs(10)).on("POST", "/pulls"));
        std::thread::scope(|scope| {
            let approving = scope.spawn(|| scene.approve(&approval));
            scene.wait_for("a request", || (!forge.requests().is_empty()).then_some(()));
            let path = format!("/api/issues/{issue}");
            scene.ask("PATCH", &path, None, &json!({ "status": "cancelled" }));
            let (status, answer) = approving.join().unwrap();
            assert!((400..500).contains(&status), "{answer}");
        });
        assert_eq!(scene.approval(&approval)["status"], "cancelled");
        assert_eq!(scene.status(&issue), "cancelled");
        // What comes after the step that went on is not done.
        let begun = forge.pull_requests(REPOSITORY).len() + forge.pull_requests("acme/other").len();
        assert_eq!(begun, 1);
        let pushed = [&scene.remote, &other].map(|remote| git(remote, &["branch", "--list", "feature/*"]));
        assert_eq!(pushed.iter().filter(|it| !it.is_empty()).count(), 1, "{pushed:?}");
    }

    fn the_reviews_of_a_terminated_agent_are_for_the_board(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        write(&ticket.worktree, "work.txt", "work\n");
        let path = format!("/api/issues/{part}");
        let done = json!({ "status": "done" });
        scene.ask("PATCH", &path, Some(&scene.developer), &done);
        let lead = format!("/api/agents/{}/terminate", scene.lead.id);
        scene.ask("POST", &lead, None, &json!({}));
        let seen = scene.get(&path);
        assert_eq!(seen["status"], "in_review", "{seen}");
        assert_eq!(seen["assigneeUserId"], "local-board", "{seen}");
        assert_eq!(seen["implementerAgentId"], json!(scene.developer.id), "{seen}");
        let back = json!({ "status": "in_progress" });
        let answer = scene.ask("PATCH", &path, None, &back);
        assert_eq!(answer["assigneeAgentId"], json!(scene.developer.id), "{answer}");
    }

    fn a_workspace_stays_while_a_ticket_is_open_in_it(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let project = format!("/api/projects/{}", scene.project);
        let workspace = scene.get(&project)["primaryWorkspace"]["id"].clone();
        let workspace = format!("{project}/workspaces/{}", workspace.as_str().unwrap());
        for path in [&workspace, &project] {
            let (status, answer) = scene.send("DELETE", path, None, &json!({}));
            assert_eq!((status, &answer["code"]), (409, &json!("workspace_in_use")), "{answer}");
            assert_eq!(answer["details"]["issueId"], json!(ticket.issue), "{answer}");
        }
        decided(&scene, &approval, "approve");
        for path in [&workspace, &project] {
            let (status, answer) = scene.send("DELETE", path, None, &json!({}));
            assert_eq!(status, 200, "{answer}");
        }
    }

    fn work_that_was_merged_is_pushed_to_its_pull_request_again(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        decided(&scene, &approval, "approve");
        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, None, &json!({ "status": "todo" }));
        scene.check_out(&ticket.issue, &scene.lead);
        write(&ticket.worktree, "more.txt", "more\n");
        let done = json!({ "status": "done" });
        let answer = scene.ask("PATCH", &path, Some(&scene.lead), &done);
        assert_eq!(answer["status"], "in_review", "{answer}");
        let approval = id_of(&scene.asked(&ticket.issue, "approve_push_to_existing_pr"));
        decided(&scene, &approval, "approve");
        assert_eq!(scene.status(&ticket.issue), "done");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:more.txt"]);
        assert_eq!(scene.forge.as_ref().unwrap().pull_requests(REPOSITORY).len(), 1);
    }

    fn a_part_of_a_ticket_that_is_taken_up_again_is_pushed_to_its_open_pull_request(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let forge = scene.forge.as_ref().unwrap();
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let (status, first) = scene.approve(&approval);
        assert_eq!(status, 200, "{first}");
        let pushed = git(&scene.remote, &["rev-parse", &ticket.branch]);
        let others = refs_but(&scene.remote, "refs/heads/feature/ABC-1");
        forge.forget_requests();

        let path = format!("/api/issues/{}", ticket.issue);
        scene.ask("PATCH", &path, None, &json!({ "status": "todo" }));
        scene.check_out(&ticket.issue, &scene.lead);
        let part = scene.begin_part(&ticket, "What the review wants");
        let seen = scene.get(&format!("/api/issues/{part}"));
        assert_eq!(seen["executionWorkspaceId"], scene.get(&path)["executionWorkspaceId"]);
        write(&ticket.worktree, "more.txt", "more\n");
        scene.end_part(&part);
        let asked = scene.asked(&ticket.issue, "approve_push_to_existing_pr");
        assert_eq!(scene.status(&ticket.issue), "in_review");
        // Nothing is pushed before the board agrees.
        assert_eq!(git(&scene.remote, &["rev-parse", &ticket.branch]), pushed);
        let (status, second) = scene.approve(&id_of(&asked));
        assert_eq!(status, 200, "{second}");

        assert_eq!(scene.status(&ticket.issue), "done");
        let head = git(&scene.remote, &["rev-parse", &ticket.branch]);
        git(&scene.remote, &["merge-base", "--is-ancestor", &pushed, &head]);
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:more.txt"]);
        assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), head);
        assert_eq!(refs_but(&scene.remote, "refs/heads/feature/ABC-1"), others);
        assert_eq!(second["payload"]["commitSha"], json!(head));
        for field in ["pullRequestUrl", "pullRequestNumber", "branch"] {
            assert_eq!(second["payload"][field], first["payload"][field], "{field}: {second}");
        }
        let pulls = forge.pull_requests(REPOSITORY);
        assert_eq!(pulls.len(), 1, "{pulls:?}");
        assert_eq!(pulls[0].head_sha, head);
        let requests = forge.requests();
        assert!(requests.iter().all(|it| it.method != "POST"), "{requests:?}");
    }
}

#[track_caller]
fn decided(scene: &Scene<'_>, approval: &str, decision: &str) {
    let note = json!({ "decisionNote": "Think again." });
    let (status, answer) = scene.decide(approval, decision, &note);
    assert_eq!(status, 200, "{decision}: {answer}");
}

#[track_caller]
fn resubmitted(scene: &Scene<'_>, approval: &str, payload: &Value) {
    let path = format!("/api/approvals/{approval}/resubmit");
    let body = json!({ "payload": payload });
    let answer = scene.ask("POST", &path, Some(&scene.lead), &body);
    assert_eq!(answer["status"], "pending", "{answer}");
}

/// The lead works on an issue, and nobody waits for anybody.
#[track_caller]
fn works(scene: &Scene<'_>, issue: &str) {
    let found = scene.get(&format!("/api/issues/{issue}"));
    assert_eq!(found["status"], "in_progress", "{found}");
    assert_eq!(found["assigneeAgentId"], json!(scene.lead.id), "{found}");
}

/// Approves a plan and goes the whole way; the branch.
#[track_caller]
fn finish(scene: &Scene<'_>, issue: &str, plan: &str) -> String {
    decided(scene, plan, "approve");
    let ticket = scene.ticket_of(issue, plan);
    scene.do_work(&ticket, |worktree| write(worktree, "work.txt", "work\n"));
    let approval = id_of(&scene.asked(issue, "approve_pull_request"));
    decided(scene, &approval, "approve");
    assert_eq!(scene.status(issue), "done");
    git(
        &scene.remote,
        &["cat-file", "-e", &format!("{}:work.txt", ticket.branch)],
    );
    ticket.branch
}
