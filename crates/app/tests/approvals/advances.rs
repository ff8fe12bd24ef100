//! Tickets that cannot be brought before the board for now.

use std::convert::Infallible;

use workforce_app::approvals::advance;
use workforce_app::{Failure, activity, issues};
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, StepFailure, StepFault};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done};

use crate::desk::Desk;

/// The issue waits for the board to be asked, since now.
fn requested(desk: &Desk) -> TicketAdvance {
    let advance = TicketAdvance {
        issue: desk.issue.id,
        company: desk.issue.company,
        attempts: 0,
        not_before: desk.world.now(),
        error_code: None,
        error: None,
        created_at: desk.world.now(),
    };
    let written: Result<_, Failure<Infallible>> = desk.world.system().write(|tx, _| {
        let scope = desk.issue.scope();
        let issue = tx
            .issues_mut()
            .lock(scope.into(), &desk.issue.id.into())?
            .unwrap();
        Ok(tx
            .execution_workspaces_mut()
            .save_advance(&issue, &advance)?)
    });
    done(written);
    advance
}

/// An attempt fails; what the issue shows then.
fn fails(desk: &Desk, fault: StepFault, message: &str) -> issues::IssueDetail {
    let failure = StepFailure {
        step: ExecutionStep::Sync,
        fault,
        message: message.into(),
        details: Document::new(),
    };
    let (scope, id) = (desk.issue.scope(), desk.issue.id);
    let written: Result<_, Failure<Infallible>> = desk.world.system().write(|tx, ctx| {
        let present = tx.execution_workspaces().advance(scope, id)?.unwrap();
        Ok(advance::put_off_advance(tx, ctx, &present, &failure)?)
    });
    done(written);
    shown(desk)
}

fn shown(desk: &Desk) -> issues::IssueDetail {
    let id = desk.issue.id.into();
    done(
        desk.world
            .board()
            .read(|reads, ctx| issues::get(reads, ctx, &id)),
    )
}

fn told(desk: &Desk) -> Vec<Activity> {
    let (company, filter) = (desk.company.id, ActivityFilter::default());
    let page = PageRequest::first();
    let listed = desk
        .world
        .board()
        .read(|reads, ctx| activity::list(reads, ctx, company, &filter, &page));
    let mut rows = done(listed).items;
    rows.retain(|row| row.action == Action::TicketAdvancePostponed);
    rows.reverse();
    rows
}

on_both_databases! {
    fn an_issue_shows_why_it_is_not_brought_before_the_board_and_tells_each_reason_once(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        assert_eq!(shown(&desk).advance, None);
        let asked = requested(&desk);
        let first = shown(&desk).advance.unwrap();
        assert_eq!((first.attempts, first.code, first.error), (0, None, None));
        assert_eq!(first.since, asked.created_at);

        // An agent that still works is nothing to tell.
        let busy = fails(&desk, StepFault::WorkspaceBusy, "a run works in it").advance.unwrap();
        assert_eq!((busy.attempts, busy.code.as_deref()), (1, Some("workspace_busy")));
        assert!(told(&desk).is_empty());

        let mut before = busy;
        for attempt in 2..4 {
            let message = format!("no answer to call {attempt}");
            let advance = fails(&desk, StepFault::GitRemoteFailed, &message).advance.unwrap();
            assert_eq!(advance.attempts, attempt);
            assert_eq!(advance.code.as_deref(), Some("git_remote_failed"));
            assert_eq!(advance.error, Some(message));
            assert!(advance.next_attempt_at > before.next_attempt_at);
            assert_eq!(advance.since, asked.created_at);
            before = advance;
        }
        let rows = told(&desk);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].entity_id, desk.issue.id.to_string());
        assert_eq!(rows[0].details["code"], "git_remote_failed");
        assert_eq!(rows[0].details["error"], "no answer to call 2");
        assert_eq!(rows[0].details["attempt"], 2);

        fails(&desk, StepFault::WorkspaceUnavailable, "it is gone");
        let codes: Vec<_> = told(&desk).iter().map(|row| row.details["code"].clone()).collect();
        assert_eq!(codes, ["git_remote_failed", "workspace_unavailable"]);
    }
}
