//! Base branches that move while a pull request is open.

use std::fs;

use serde_json::json;
use workforce_app::Failure;
use workforce_domain::wake::WakeReason;
use workforce_testkit::store::sqlite_store;

use super::site::{Site, commit_all};
use crate::support::eventually;

#[tokio::test(flavor = "multi_thread")]
async fn a_base_branch_that_moved_is_merged_and_pushed() {
    let site = Site::delivered(sqlite_store()).await;
    let before = site.pushed();
    // Nothing moved: nothing is done.
    site.look_at_base().await;
    let base = site.push_to("main", "other.txt", "more\n");
    // What others push to the branch of the ticket is taken along.
    let theirs = site.push_to("feature/ABC-1", "review.txt", "a hint\n");
    site.look_at_base().await;
    let told = site.wait_for("ticket.drift_merged", 1).await;
    assert_eq!(json!(told[0].details)["baseCommit"], json!(base));
    assert!(site.has_pushed(&base) && site.has_pushed(&theirs) && site.has_pushed(&before));
    assert!(site.worktree().join("other.txt").exists());
    let record = site.record();
    assert_eq!(record.pushed_commit, Some(site.pushed()));
    assert_eq!(record.held_until, None);
    eventually("the base commit", || {
        (site.watch()?.merged_base.as_ref() == Some(&base)).then_some(())
    })
    .await;
    assert_eq!(site.actions("ticket."), ["ticket.drift_merged"]);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_changes_nothing_and_wakes_the_agent_at_most_twice() {
    let site = Site::delivered(sqlite_store()).await;
    let (pushed, head) = (site.pushed(), site.head());
    for turn in 1..=4 {
        let base = site.push_to("main", "work.txt", &format!("something else {turn}\n"));
        site.look_at_base().await;
        eventually("what is in the way", || {
            let obstacle = site.watch()?.obstacle?;
            obstacle.contains(&base).then_some(())
        })
        .await;
        eventually("the end", || {
            site.record().held_until.is_none().then_some(())
        })
        .await;
        // The same conflict is not tried again.
        site.look_at_base().await;
    }
    let conflicts = [
        "ticket.conflict",
        "ticket.conflict",
        "ticket.conflict_escalated",
    ];
    eventually("three activities", || {
        (site.actions("ticket.") == conflicts).then_some(())
    })
    .await;
    let wake = site.wake().expect("a wake");
    assert!(
        wake.reasons
            .contains(&WakeReason::WorkspaceConflictRecovery)
    );
    assert_eq!(json!(wake.payload)["facts"]["paths"], json!(["work.txt"]));
    assert_eq!((site.pushed(), site.head()), (pushed, head));
    let text = fs::read_to_string(site.worktree().join("work.txt")).expect("a file");
    assert_eq!(text, "the work of the agent\n");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_with_changes_is_left_as_it_is() {
    let site = Site::delivered(sqlite_store()).await;
    let (pushed, head) = (site.pushed(), site.head());
    let base = site.push_to("main", "other.txt", "more\n");
    site.write("draft.txt", "not committed\n");
    for _ in 0..2 {
        site.look_at_base().await;
    }
    let told = site.wait_for("ticket.drift_postponed", 1).await;
    assert_eq!(json!(told[0].details)["code"], "git_commit_failed");
    assert_eq!((site.pushed(), site.head()), (pushed, head));
    assert!(site.worktree().join("draft.txt").exists());
    eventually("the end", || {
        site.record().held_until.is_none().then_some(())
    })
    .await;

    fs::remove_file(site.worktree().join("draft.txt")).expect("a file");
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    assert!(site.has_pushed(&base));
    let all = ["ticket.drift_postponed", "ticket.drift_merged"];
    assert_eq!(site.actions("ticket."), all);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_board_has_not_agreed_to_is_not_pushed() {
    let site = Site::delivered(sqlite_store()).await;
    let pushed = site.pushed();
    site.write("secret-plan.txt", "nobody has seen this\n");
    commit_all(&site.worktree(), "An agent's own commit");
    let head = site.head();
    site.push_to("main", "other.txt", "more\n");
    site.look_at_base().await;
    let told = site.wait_for("ticket.drift_postponed", 1).await;
    assert_eq!(json!(told[0].details)["facts"]["reason"], "unpushed");
    assert_eq!((site.pushed(), site.head()), (pushed, head));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_that_could_not_be_pushed_is_pushed_later() {
    let site = Site::delivered(sqlite_store()).await;
    let base = site.push_to("main", "other.txt", "more\n");
    // Somebody holds the branch at the remote.
    let lock = site.house.path("remote.git/refs/heads/feature/ABC-1.lock");
    fs::create_dir_all(lock.parent().expect("a folder")).expect("a folder");
    fs::write(&lock, "").expect("a file");
    site.look_at_base().await;
    let told = site.wait_for("ticket.drift_postponed", 1).await;
    assert_eq!(json!(told[0].details)["code"], "git_push_rejected");
    assert!(!site.has_pushed(&base));
    eventually("the end", || {
        site.record().held_until.is_none().then_some(())
    })
    .await;

    fs::remove_file(&lock).expect("a file");
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    assert!(site.has_pushed(&base));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_base_branch_has_under_a_filter_is_taken_along_as_it_is() {
    let site = Site::delivered(sqlite_store()).await;
    site.push_to("main", ".gitattributes", "vault.* filter=git-crypt\n");
    let encrypted = "\0GITCRYPT\0encrypted";
    let base = site.push_to("main", "vault.txt", encrypted);
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    assert!(site.has_pushed(&base));
    let text = fs::read_to_string(site.worktree().join("vault.txt")).expect("a file");
    assert_eq!(text, encrypted);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_merge_driver_would_merge_is_left_to_the_agent() {
    let site = Site::delivered(sqlite_store()).await;
    site.push_to("main", ".gitattributes", "list.txt merge=sorted\n");
    let lines = "1\n2\n3\n4\n5\n6\n";
    site.push_to("main", "list.txt", lines);
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    site.push_to("main", "list.txt", &format!("0\n{lines}"));
    site.push_to("feature/ABC-1", "list.txt", &format!("{lines}7\n"));
    let pushed = site.pushed();
    site.look_at_base().await;
    let told = site.wait_for("ticket.conflict", 1).await;
    let told = json!(told[0].details);
    assert_eq!(told["code"], "unsafe_files", "{told}");
    assert_eq!(told["facts"]["files"][0]["path"], "list.txt", "{told}");
    assert_eq!(site.pushed(), pushed);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_moves_under_a_run() {
    let site = Site::delivered(sqlite_store()).await;
    let (pushed, record) = (site.pushed(), site.record());
    let scope = site.scope();
    // Somebody still works in the worktree although the ticket is done.
    let worker = site.hire_paused();
    let other = site.house.assign(worker, |_| ());
    site.house.act(|tx, _| {
        let locked = tx.issues_mut().lock(scope.into(), &other.into())?;
        let mut issue = locked.expect("an issue");
        issue.execution_workspace = Some(record.id);
        tx.issues_mut().save(&issue)?;
        Ok::<_, Failure<()>>(())
    });
    site.house
        .act(|tx, ctx| workforce_app::agents::resume(tx, ctx, worker, false));
    site.house.file("ready").await;
    eventually("a run in the worktree", || {
        let id = record.id;
        site.house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().live_run(scope, id)?))
    })
    .await;
    let base = site.push_to("main", "other.txt", "more\n");
    site.look_at_base().await;
    assert_eq!(site.pushed(), pushed);
    assert!(!site.worktree().join("other.txt").exists());

    site.house.go();
    eventually("the end of the run", || {
        let id = record.id;
        let live = site
            .house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().live_run(scope, id)?));
        live.is_none().then_some(())
    })
    .await;
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    assert!(site.has_pushed(&base));
    site.close().await;
}
