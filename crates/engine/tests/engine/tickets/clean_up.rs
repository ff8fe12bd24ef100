//! Worktrees of tickets that have ended.

use std::fs;
use std::time::Duration;

use serde_json::json;
use workforce_app::Failure;
use workforce_domain::approval::ApprovalType;
use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::issue::IssueStatus;
use workforce_testkit::store::{postgres_store, sqlite_store};

use super::site::{Site, commit_all, git};
use crate::support::eventually;

/// From now on worktrees are removed at once.
async fn hasten(site: &mut Site) {
    site.restart(|config| config.tickets.worktree_age = Duration::ZERO)
        .await;
}

/// Has the worktree looked at once more, by a new engine.
async fn look_again(site: &mut Site) {
    let now = site.house.ports.clock.now();
    site.adjust(|record, _| record.clean_up_after = now);
    hasten(site).await;
}

async fn removed(site: &Site) {
    eventually("the worktree is removed", || {
        (site.record().status == ExecutionWorkspaceStatus::Removed).then_some(())
    })
    .await;
}

async fn a_worktree_is_removed(store: workforce_testkit::store::TestStore) {
    let mut site = Site::delivered(store).await;
    let (folder, head) = (site.worktree(), site.head());
    // What a server asked that stops now is asked again later.
    site.ask().await;
    // Not before its time.
    site.look_at_base().await;
    assert!(folder.exists());
    hasten(&mut site).await;
    site.wait_for("worktree.removed", 1).await;
    removed(&site).await;
    assert!(!folder.exists());
    assert_eq!(site.head(), head, "the branch is kept");
    let record = site.record();
    assert_eq!(site.issue().execution_workspace, Some(record.id));
    assert_eq!((record.held_until, record.kept_because), (None, None));
    // Its pull request is still asked about.
    site.ask().await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_whose_work_is_pushed_is_removed() {
    a_worktree_is_removed(sqlite_store()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_whose_work_is_pushed_is_removed_on_postgresql() {
    if let Some(store) = postgres_store() {
        a_worktree_is_removed(store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_with_changes_is_kept_and_told_once() {
    let mut site = Site::delivered(sqlite_store()).await;
    site.write("draft.txt", "not committed\n");
    hasten(&mut site).await;
    let told = site.wait_for("worktree.kept", 1).await;
    assert_eq!(json!(told[0].details)["reason"], "uncommitted");
    assert_eq!(site.record().kept_because.as_deref(), Some("uncommitted"));
    look_again(&mut site).await;
    eventually("another look", || {
        let record = site.record();
        let is_over = record.clean_up_after > site.house.ports.clock.now();
        (is_over && record.held_until.is_none()).then_some(())
    })
    .await;
    assert_eq!(site.actions("worktree."), ["worktree.kept"]);
    assert!(site.worktree().join("draft.txt").exists());

    fs::remove_file(site.worktree().join("draft.txt")).expect("a file");
    look_again(&mut site).await;
    removed(&site).await;
    assert_eq!(
        site.actions("worktree."),
        ["worktree.kept", "worktree.removed"]
    );
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_were_not_pushed_are_kept() {
    let mut site = Site::delivered(sqlite_store()).await;
    site.write("more.txt", "an afterthought\n");
    commit_all(&site.worktree(), "An agent's own commit");
    hasten(&mut site).await;
    let told = site.wait_for("worktree.kept", 1).await;
    assert_eq!(json!(told[0].details)["reason"], "unpushed");
    assert!(site.worktree().join("more.txt").exists());
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_ticket_without_any_work_needs_no_worktree() {
    let mut site = Site::provisioned(sqlite_store(), true).await;
    let folder = site.worktree();
    site.set_status(IssueStatus::Cancelled);
    hasten(&mut site).await;
    removed(&site).await;
    assert!(!folder.exists());
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_remote_the_base_branch_has_to_have_the_work() {
    let mut site = Site::provisioned(sqlite_store(), false).await;
    site.write("work.txt", "the work of the agent\n");
    site.approve(ApprovalType::ApprovePullRequest, json!({}))
        .await;
    hasten(&mut site).await;
    let told = site.wait_for("worktree.kept", 1).await;
    assert_eq!(json!(told[0].details)["reason"], "unpushed");
    let source = site.house.path("source");
    git(&source, &["merge", "-q", "--no-edit", "feature/ABC-1"]);
    look_again(&mut site).await;
    removed(&site).await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_in_which_an_open_issue_is_worked_on_is_kept() {
    let mut site = Site::delivered(sqlite_store()).await;
    let (scope, record) = (site.scope(), site.record());
    let other = site.house.assign(site.agent, |_| ());
    site.house.act(|tx, _| {
        let locked = tx.issues_mut().lock(scope.into(), &other.into())?;
        let mut issue = locked.expect("an issue");
        issue.execution_workspace = Some(record.id);
        tx.issues_mut().save(&issue)?;
        Ok::<_, Failure<()>>(())
    });
    look_again(&mut site).await;
    eventually("a look", || {
        (site.record().clean_up_after > site.house.ports.clock.now()).then_some(())
    })
    .await;
    assert_eq!(site.record().status, ExecutionWorkspaceStatus::Ready);
    assert!(site.worktree().exists());
    assert_eq!(site.actions("worktree."), [""; 0]);
    site.close().await;
}
