//! Repositories that want files changed before they are committed.

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::repositories::{commit_at, git, try_git, write};
use super::scene::{Host, Scene, Ticket, id_of};
use crate::office::on_both;
use crate::refused_backups::sha256;

on_both! {
    fn what_a_filter_would_hide_is_not_pushed(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        git(&scene.source, &["config", "filter.git-crypt.required", "true"]);
        let attributes = "vault/** filter=git-crypt diff=git-crypt\n";
        commit_at(&scene.remote, "main", ".gitattributes", attributes);
        let ticket = scene.begin_ticket("ABC-1");
        scene.do_work(&ticket, |worktree| write(worktree, "vault/notes.txt", "plain text\n"));
        let told = refused(&scene, &ticket, 1);
        is_about_the_vault(&told["facts"]);
        assert_eq!(scene.status(&ticket.issue), "in_progress");
        let seen = scene.get(&format!("/api/issues/{}/workspace", ticket.issue));
        assert_eq!(seen["state"]["refusedFiles"][0]["path"], "vault/notes.txt", "{seen}");

        // The agent takes the filter away, and commits the file itself.
        write(&ticket.worktree, ".gitattributes", "");
        git(&ticket.worktree, &["add", "."]);
        git(&ticket.worktree, &["commit", "-qm", "No filter"]);
        says_done(&scene, &ticket);
        is_about_the_vault(&refused(&scene, &ticket, 2)["facts"]);

        git(&ticket.worktree, &["reset", "-q", "--hard", "HEAD~"]);
        write(&ticket.worktree, "vault/notes.txt", "\0GITCRYPT\0encrypted");
        says_done(&scene, &ticket);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        write(&ticket.worktree, "vault/notes.txt", "plain text again\n");
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("unsafe_files")), "{answer}");
        is_about_the_vault(&answer["details"]);
        let pushed = try_git(&scene.remote, &["rev-parse", "--verify", &ticket.branch]);
        assert!(!pushed.status.success(), "the branch is pushed");

        write(&ticket.worktree, "vault/notes.txt", "\0GITCRYPT\0encrypted");
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let pushed = git(&scene.remote, &["show", &format!("{}:vault/notes.txt", ticket.branch)]);
        assert_eq!(pushed, "\0GITCRYPT\0encrypted");
    }

    fn a_pull_request_that_is_open_gets_nothing_that_a_filter_would_hide(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        commit_at(&scene.remote, "main", ".gitattributes", "vault/** filter=git-crypt\n");
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let pushed = git(&scene.remote, &["rev-parse", &ticket.branch]);

        take_up_again(&scene, &ticket);
        write(&ticket.worktree, "vault/notes.txt", "plain text\n");
        says_done(&scene, &ticket);
        is_about_the_vault(&refused(&scene, &ticket, 1)["facts"]);
        write(&ticket.worktree, "vault/notes.txt", "\0GITCRYPT\0encrypted");
        says_done(&scene, &ticket);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_push_to_existing_pr"));
        write(&ticket.worktree, "vault/notes.txt", "plain text again\n");
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("unsafe_files")), "{answer}");
        is_about_the_vault(&answer["details"]);
        assert_eq!(git(&scene.remote, &["rev-parse", &ticket.branch]), pushed);

        write(&ticket.worktree, "vault/notes.txt", "\0GITCRYPT\0encrypted");
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let pushed = git(&scene.remote, &["show", &format!("{}:vault/notes.txt", ticket.branch)]);
        assert_eq!(pushed, "\0GITCRYPT\0encrypted");
    }

    fn files_in_git_lfs_are_pushed_as_pointers_after_their_objects(database) {
        if !workforce_skipped_tests::has("git-lfs") {
            return;
        }
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
        commit_at(&scene.remote, "main", ".gitattributes", attributes);
        let ticket = scene.begin_ticket("ABC-1");
        scene.do_work(&ticket, |worktree| write(worktree, "big.bin", "first\n"));
        for (content, kind) in [
            ("first\n", "approve_pull_request"),
            ("second\n", "approve_push_to_existing_pr"),
        ] {
            let approval = id_of(&scene.asked(&ticket.issue, kind));
            let oid = sha256(content);
            let object = format!("lfs/objects/{}/{}/{oid}", &oid[..2], &oid[2..4]);
            let object = scene.remote.join(object);
            assert!(!object.exists(), "it is uploaded before the board agrees");
            let (status, answer) = scene.approve(&approval);
            assert_eq!(status, 200, "{answer}");
            let pushed = git(&scene.remote, &["show", &format!("{}:big.bin", ticket.branch)]);
            let lines: Vec<_> = pushed.lines().skip(1).collect();
            let size = format!("size {}", content.len());
            assert_eq!(lines, [format!("oid sha256:{oid}"), size], "{pushed}");
            assert_eq!(std::fs::read_to_string(object).unwrap(), content);
            if content == "first\n" {
                take_up_again(&scene, &ticket);
                write(&ticket.worktree, "big.bin", "second\n");
                says_done(&scene, &ticket);
            }
        }
    }

    fn an_agent_is_woken_to_leave_out_what_has_a_filter(database) {
        let scene = Scene::open(database, Host::Remote);
        commit_at(&scene.remote, "main", ".gitattributes", "vault/** filter=git-crypt\n");
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        write(&ticket.worktree, "vault/notes.txt", "plain text\n");
        scene.start_when_woken(&scene.lead);
        scene.end_part(&part);
        let reason = "execution_workspace_conflict_recovery";
        let run = scene.run_because(&ticket.issue, reason);
        assert_eq!(run["agentId"], json!(scene.lead.id), "{run}");
        is_about_the_vault(&refused(&scene, &ticket, 1)["facts"]);
    }

    fn what_a_merge_driver_would_merge_is_left_to_the_agent(database) {
        let scene = Scene::open(database, Host::Remote);
        let lines = "1\n2\n3\n4\n5\n6\n";
        commit_at(&scene.remote, "main", ".gitattributes", "list merge=sorted\n");
        commit_at(&scene.remote, "main", "list", lines);
        let ticket = scene.begin_ticket("ABC-1");
        commit_at(&scene.remote, "main", "list", &format!("0\n{lines}"));
        scene.do_work(&ticket, |worktree| write(worktree, "list", &format!("{lines}7\n")));
        let told = refused(&scene, &ticket, 1);
        let file = &told["facts"]["files"][0];
        assert_eq!(file["path"], "list", "{told}");
        assert!(file["reason"].as_str().unwrap().contains("`sorted`"), "{told}");
        let address = super::repositories::file_url(&scene.remote);
        git(&ticket.worktree, &["pull", "-q", "--no-rebase", &address, "main"]);
        says_done(&scene, &ticket);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let merged = git(&scene.remote, &["show", &format!("{}:list", ticket.branch)]);
        assert_eq!(merged, format!("0\n{lines}7"));
    }
}

