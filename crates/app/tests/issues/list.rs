//! The list of issues (docs/issues.md#lists).

use std::time::Duration;

use workforce_app::access::Denied;
use workforce_app::issues::{self, CreateIssue, IssueError, UpdateIssue};
use workforce_domain::change::Change;
use workforce_domain::id::IssueId;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, IssueFilter};
use workforce_testkit::world::{done, new_issue, new_project, no_change, refused};

use crate::deeds::Deeds;
use crate::scene::Scene;

use IssueStatus::{Backlog, Done, InProgress, Todo};
use Priority::{Critical, High, Low, Medium};

impl Scene {
    /// An issue, a second after the one before.
    fn filed(&self, status: IssueStatus, priority: Priority) -> IssueId {
        let command = CreateIssue {
            priority: Some(priority),
            ..new_issue("Listed")
        };
        self.filed_as(&CreateIssue {
            status: Some(status),
            ..command
        })
    }

    fn filed_as(&self, command: &CreateIssue) -> IssueId {
        self.world.advance(Duration::from_secs(1));
        self.world.issue_with(self.company.id, command).id
    }

    fn listed(&self, filter: &IssueFilter) -> Vec<IssueId> {
        let first = PageRequest::first();
        let company = self.company.id;
        let ada = self.world.agent(self.ada.id);
        let page = ada.read(|reads, ctx| issues::list(reads, ctx, company, filter, &first));
        done(page)
            .items
            .into_iter()
            .map(|view| view.issue.id)
            .collect()
    }
}

#[test]
fn the_most_urgent_comes_first_and_then_the_latest_change() {
    let scene = Scene::new();
    let low = scene.filed(Todo, Low);
    let (medium, medium_later) = (scene.filed(Todo, Medium), scene.filed(Done, Medium));
    let (critical, high) = (scene.filed(Backlog, Critical), scene.filed(Todo, High));
    let all = IssueFilter::default();
    assert_eq!(
        scene.listed(&all),
        [critical, high, medium_later, medium, low]
    );
    scene.world.advance(Duration::from_secs(1));
    done(
        scene
            .world
            .board()
            .moves(&scene.world.stored_issue(medium), Backlog),
    );
    assert_eq!(
        scene.listed(&all),
        [critical, high, medium, medium_later, low]
    );
}

#[test]
fn filters_leave_only_what_is_asked_for() {
    let scene = Scene::new();
    let project = scene
        .world
        .project_with(scene.company.id, &new_project("Printers"))
        .project
        .id;
    let plain = scene.filed(Todo, Medium);
    let ended = scene.filed(Done, Medium);
    let adas = scene.filed_as(&CreateIssue {
        status: Some(InProgress),
        assignee_agent_id: Some(scene.ada.id),
        ..new_issue("Hers")
    });
    let in_project = scene.filed_as(&CreateIssue {
        status: Some(Todo),
        priority: Some(High),
        project_id: Some(project),
        ..new_issue("In it")
    });
    let child = scene.filed_as(&CreateIssue {
        parent_id: Some(plain.into()),
        ..new_issue("Part")
    });
    let none = IssueFilter::default;
    let some = [
        (
            IssueFilter {
                statuses: vec![Todo],
                ..none()
            },
            vec![in_project, plain],
        ),
        (
            IssueFilter {
                statuses: vec![Done, InProgress],
                ..none()
            },
            vec![adas, ended],
        ),
        (
            IssueFilter {
                priorities: vec![High],
                ..none()
            },
            vec![in_project],
        ),
        (
            IssueFilter {
                project: Some(project),
                ..none()
            },
            vec![in_project],
        ),
        (
            IssueFilter {
                parent: Some(plain),
                ..none()
            },
            vec![child],
        ),
        (
            IssueFilter {
                assignee: Some(AssigneeFilter::Agent(scene.ada.id)),
                ..none()
            },
            vec![adas],
        ),
        (
            IssueFilter {
                assignee: Some(AssigneeFilter::Nobody),
                statuses: vec![Todo],
                project: Some(project),
                ..none()
            },
            vec![in_project],
        ),
        (
            IssueFilter {
                assignee: Some(AssigneeFilter::Agent(scene.bob.id)),
                ..none()
            },
            vec![],
        ),
    ];
    for (filter, expected) in some {
        assert_eq!(scene.listed(&filter), expected, "{filter:?}");
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let scene = Scene::new();
    for n in 0..11 {
        scene.filed(Todo, [Critical, High, Medium, Low][n % 4]);
    }
    let all = IssueFilter::default();
    let whole = scene.listed(&all);
    let (mut page, mut pieces) = (
        PageRequest {
            limit: 3,
            ..PageRequest::first()
        },
        Vec::new(),
    );
    loop {
        let (board, company) = (scene.world.board(), scene.company.id);
        let piece = done(board.read(|reads, ctx| issues::list(reads, ctx, company, &all, &page)));
        assert!(piece.items.len() <= 3);
        pieces.extend(piece.items.into_iter().map(|view| view.issue.id));
        match piece.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(whole.len(), 11);
    assert_eq!(pieces, whole);
}

#[test]
fn what_the_board_hides_is_not_listed_and_not_gone() {
    let scene = Scene::new();
    let (shown, hidden) = (scene.filed(Todo, Medium), scene.filed(Todo, Medium));
    let issue = scene.world.stored_issue(hidden);
    let hide = |hidden_at| UpdateIssue {
        hidden_at,
        ..no_change()
    };
    done(
        scene
            .world
            .board()
            .changes(&issue, &hide(Change::Set(scene.world.now()))),
    );
    assert_eq!(scene.listed(&IssueFilter::default()), [shown]);
    let ada = scene.world.agent(scene.ada.id);
    done(ada.read(|reads, ctx| issues::get(reads, ctx, &hidden.into())));
    done(scene.world.board().changes(&issue, &hide(Change::Clear)));
    assert_eq!(scene.listed(&IssueFilter::default()).len(), 2);
}

#[test]
fn a_list_shows_who_holds_what_while_the_lease_is_live() {
    let scene = Scene::new();
    let (work, free) = (scene.adas_work(), scene.nobodys(Todo));
    let listed = || {
        let (board, company) = (scene.world.board(), scene.company.id);
        let (all, first) = (IssueFilter::default(), PageRequest::first());
        let page = board.read(|reads, ctx| issues::list(reads, ctx, company, &all, &first));
        done(page).items
    };
    let holder = |of: IssueId| {
        let view = listed()
            .into_iter()
            .find(|view| view.issue.id == of)
            .unwrap();
        view.lease.map(|lease| lease.holder.agent())
    };
    assert_eq!(
        (holder(work.id), holder(free.id)),
        (Some(scene.ada.id), None)
    );
    scene.world.advance(workforce_domain::issue::AGENT_LEASE);
    assert_eq!(holder(work.id), None);
}

#[test]
fn agents_list_their_own_company_only() {
    let scene = Scene::new();
    let elsewhere = scene.world.company("Other").id;
    let theirs = scene.world.todo(elsewhere, "Theirs").id;
    scene.filed(Todo, Medium);
    assert!(!scene.listed(&IssueFilter::default()).contains(&theirs));
    let (all, first) = (IssueFilter::default(), PageRequest::first());
    let ada = scene.world.agent(scene.ada.id);
    let refusal = refused(ada.read(|reads, ctx| issues::list(reads, ctx, elsewhere, &all, &first)));
    assert_eq!(refusal, IssueError::Denied(Denied::CompanyForbidden));
}
