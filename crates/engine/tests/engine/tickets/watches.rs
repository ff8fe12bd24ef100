//! What forges tell of open pull requests.

use serde_json::json;
use workforce_domain::execution_workspace::{ChecksState, PullRequestState};
use workforce_domain::issue::IssueStatus;
use workforce_domain::run::RunKind;
use workforce_domain::wake::WakeReason;
use workforce_forge_imitation::{Failure, Outcome, PullRequestState as Imitated};
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use super::site::{REPOSITORY, Site, git};

fn state(site: &Site) -> PullRequestState {
    site.record().pull_request.expect("a pull request").state
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_is_opened_is_watched_until_it_is_merged() {
    let site = Site::delivered(sqlite_store()).await;
    let watch = site.watch().expect("a watch");
    let base = git(&site.house.path("remote.git"), &["rev-parse", "main"]);
    assert_eq!(watch.merged_base, Some(base));
    site.ask().await;
    assert_eq!(site.watch().expect("a watch").checks, ChecksState::None);
    assert_eq!(site.actions("pull_request."), [""; 0]);

    site.forge.set_state(REPOSITORY, 1, Imitated::Merged);
    site.make_due();
    let told = site.wait_for("pull_request.merged", 1).await;
    let record = site.record();
    let pull_request = record.pull_request.expect("a pull request");
    assert_eq!(pull_request.state, PullRequestState::Merged);
    assert_eq!(site.watch(), None);
    let details = json!(told[0].details);
    assert_eq!(details["url"], json!(pull_request.url));
    assert_eq!(details["number"], 1);
    assert_eq!(details["branch"], "feature/ABC-1");
    let wake = site.wake().expect("a wake");
    assert!(wake.reasons.contains(&WakeReason::PullRequestMerged));
    assert_eq!(wake.kind, RunKind::Consult);
    assert_eq!(json!(wake.payload)["url"], json!(pull_request.url));
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_activity_of_a_ticket_tells_what_was_done_for_it() {
    for store in [Some(sqlite_store()), postgres_store()]
        .into_iter()
        .flatten()
    {
        let site = Site::delivered(store).await;
        let (record, trail) = (json!(site.record()), site.trail());
        let actions: Vec<String> = trail.iter().map(|it| it.action.to_string()).collect();
        let all = [
            "worktree.created",
            "worktree.committed",
            "worktree.pushed",
            "pull_request.opened",
        ];
        assert_eq!(actions, all);
        let told: Vec<_> = trail.iter().map(|it| json!(it.details)).collect();
        for details in &told {
            assert_eq!(details["branch"], "feature/ABC-1");
            assert_eq!(details["ticketKey"], "ABC-1");
            assert_eq!(details["executionWorkspaceId"], record["id"]);
        }
        assert_eq!(told[0]["baseBranch"], "main");
        assert_eq!(told[0]["baseCommit"], record["baseCommit"]);
        assert!(told[0]["path"].as_str().unwrap().ends_with("abc-1/repo"));
        assert_eq!(told[1]["commit"], record["headCommit"]);
        assert_eq!(told[1]["formerCommit"], record["baseCommit"]);
        assert_eq!(told[2]["commit"], record["headCommit"]);
        assert_eq!(told[3]["number"], 1);
        assert_eq!(told[3]["url"], record["pullRequest"]["url"]);
        // The work is made ready before the board is asked; the rest is done by its word.
        assert_eq!(told[1].get("approvalId"), None);
        for carried_out in [&told[0], &told[2], &told[3]] {
            assert_eq!(carried_out["decidedBy"], "local-board");
            assert!(carried_out["approvalId"].is_string());
        }
        site.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_is_closed_is_told_once() {
    let site = Site::delivered(sqlite_store()).await;
    site.forge.set_state(REPOSITORY, 1, Imitated::Closed);
    site.make_due();
    site.wait_for("pull_request.closed", 1).await;
    assert_eq!(state(&site), PullRequestState::Closed);
    assert_eq!(site.watch(), None);
    assert_eq!(site.checks(), None);
    let wake = site.wake().expect("a wake");
    assert!(wake.reasons.contains(&WakeReason::PullRequestClosed));
    assert_eq!(site.actions("pull_request."), ["pull_request.closed"]);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_are_told_when_they_fail_and_when_they_pass() {
    let site = Site::delivered(sqlite_store()).await;
    let head = site.pushed();
    let set = |outcome| site.forge.set_check(REPOSITORY, &head, "build", outcome);
    set(Outcome::Pending);
    site.ask().await;
    let watch = site.watch().expect("a watch");
    assert_eq!(watch.checks, ChecksState::Pending);
    // Asked again sooner than otherwise.
    let left = watch.due_at.since(site.house.ports.clock.now());
    assert!(left.as_secs() <= 60, "{left:?}");
    assert_eq!(site.actions("pull_request."), [""; 0]);

    set(Outcome::Failed);
    site.ask().await;
    assert_eq!(site.checks(), Some(ChecksState::Failed));
    let told = site.told("pull_request.");
    let details = json!(told[0].details);
    assert_eq!(details["failedChecks"][0]["name"], "build");
    let wake = site.wake().expect("a wake");
    let count = wake.count;
    assert!(wake.reasons.contains(&WakeReason::PullRequestChecksFailed));
    assert_eq!(json!(wake.payload)["failedChecks"][0]["name"], "build");
    // Nothing is new.
    site.ask().await;
    site.ask().await;
    assert_eq!(
        site.actions("pull_request."),
        ["pull_request.checks_failed"]
    );

    set(Outcome::Passed);
    site.ask().await;
    let both = ["pull_request.checks_failed", "pull_request.checks_passed"];
    assert_eq!(site.actions("pull_request."), both);
    // Nobody is woken for what asks for nothing.
    assert_eq!(site.wake().expect("a wake").count, count);
    assert_eq!(state(&site), PullRequestState::Open);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_issue_is_worked_on_when_its_checks_fail() {
    let site = Site::delivered(sqlite_store()).await;
    site.ask().await;
    site.set_status(IssueStatus::Todo);
    let head = site.pushed();
    site.forge
        .set_check(REPOSITORY, &head, "build", Outcome::Failed);
    site.ask().await;
    assert_eq!(site.wake().expect("a wake").kind, RunKind::Execution);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_fails_is_asked_less_and_less_often() {
    let site = Site::delivered(sqlite_store()).await;
    site.ask().await;
    let mut pauses = Vec::new();
    for _ in 0..3 {
        // More often than it is tried.
        site.forge.fail(Failure::status(404));
        site.ask().await;
        let watch = site.watch().expect("a watch");
        pauses.push(watch.due_at.since(site.house.ports.clock.now()).as_secs());
    }
    assert!(
        pauses[0] <= 60 && pauses[1] > 60 && pauses[2] > 180,
        "{pauses:?}"
    );
    assert_eq!(site.watch().expect("a watch").attempts, 3);
    assert_eq!(site.actions("pull_request."), [""; 0]);
    site.ask().await;
    assert_eq!(site.watch().expect("a watch").attempts, 0);
    site.close().await;
}

/// Every question is asked once, whoever asks.
async fn one_server_asks(store: TestStore) {
    let site = Site::delivered(store).await;
    let second = site.house.start_with(site.config());
    site.ask().await;
    site.forge.forget_requests();
    for _ in 0..4 {
        site.ask().await;
    }
    let asked = site.forge.requests().into_iter();
    let asked = asked.filter(|it| it.path.ends_with("/pulls/1"));
    assert_eq!(asked.count(), 4);
    second.shutdown().await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_servers_asks() {
    one_server_asks(sqlite_store()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_servers_asks_on_postgresql() {
    if let Some(store) = postgres_store() {
        one_server_asks(store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_too_late_is_dropped() {
    use workforce_app::pull_requests::{self, Look, LookOutcome};
    let site = Site::delivered(sqlite_store()).await;
    site.ask().await;
    site.engine().shutdown().await;
    site.make_due();
    let (scope, id) = (site.scope(), site.record().id);
    let claim = || {
        site.house.act(|tx, ctx| {
            Ok::<_, workforce_app::Failure<()>>(pull_requests::claim_question(tx, ctx, scope, id)?)
        })
    };
    let early = claim().expect("a question");
    assert!(claim().is_none(), "it is asked already");
    site.make_due();
    let late = claim().expect("a question");
    let told = |state| {
        LookOutcome::Told(Box::new(Look {
            state,
            head_commit: site.pushed(),
            checks: ChecksState::None,
            failed: Vec::new(),
            validators: workforce_domain::Document::new(),
        }))
    };
    let finish = |question, outcome: &LookOutcome| {
        site.house.act(|tx, ctx| {
            pull_requests::finish_question(tx, ctx, question, outcome)?;
            Ok::<_, workforce_app::Failure<()>>(())
        });
    };
    finish(&early, &told(PullRequestState::Closed));
    assert_eq!(state(&site), PullRequestState::Open);
    finish(&late, &told(PullRequestState::Merged));
    finish(&late, &told(PullRequestState::Merged));
    assert_eq!(state(&site), PullRequestState::Merged);
    assert_eq!(site.actions("pull_request."), ["pull_request.merged"]);
}
