//! What stands against a worktree of a source repository.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::repositories::{differences, files, git, try_git, write};
use super::scene::{Host, Scene, id_of};
use crate::office::on_both;

/// What somebody left in a source, what the board is told of it, and what it is before.
struct Case {
    make: fn(&Path),
    expected: Value,
    preflight: Value,
}

on_both! {
    fn a_source_that_is_not_clean_is_forced_or_left_alone(database) {
        let scene = Scene::open(database, Host::Remote);
        // Nobody is stopped by files that git does not know.
        write(&scene.source, "untracked.txt", "untracked\n");
        for (number, case) in cases().into_iter().enumerate() {
            let key = format!("ABC-{number}");
            let (issue, plan) = scene.planned(&key);
            (case.make)(&scene.source);
            let seen = scene.approval(&plan);
            contains(&seen["preflight"][0], &case.preflight);
            let before = files(&scene.source, &[]);
            let (status, answer) = scene.approve(&plan);
            assert_eq!((status, &answer["code"]), (409, &json!("source_repo_dirty")), "{answer}");
            contains(&answer["details"], &case.expected);
            assert_eq!(answer["details"]["canForce"], json!(true), "{answer}");
            let after = differences(&before, &files(&scene.source, &[]));
            assert!(after.is_empty(), "the source differs in {after:?}");
            let seen = scene.approval(&plan);
            assert_eq!(seen["status"], "pending", "{seen}");
            assert_eq!(seen["execution"]["state"], "failed", "{seen}");
            assert_eq!(seen["execution"]["code"], "source_repo_dirty", "{seen}");
            assert_eq!(scene.status(&issue), "blocked");
            let (status, answer) = scene.decide(&plan, "approve", &json!({ "force": true }));
            assert_eq!(status, 200, "{answer}");
            assert_eq!(answer["execution"]["forced"], json!(true), "{answer}");
            let ticket = scene.ticket_of(&issue, &plan);
            let main = git(&scene.remote, &["rev-parse", "main"]);
            assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), main);
            assert!(overrides(&scene, &plan) > 0, "no override is told");
            clean(&scene.source);
        }
    }

    fn a_clean_source_with_files_that_git_does_not_know_is_taken(database) {
        let scene = Scene::open(database, Host::Nothing);
        write(&scene.source, "untracked.txt", "untracked\n");
        let (_, plan) = scene.planned("ABC-1");
        let expected = json!({ "clean": true, "branchOk": true, "baseExists": true });
        contains(&scene.approval(&plan)["preflight"][0], &expected);
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(overrides(&scene, &plan), 0);
    }

    fn a_missing_base_branch_is_not_forced(database) {
        let scene = Scene::open(database, Host::Remote);
        let issue = scene.begin_issue("Work");
        let workspace = json!({ "ticketKey": "ABC-1", "baseBranch": "release" });
        let (status, plan) = scene.file_plan(&issue, &workspace);
        assert_eq!(status, 201, "{plan}");
        let plan = id_of(&plan);
        let seen = scene.approval(&plan);
        assert_eq!(seen["preflight"][0]["baseExists"], json!(false), "{seen}");
        let (status, answer) = scene.decide(&plan, "approve", &json!({ "force": true }));
        assert_eq!((status, &answer["code"]), (409, &json!("base_branch_missing")), "{answer}");
        git(&scene.source, &["push", "-q", "origin", "main:release"]);
        let (status, answer) = scene.decide(&plan, "approve", &json!({ "force": true }));
        assert_eq!(status, 200, "{answer}");
    }

    fn a_folder_without_a_repository_is_not_forced(database) {
        let scene = Scene::open(database, Host::Nothing);
        let (_, plan) = scene.planned("ABC-1");
        fs::rename(scene.source.join(".git"), scene.source.join("git")).unwrap();
        let seen = scene.approval(&plan);
        assert!(seen["preflight"][0]["error"].is_string(), "{seen}");
        let (status, answer) = scene.decide(&plan, "approve", &json!({ "force": true }));
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
    }

    fn a_branch_or_a_ticket_belongs_to_one(database) {
        let scene = Scene::open(database, Host::Remote);
        let elsewhere = scene.home().join("elsewhere");
        let elsewhere = elsewhere.to_str().unwrap();
        let branch = ["worktree", "add", "-q", "-b", "feature/ABC-1", elsewhere];
        git(&scene.source, &branch);
        let (_, plan) = scene.planned("ABC-1");
        let (status, answer) = scene.approve(&plan);
        assert_eq!((status, &answer["code"]), (409, &json!("branch_in_use")), "{answer}");
        git(&scene.source, &["worktree", "remove", elsewhere]);
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 200, "{answer}");

        let (other, second) = scene.planned("ABC-1");
        let (status, answer) = scene.decide(&second, "approve", &json!({ "force": true }));
        assert_eq!((status, &answer["code"]), (409, &json!("ticket_in_use")), "{answer}");
        assert_eq!(scene.status(&other), "blocked");
        let first = scene.approval(&plan);
        let first = first["payload"]["issueId"].as_str().unwrap();
        let path = format!("/api/issues/{first}");
        scene.ask("PATCH", &path, None, &json!({ "status": "cancelled" }));
        let (status, answer) = scene.approve(&second);
        assert_eq!(status, 200, "{answer}");
    }
}

fn cases() -> Vec<Case> {
    let change = json!({ "clean": false, "branchOk": true, "baseExists": true });
    vec![
        Case {
            make: |source| write(source, "README.md", "changed\n"),
            expected: json!({ "changedPaths": ["README.md"], "branch": "main" }),
            preflight: change.clone(),
        },
        Case {
            make: |source| {
                write(source, "staged.txt", "staged\n");
                git(source, &["add", "staged.txt"]);
            },
            expected: json!({ "changedPaths": ["staged.txt"] }),
            preflight: change.clone(),
        },
        Case {
            make: |source| {
                git(source, &["checkout", "-q", "-b", "other"]);
            },
            expected: json!({ "branch": "other", "expectedBranch": "main", "changedPaths": [] }),
            preflight: json!({ "clean": true, "branchOk": false }),
        },
        Case {
            make: |source| {
                git(source, &["checkout", "-q", "-b", "theirs"]);
                write(source, "README.md", "theirs\n");
                git(source, &["commit", "-qam", "theirs"]);
                git(source, &["checkout", "-q", "main"]);
                write(source, "README.md", "ours\n");
                git(source, &["commit", "-qam", "ours"]);
                let merged = try_git(source, &["merge", "theirs"]);
                assert!(!merged.status.success(), "the merge has no conflict");
            },
            expected: json!({ "changedPaths": ["README.md"], "operation": "merge" }),
            preflight: change,
        },
    ]
}

fn clean(source: &Path) {
    let _ = try_git(source, &["merge", "--abort"]);
    git(source, &["checkout", "-q", "-f", "main"]);
    git(source, &["reset", "-q", "--hard"]);
}

/// How often the activity of the company tells that the guard was overridden for an approval.
fn overrides(scene: &Scene<'_>, approval: &str) -> usize {
    let rows = scene.get(&scene.of_company("activity"));
    let rows = rows.as_array().unwrap().iter();
    rows.filter(|row| row["entityId"] == approval && row["details"]["override"] == true)
        .count()
}

/// Whether a document has these fields.
#[track_caller]
fn contains(document: &Value, fields: &Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&document[name], value, "{name} of {document}");
    }
}
