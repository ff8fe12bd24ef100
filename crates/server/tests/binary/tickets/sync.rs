//! The base branch goes on while a ticket is worked on.

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::repositories::{commit_at, git, try_git, write};
use super::scene::{Host, REPOSITORY, Scene, Ticket, id_of};
use crate::office::on_both;

on_both! {
    fn a_conflict_at_the_end_of_the_work_goes_to_its_agent_and_then_to_the_board(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        commit_at(&scene.remote, "main", "README.md", "theirs\n");
        scene.do_work(&ticket, |worktree| write(worktree, "README.md", "ours\n"));
        for attempt in 1..=2 {
            let told = conflicts(&scene, &ticket, "ticket.conflict", attempt);
            assert_eq!(told["code"], "sync_conflict", "{told}");
            assert_eq!(told["attempt"], json!(attempt), "{told}");
            assert_eq!(told["facts"]["paths"], json!(["README.md"]), "{told}");
            assert_eq!(scene.status(&ticket.issue), "in_progress");
            // The agent says that it is done, and nothing is.
            says_done(&scene, &ticket);
        }
        conflicts(&scene, &ticket, "ticket.conflict_escalated", 1);
        assert_eq!(scene.activity(&ticket.issue, "ticket.conflict").len(), 2);
        assert_eq!(scene.status(&ticket.issue), "in_progress");
        merge_base(&scene, &ticket);
        says_done(&scene, &ticket);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let merged = git(&scene.remote, &["show", "feature/ABC-1:README.md"]);
        assert_eq!(merged, "both");
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn an_agent_is_woken_to_mend_a_conflict(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        commit_at(&scene.remote, "main", "README.md", "theirs\n");
        let part = scene.begin_part(&ticket, "A part");
        write(&ticket.worktree, "README.md", "ours\n");
        scene.start_when_woken(&scene.lead);
        scene.end_part(&part);
        let reason = "execution_workspace_conflict_recovery";
        let run = scene.run_because(&ticket.issue, reason);
        assert_eq!(run["agentId"], json!(scene.lead.id), "{run}");
    }

    fn a_conflict_when_the_board_approves_keeps_the_approval(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        scene.do_work(&ticket, |worktree| write(worktree, "README.md", "ours\n"));
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        commit_at(&scene.remote, "main", "README.md", "theirs\n");
        let head = git(&ticket.worktree, &["rev-parse", "HEAD"]);
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("sync_conflict")), "{answer}");
        assert_eq!(answer["details"]["paths"], json!(["README.md"]), "{answer}");
        assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), head);
        assert_eq!(git(&ticket.worktree, &["status", "--porcelain"]), "");
        let pushed = try_git(&scene.remote, &["rev-parse", "--verify", "feature/ABC-1"]);
        assert!(!pushed.status.success(), "the branch is pushed");
        let seen = scene.approval(&approval);
        assert_eq!(seen["status"], "pending", "{seen}");
        assert_eq!(seen["execution"]["state"], "failed", "{seen}");
        assert_eq!(seen["execution"]["step"], "sync", "{seen}");
        conflicts(&scene, &ticket, "ticket.conflict", 1);
        merge_base(&scene, &ticket);
        // How the agent solved it is shown to a board that looks first.
        let (status, answer) = scene.approve_seen(&seen);
        assert_eq!((status, &answer["code"]), (409, &json!("work_changed")), "{answer}");
        let (status, answer) = scene.approve_seen(&scene.approval(&approval));
        assert_eq!(status, 200, "{answer}");
        assert_eq!(scene.status(&ticket.issue), "done");
        let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
        assert_eq!(pulls.len(), 1, "{pulls:?}");
    }

    fn what_others_pushed_to_the_branch_of_a_ticket_is_kept(database) {
        let scene = Scene::open(database, Host::Remote);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        git(&scene.remote, &["branch", &ticket.branch, "main"]);
        commit_at(&scene.remote, &ticket.branch, "theirs.txt", "theirs\n");
        let theirs = git(&scene.remote, &["rev-parse", &ticket.branch]);
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["merge-base", "--is-ancestor", &theirs, &ticket.branch]);
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:ABC-1.txt"]);
    }
}

/// Waits until something was told so often; the last of it.
#[track_caller]
fn conflicts(scene: &Scene<'_>, ticket: &Ticket, action: &str, times: usize) -> Value {
    scene.wait_for(action, || {
        let told = scene.activity(&ticket.issue, action);
        (told.len() >= times).then(|| told.last().unwrap().clone())
    })
}

/// The lead merges the base branch in its worktree.
fn merge_base(scene: &Scene<'_>, ticket: &Ticket) {
    let address = super::repositories::file_url(&scene.remote);
    let merged = try_git(
        &ticket.worktree,
        &["pull", "-q", "--no-rebase", &address, "main"],
    );
    assert!(!merged.status.success(), "there is no conflict");
    write(&ticket.worktree, "README.md", "both\n");
    git(&ticket.worktree, &["commit", "-qam", "Merge main"]);
}

#[track_caller]
fn says_done(scene: &Scene<'_>, ticket: &Ticket) {
    let path = format!("/api/issues/{}", ticket.issue);
    let done = json!({ "status": "done" });
    let answer = scene.ask("PATCH", &path, Some(&scene.lead), &done);
    assert_eq!(answer["status"], "in_review", "{answer}");
}
