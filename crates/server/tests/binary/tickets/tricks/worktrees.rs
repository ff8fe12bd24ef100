//! Worktrees and repositories that an agent prepared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::{Surroundings, canaries, trap};
use crate::office::on_both;
use crate::tickets::repositories::{git, make_source, write};
use crate::tickets::scene::{Host, Scene, Ticket, id_of};

on_both! {
    fn hooks_filters_and_programs_of_a_repository_do_not_run(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        let common = scene.source.join(".git");
        for hook in ["pre-commit", "post-commit", "pre-push", "pre-merge-commit", "post-checkout",
            "reference-transaction", "commit-msg", "prepare-commit-msg", "fsmonitor"] {
            trap(&scene, &common.join("hooks").join(hook));
        }
        let program = trap(&scene, &scene.home().join("trap"));
        for name in ["core.fsmonitor", "core.editor", "core.pager", "core.sshCommand",
            "core.askPass", "filter.x.clean", "filter.x.smudge", "filter.x.process",
            "diff.x.command", "diff.x.textconv", "merge.x.driver", "gpg.program",
            "credential.helper", "core.alternateRefsCommand", "uploadpack.packObjectsHook",
            "remote.origin.receivepack", "remote.origin.uploadpack"] {
            git(&scene.source, &["config", name, &program]);
        }
        git(&scene.source, &["config", "commit.gpgSign", "true"]);
        git(&scene.source, &["config", "core.attributesFile", ".gitattributes"]);
        write(&common, "info/attributes", "*.x filter=x\n* diff=x merge=x\n");
        write(&ticket.worktree, ".gitattributes", "*.x filter=x\n* diff=x merge=x\n");
        // What the agent wrote itself is no concern of this test; what comes of it is.
        let before = Surroundings::of(&scene);
        scene.do_work(&ticket, |worktree| {
            write(worktree, "work.txt", "work\n");
            write(worktree, "work.x", "work\n");
        });
        let told = scene.wait_for("a refusal", || {
            scene.activity(&ticket.issue, "ticket.conflict").pop()
        });
        named(&told["facts"], &["work.x"]);
        before.are_as_before(&scene);
        fs::remove_file(ticket.worktree.join("work.x")).unwrap();
        let done = json!({ "status": "done" });
        scene.ask("PATCH", &format!("/api/issues/{}", ticket.issue), Some(&scene.lead), &done);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        assert_eq!(scene.approve(&approval).0, 200);
        let content = git(&scene.remote, &["show", "feature/ABC-1:work.txt"]);
        assert_eq!(content, "work");
        before.are_as_before(&scene);
    }

    fn links_out_of_a_worktree_are_not_followed(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = Surroundings::of(&scene);
        let ticket = scene.begin_ticket("ABC-1");
        let status = merged(&scene, &ticket, |worktree| {
            symlink(canaries(&scene).join("canary"), worktree.join("file")).unwrap();
            symlink(canaries(&scene), worktree.join("folder")).unwrap();
            fs::remove_dir_all(worktree.join("src")).unwrap();
            symlink(canaries(&scene), worktree.join("src")).unwrap();
        });
        assert_eq!(status, 200);
        let listed = git(&scene.remote, &["ls-tree", "-r", "feature/ABC-1"]);
        for line in listed.lines().filter(|it| !it.ends_with("README.md") && !it.ends_with(".gitignore")) {
            assert!(line.starts_with("120000"), "{line}");
        }
        assert!(!listed.contains("canary"), "{listed}");
        before.are_as_before(&scene);
    }

    fn a_worktree_of_another_repository_is_not_taken(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = Surroundings::of(&scene);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let evil = scene.home().join("evil");
        make_source(&evil);
        let program = trap(&scene, &evil.join(".git/hooks/pre-commit"));
        git(&evil, &["config", "core.fsmonitor", &program]);
        let link = ticket.worktree.join(".git");
        let kept = fs::read(&link).unwrap();
        fs::write(&link, format!("gitdir: {}/.git\n", evil.display())).unwrap();
        write(&ticket.worktree, "late.txt", "late\n");
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_missing")), "{answer}");
        fs::remove_file(&link).unwrap();
        symlink(evil.join(".git"), &link).unwrap();
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_missing")), "{answer}");
        before.are_as_before(&scene);
        fs::remove_file(&link).unwrap();
        fs::write(&link, kept).unwrap();
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        before.are_as_before(&scene);
    }

    fn settings_that_lead_elsewhere_come_too_late(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        let evil = scene.home().join("evil.git");
        fs::create_dir(&evil).unwrap();
        git(&evil, &["init", "-q", "--bare"]);
        let (from, to) = (format!("file://{}", scene.remote.display()), evil.to_str().unwrap());
        git(&scene.source, &["config", "remote.origin.pushurl", to]);
        git(&scene.source, &["config", "remote.origin.url", to]);
        git(&scene.source, &["config", &format!("url.{to}.insteadOf"), &from]);
        git(&scene.source, &["config", &format!("url.{to}.pushInsteadOf"), &from]);
        git(&scene.source, &["config", "remote.origin.push", "+HEAD:refs/heads/main"]);
        git(&scene.source, &["config", "push.default", "matching"]);
        let before = Surroundings::of(&scene);
        let status = merged(&scene, &ticket, |worktree| write(worktree, "work.txt", "work\n"));
        assert_eq!(status, 200);
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:work.txt"]);
        assert_eq!(git(&evil, &["for-each-ref"]), "");
        before.are_as_before(&scene);
    }

    fn another_branch_in_the_worktree_is_not_taken_for_that_of_the_ticket(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let before = Surroundings::of(&scene);
        git(&ticket.worktree, &["checkout", "-q", "-b", "feature/other"]);
        write(&ticket.worktree, "late.txt", "late\n");
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("git_commit_failed")), "{answer}");
        assert_eq!(answer["details"]["found"], json!("feature/other"), "{answer}");
        git(&ticket.worktree, &["checkout", "-q", "feature/ABC-1"]);
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        before.are_as_before(&scene);
    }

    fn files_that_must_not_be_committed_go_back_to_the_agent(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = Surroundings::of(&scene);
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        write(&ticket.worktree, "work.txt", "work\n");
        let unsafe_ones = [".env", "config/key.pem", "notes.txt", "big.bin", "nested"];
        leave_unsafe(&scene, &ticket.worktree);
        scene.end_part(&part);
        let told = scene.wait_for("a refusal", || {
            scene.activity(&ticket.issue, "ticket.conflict").pop()
        });
        assert_eq!(told["code"], "unsafe_files", "{told}");
        named(&told["facts"], &unsafe_ones);
        assert_eq!(scene.status(&ticket.issue), "in_progress");
        for path in unsafe_ones {
            let path = ticket.worktree.join(path);
            match path.is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        let done = json!({ "status": "done" });
        scene.ask("PATCH", &format!("/api/issues/{}", ticket.issue), Some(&scene.lead), &done);
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        leave_unsafe(&scene, &ticket.worktree);
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("unsafe_files")), "{answer}");
        named(&answer["details"], &unsafe_ones);
        assert_eq!(scene.activity(&ticket.issue, "ticket.conflict").len(), 2);
        before.are_as_before(&scene);
    }
}

