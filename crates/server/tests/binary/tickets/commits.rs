//! The server is killed between two of its commits, with no call of git and no request in between,
//! and started again: nothing is lost, and nothing is done twice.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;
use workforce_forge_imitation::ImitatedForge;

use super::kills::is_merged_once;
use super::repositories::{commit_at, git, write};
use super::scene::{Host, Scene};
use crate::office::Database;

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/binary/tickets/commits.c"
);

/// Counts what a server commits, and kills it.
struct Commits(TempDir);

impl Commits {
    fn count() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(folder.path().join("commits.so"))
            .arg(SOURCE)
            .arg("-ldl")
            .status();
        assert!(
            compiled.is_ok_and(|status| status.success()),
            "the C compiler that SQLite needs too, cc, fails"
        );
        Self(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn variables(&self) -> Vec<(String, String)> {
        let text = |name: &str| self.at(name).to_str().unwrap().to_owned();
        vec![
            ("LD_PRELOAD".to_owned(), text("commits.so")),
            ("COMMITS_KILL".to_owned(), text("kill")),
        ]
    }

    /// Kills the server after so many commits from here on.
    fn kill_after(&self, number: usize) {
        // The server reads it while it is replaced.
        std::fs::write(self.at("new"), number.to_string()).unwrap();
        std::fs::rename(self.at("new"), self.at("kill")).unwrap();
    }

    fn kill_nobody(&self) {
        std::fs::remove_file(self.at("kill")).unwrap();
    }
}

/// Approves with a server that is killed after so many commits, and with another one if need be.
/// True when it was not killed before it answered.
fn approve_with_kill(
    scene: &mut Scene<'_>,
    commits: &Commits,
    approval: &str,
    number: usize,
) -> bool {
    let path = format!("/api/approvals/{approval}/approve");
    commits.kill_after(number);
    let answer = scene.try_send("POST", &path, None, &json!({}));
    commits.kill_nobody();
    if let Some((status, answer)) = answer {
        assert_eq!(status, 200, "after commit {number}: {answer}");
        // The server may have been killed after its answer.
        scene.end_and_start_again();
        return true;
    }
    scene.start_again();
    let left = scene.wait_for("an end of the execution", || {
        let approval = scene.approval(approval);
        (approval["execution"]["state"] != "executing").then_some(approval)
    });
    if left["status"] == "approved" {
        assert_eq!(left["execution"]["state"], "completed", "{left}");
        return false;
    }
    let execution = &left["execution"];
    assert!(
        execution.is_null() || execution["code"] == "interrupted",
        "after commit {number}: {left}"
    );
    let (status, answer) = scene.approve(approval);
    assert_eq!(status, 200, "after commit {number}: {answer}");
    false
}

fn every() -> usize {
    let all = std::env::var("WORKFORCE_TICKET_KILLS").is_ok_and(|it| it == "all");
    if all { 1 } else { 3 }
}

#[test]
fn a_plan_survives_kills_between_commits() {
    let commits = Commits::count();
    let host = Host::Forge(ImitatedForge::GitHub);
    let mut scene = Scene::open_with(&Database::Sqlite, host, commits.variables());
    let mut number = 0;
    loop {
        let (issue, plan) = scene.planned(&format!("ABC-{number}"));
        let is_over = approve_with_kill(&mut scene, &commits, &plan, number);
        let ticket = scene.ticket_of(&issue, &plan);
        assert_eq!(scene.status(&issue), "in_progress");
        let main = git(&scene.remote, &["rev-parse", "main"]);
        assert_eq!(git(&ticket.worktree, &["rev-parse", "HEAD"]), main);
        if is_over {
            break;
        }
        number += every();
    }
    // One to begin, one for each sign of life, two for each step, and one to end.
    assert!(number > 6, "killed up to commit {number}");
}

#[test]
fn a_pull_request_survives_kills_between_commits() {
    let commits = Commits::count();
    let host = Host::Forge(ImitatedForge::GitHub);
    let mut scene = Scene::open_with(&Database::Sqlite, host, commits.variables());
    let mut number = 0;
    loop {
        let (ticket, approval) = scene.ticket_to_merge(&format!("ABC-{number}"));
        // There is something to be committed and to be merged again.
        write(&ticket.worktree, "late.txt", "late\n");
        let name = format!("base-{number}.txt");
        commit_at(&scene.remote, "main", &name, "base\n");
        let is_over = approve_with_kill(&mut scene, &commits, &approval, number);
        is_merged_once(&scene, &ticket);
        if is_over {
            break;
        }
        number += every();
    }
    assert!(number > 8, "killed up to commit {number}");
}
