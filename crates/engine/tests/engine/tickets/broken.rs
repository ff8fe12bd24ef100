//! Repositories that an agent left in a state in which nothing can be done with them.

use std::fs;

use serde_json::json;
use workforce_app::Failure;
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::issue::IssueStatus;
use workforce_domain::wake::WakeReason;
use workforce_testkit::store::sqlite_store;

use super::site::Site;
use crate::support::eventually;

/// The advance of the ticket, once it failed.
async fn failed(site: &Site) -> TicketAdvance {
    let (scope, issue) = (site.scope(), site.issue);
    eventually("an attempt that failed", || {
        let found = site
            .house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().advance(scope, issue)?));
        found.filter(|advance| advance.attempts > 0)
    })
    .await
}

/// Has it tried again at once, as if it had failed so often.
fn try_again(site: &Site, mut advance: TicketAdvance, attempts: i32) {
    let scope = site.scope();
    site.house.act(|tx, ctx| {
        let issue = tx.issues_mut().lock(scope.into(), &site.issue.into())?;
        advance.attempts = attempts;
        advance.not_before = ctx.now;
        let issue = issue.expect("an issue");
        Ok::<_, Failure<()>>(
            tx.execution_workspaces_mut()
                .save_advance(&issue, &advance)?,
        )
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_none_any_more_goes_back_to_its_agent_and_then_to_the_board() {
    let site = Site::provisioned(sqlite_store(), true).await;
    site.write("work.txt", "the work of the agent\n");
    let config = site.house.path("source/.git/config");
    fs::write(&config, "[core").expect("a file");
    let told = [
        "ticket.conflict",
        "ticket.conflict",
        "ticket.conflict_escalated",
    ];
    for turn in 1..=told.len() {
        site.finish_work();
        let advance = failed(&site).await;
        assert_eq!(advance.error_code.as_deref(), Some("workspace_unavailable"));
        assert_eq!(site.issue().status(), IssueStatus::InReview);
        try_again(&site, advance, 3);
        eventually("a word about it", || {
            (site.actions("ticket.conflict") == told[..turn]).then_some(())
        })
        .await;
        assert_eq!(site.issue().status(), IssueStatus::InProgress);
    }
    let wake = site.wake().expect("a wake");
    assert!(
        wake.reasons
            .contains(&WakeReason::WorkspaceConflictRecovery)
    );
    assert_eq!(json!(wake.payload)["code"], "workspace_unavailable");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_whose_folder_is_gone_stays_with_the_board() {
    let site = Site::provisioned(sqlite_store(), true).await;
    site.write("work.txt", "the work of the agent\n");
    fs::rename(site.house.path("source"), site.house.path("away")).expect("a folder");
    site.finish_work();
    let advance = failed(&site).await;
    try_again(&site, advance, 9);
    eventually("another attempt", || {
        let (scope, issue) = (site.scope(), site.issue);
        let found = site
            .house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().advance(scope, issue)?));
        found.filter(|advance| advance.attempts > 9)
    })
    .await;
    assert_eq!(site.actions("ticket."), ["ticket.advance_postponed"]);
    assert_eq!(site.issue().status(), IssueStatus::InReview);
    site.close().await;
}