/// The work on a ticket until the board has approved it; the status of that.
#[track_caller]
fn merged(scene: &Scene<'_>, ticket: &Ticket, work: impl FnOnce(&Path)) -> u16 {
    scene.do_work(ticket, work);
    let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
    scene.approve(&approval).0
}

fn leave_unsafe(scene: &Scene<'_>, worktree: &Path) {
    write(worktree, ".env", "TOKEN=x\n");
    write(worktree, "config/key.pem", "x\n");
    write(
        worktree,
        "notes.txt",
        "-----BEGIN RSA PRIVATE KEY-----\nx\n",
    );
    let big = fs::File::create(worktree.join("big.bin")).unwrap();
    big.set_len(60 * 1024 * 1024).unwrap();
    let nested = worktree.join("nested");
    make_source(&nested);
    let program = trap(scene, &nested.join(".git/hooks/post-checkout"));
    git(&nested, &["config", "core.fsmonitor", &program]);
}

/// Whether all of these are named as unsafe, and nothing else.
#[track_caller]
fn named(facts: &Value, expected: &[&str]) {
    let files = facts["files"].as_array().unwrap().iter();
    let mut found: Vec<&str> = files.map(|it| it["path"].as_str().unwrap()).collect();
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    let found: Vec<&str> = found.iter().map(|it| it.trim_end_matches('/')).collect();
    assert_eq!(found, expected, "{facts}");
}