/// Waits until files were refused so often; what was told of the last time.
#[track_caller]
fn refused(scene: &Scene<'_>, ticket: &Ticket, times: usize) -> Value {
    let told = scene.wait_for("a refusal", || {
        let told = scene.activity(&ticket.issue, "ticket.conflict");
        (told.len() >= times).then(|| told.last().unwrap().clone())
    });
    assert_eq!(told["code"], "unsafe_files", "{told}");
    told
}

/// Whether facts name the file, its filter and what to do, and nothing else.
#[track_caller]
fn is_about_the_vault(facts: &Value) {
    let files = facts["files"].as_array().unwrap();
    let [file] = files.as_slice() else {
        panic!("{facts}");
    };
    assert_eq!(file["path"], "vault/notes.txt", "{facts}");
    assert_eq!(file["filter"], "git-crypt", "{facts}");
    let reason = file["reason"].as_str().unwrap();
    assert!(
        reason.contains("leave it to somebody who has the filter"),
        "{facts}"
    );
}

/// The board wants more of a ticket that was done, and its agent begins.
#[track_caller]
fn take_up_again(scene: &Scene<'_>, ticket: &Ticket) {
    let path = format!("/api/issues/{}", ticket.issue);
    scene.ask("PATCH", &path, None, &json!({ "status": "todo" }));
    scene.check_out(&ticket.issue, &scene.lead);
}

#[track_caller]
fn says_done(scene: &Scene<'_>, ticket: &Ticket) {
    let path = format!("/api/issues/{}", ticket.issue);
    let done = json!({ "status": "done" });
    scene.ask("PATCH", &path, Some(&scene.lead), &done);
}
