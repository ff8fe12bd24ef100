//! Remotes that take a connection and say nothing.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use workforce_app::Failure;
use workforce_domain::approval::{Approval, ApprovalType, ExecutionState};
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::port::{AgreedWork, CarryOutError, GovernedWork, StepFault};
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use super::site::Site;
use crate::support::eventually;

/// A remote that never answers.
struct Silence {
    address: String,
    asked: Arc<AtomicUsize>,
}

impl Silence {
    fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut all = Vec::new();
            for stream in listener.incoming() {
                all.push(stream);
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self {
            address: format!("http://{address}/shop.git"),
            asked,
        }
    }

    async fn is_asked(&self) {
        eventually("a question to the remote", || {
            (self.asked.load(Ordering::SeqCst) > 0).then_some(())
        })
        .await;
    }

    /// From now on the ticket is fetched from here.
    fn of(&self, site: &Site) {
        site.adjust(|record, _| record.fetch_address = Some(self.address.clone()));
    }
}

/// What the board is asked about a ticket.
fn asked(site: &Site, issue: IssueId) -> Option<Approval> {
    let (scope, kind) = (site.scope(), ApprovalType::ApprovePullRequest);
    site.house.act(|tx, _| {
        let found = tx.approvals().undecided_primary_for(scope, kind, issue)?;
        Ok::<_, Failure<()>>(found)
    })
}

fn waits(site: &Site, issue: IssueId) -> bool {
    let scope = site.scope();
    let found = site
        .house
        .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().advance(scope, issue)?));
    found.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_hangs_keeps_no_other_ticket_waiting() {
    let mut site = Site::provisioned(sqlite_store(), true).await;
    let (silence, hanging) = (Silence::begin(), site.issue);
    silence.of(&site);
    site.write("work.txt", "the work of the agent\n");
    site.finish_work();
    silence.is_asked().await;

    site.open_another("other").await;
    site.write("work.txt", "other work\n");
    site.finish_work();
    let healthy = site.issue;
    eventually("the board's turn", || asked(&site, healthy)).await;
    assert!(waits(&site, hanging));
    assert_eq!(asked(&site, hanging), None);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_branch_that_hangs_keeps_no_other_waiting() {
    let mut site = Site::delivered(sqlite_store()).await;
    let (silence, now) = (Silence::begin(), site.house.ports.clock.now());
    silence.of(&site);
    site.adjust(|_, watch| watch.expect("a watch").drift_due_at = now);
    silence.is_asked().await;

    site.open_another("other").await;
    site.write("work.txt", "other work\n");
    site.approve(ApprovalType::ApprovePullRequest, json!({}))
        .await;
    assert_eq!(site.issue().status(), IssueStatus::Done);
    let base = site.push_to("main", "more.txt", "more\n");
    site.look_at_base().await;
    site.wait_for("ticket.drift_merged", 1).await;
    assert!(site.has_pushed(&base));
    site.close().await;
}

async fn what_is_held_is_given_up_at_a_stop(store: TestStore) {
    let mut site = Site::provisioned(store, true).await;
    let silence = Silence::begin();
    site.restart(|config| config.tickets.grace = Duration::from_millis(50))
        .await;
    silence.of(&site);
    site.write("work.txt", "the work of the agent\n");
    site.finish_work();
    silence.is_asked().await;
    assert!(site.record().held_until.is_some());
    site.engine().shutdown().await;
    assert_eq!(site.record().held_until, None);
    assert!(waits(&site, site.issue), "the next server brings it");
    assert_eq!(site.actions("ticket."), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn worktrees_are_let_go_at_a_stop() {
    what_is_held_is_given_up_at_a_stop(sqlite_store()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worktrees_are_let_go_at_a_stop_on_postgresql() {
    if let Some(store) = postgres_store() {
        what_is_held_is_given_up_at_a_stop(store).await;
    }
}

async fn an_approval_is_interrupted_at_a_stop(store: TestStore) {
    let mut site = Site::provisioned(store, true).await;
    let silence = Silence::begin();
    site.restart(|config| config.tickets.grace = Duration::from_millis(50))
        .await;
    silence.of(&site);
    site.write("work.txt", "the work of the agent\n");
    let (scope, id) = (
        site.scope(),
        site.begin(ApprovalType::ApprovePullRequest, json!({}), Vec::new()),
    );
    let engine = site.engine().clone();
    let carried_out =
        tokio::spawn(async move { engine.carry_out(scope, id, AgreedWork::Present).await });
    silence.is_asked().await;
    site.engine().shutdown().await;
    let told = carried_out.await.expect("an answer");
    let Err(CarryOutError::Step(failure)) = told else {
        panic!("the approval is not interrupted: {told:?}");
    };
    assert_eq!(failure.fault, StepFault::Interrupted);
    let mut found = site
        .house
        .act(|tx, _| Ok::<_, Failure<()>>(tx.approvals().executions(scope, &[id])?));
    let execution = found.remove(0);
    assert_eq!(execution.state, ExecutionState::Failed);
    assert_eq!(execution.step, failure.step);
    assert_eq!(execution.error_code.as_deref(), Some("interrupted"));
    assert_eq!(execution.lease_expires_at, None);
    assert_eq!(site.record().held_until, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_interrupted_at_a_stop() {
    an_approval_is_interrupted_at_a_stop(sqlite_store()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_interrupted_at_a_stop_on_postgresql() {
    if let Some(store) = postgres_store() {
        an_approval_is_interrupted_at_a_stop(store).await;
    }
}
