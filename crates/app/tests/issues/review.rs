//! Work that somebody else must look at before it is done
//! (docs/issues.md#demanded-reviews).

use workforce_app::access::Denied;
use workforce_app::companies::CreateCompany;
use workforce_app::issues::{CreateIssue, IssueError, Rewrite, UpdateIssue};
use workforce_app::projects::CreateProject;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_testkit::world::{
    World, done, new_company, new_issue, new_project, no_change, refused,
};

use crate::deeds::{Deeds, given_to, taken_away};
use crate::scene::Scene;

const REWRITTEN: Option<Rewrite> = Some(Rewrite {
    from: IssueStatus::Done,
    reason: "review_required",
    reviewer_agent_id: None,
    reviewer_user_id: None,
    approval_id: None,
});

/// A company where all work is reviewed, with an author, a worker and its manager.
struct Reviewed {
    world: World,
    author: Agent,
    manager: Agent,
    worker: Agent,
    outsider: Agent,
}

impl Reviewed {
    fn new() -> Self {
        let world = World::sqlite();
        let strict = CreateCompany {
            review_required: Some(true),
            ..new_company("Strict")
        };
        let company = world.company_with(&strict).id;
        let manager = world.hired(company, "Manager");
        Self {
            author: world.hired(company, "Author"),
            worker: world.hired_below(&manager, "Worker"),
            outsider: world.hired(company, "Outsider"),
            manager,
            world,
        }
    }

    /// An issue of the author that the worker works on.
    fn work(&self) -> Issue {
        let company = self.worker.company;
        let issue = done(
            self.world
                .agent(self.author.id)
                .creates(company, &new_issue("Work")),
        );
        done(self.world.board().changes(&issue, &given_to(&self.worker)));
        done(self.world.agent(self.worker.id).checks_out(&issue)).issue
    }

    /// The work goes to the worker's manager.
    fn rewritten(&self) -> Option<Rewrite> {
        REWRITTEN.map(|rewrite| Rewrite {
            reviewer_agent_id: Some(self.manager.id),
            ..rewrite
        })
    }

    /// Such an issue in review.
    fn in_review(&self) -> Issue {
        let issue = self.work();
        let updated = done(
            self.world
                .agent(self.worker.id)
                .moves(&issue, IssueStatus::Done),
        );
        assert_eq!(updated.rewritten, self.rewritten());
        updated.view.issue
    }
}

#[test]
fn an_agents_done_becomes_in_review_where_the_company_demands_it() {
    let it = Reviewed::new();
    let issue = it.work();
    let updated = done(
        it.world
            .agent(it.worker.id)
            .moves(&issue, IssueStatus::Done),
    );
    assert_eq!(updated.view.issue.status(), IssueStatus::InReview);
    assert_eq!(updated.view.issue.progress.completed_at(), None);
    assert_eq!(updated.rewritten, it.rewritten());
    assert_eq!(
        it.world.stored_issue(issue.id).status(),
        IssueStatus::InReview
    );
}

#[test]
fn an_agents_done_becomes_in_review_where_the_project_demands_it() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for strict in [true, false] {
        let command = CreateProject {
            review_required: Some(strict),
            ..new_project("Printers")
        };
        let project = scene
            .world
            .project_with(scene.company.id, &command)
            .project
            .id;
        let issue = CreateIssue {
            assignee_agent_id: Some(scene.ada.id),
            project_id: Some(project),
            ..new_issue("Fix it")
        };
        let issue = done(ada.creates(scene.company.id, &issue));
        done(ada.checks_out(&issue));
        let updated = done(ada.moves(&issue, IssueStatus::Done));
        let expected = match strict {
            true => (IssueStatus::InReview, REWRITTEN),
            false => (IssueStatus::Done, None),
        };
        assert_eq!((updated.view.issue.status(), updated.rewritten), expected);
    }
}

#[test]
fn the_assignee_cannot_finish_the_review_of_its_own_work() {
    let it = Reviewed::new();
    let issue = it.in_review();
    let worker = it.world.agent(it.worker.id);
    let refusal = refused(worker.moves(&issue, IssueStatus::Done));
    assert!(
        matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
        "{refusal:?}"
    );
}

#[test]
fn the_author_a_manager_and_the_board_finish_a_review() {
    let it = Reviewed::new();
    let reviewers = [
        it.world.agent(it.author.id),
        it.world.agent(it.manager.id),
        it.world.board(),
    ];
    for reviewer in reviewers {
        let issue = it.in_review();
        let updated = done(reviewer.moves(&issue, IssueStatus::Done));
        assert_eq!(
            (updated.view.issue.status(), updated.rewritten),
            (IssueStatus::Done, None)
        );
        assert!(updated.view.issue.progress.completed_at().is_some());
    }
}

#[test]
fn whoever_has_no_stake_finishes_no_review() {
    let it = Reviewed::new();
    let issue = it.in_review();
    let refusal = refused(
        it.world
            .agent(it.outsider.id)
            .moves(&issue, IssueStatus::Done),
    );
    assert!(
        matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
        "{refusal:?}"
    );
    assert_eq!(it.world.stored_issue(issue.id), issue);
}

#[test]
fn a_reviewer_sends_work_back_to_its_assignee() {
    let it = Reviewed::new();
    let issue = it.in_review();
    let updated = done(
        it.world
            .agent(it.manager.id)
            .moves(&issue, IssueStatus::InProgress),
    );
    let stored = &updated.view.issue;
    assert_eq!(stored.status(), IssueStatus::InProgress);
    assert_eq!(stored.assignee.agent(), Some(it.worker.id));
    assert_eq!(
        it.world.pending_wakes(&it.worker).len(),
        1,
        "it is told of it"
    );
}

#[test]
fn giving_work_up_does_not_spare_it_the_review() {
    let it = Reviewed::new();
    let worker = it.world.agent(it.worker.id);
    let own = done(worker.creates(it.worker.company, &new_issue("Own")));
    done(worker.checks_out(&own));
    done(worker.moves(&own, IssueStatus::InReview));
    done(worker.changes(&own, &taken_away()));
    let updated = done(worker.moves(&own, IssueStatus::Done));
    assert_eq!(
        (updated.view.issue.status(), updated.rewritten),
        (IssueStatus::InReview, REWRITTEN)
    );
}

#[test]
fn what_could_not_become_done_is_refused_and_not_rewritten() {
    let it = Reviewed::new();
    let worker = it.world.agent(it.worker.id);
    for status in [
        IssueStatus::Backlog,
        IssueStatus::Todo,
        IssueStatus::Blocked,
    ] {
        let command = CreateIssue {
            status: Some(status),
            assignee_agent_id: Some(it.worker.id),
            ..new_issue("Early")
        };
        let issue = done(worker.creates(it.worker.company, &command));
        let refusal = refused(worker.moves(&issue, IssueStatus::Done));
        assert!(matches!(refusal, IssueError::Transition(_)), "{refusal:?}");
        assert_eq!(it.world.stored_issue(issue.id), issue);
    }
}

#[test]
fn the_board_needs_no_review() {
    let it = Reviewed::new();
    let issue = it.work();
    let updated = done(it.world.board().moves(&issue, IssueStatus::Done));
    assert_eq!(
        (updated.view.issue.status(), updated.rewritten),
        (IssueStatus::Done, None)
    );
}

#[test]
fn agents_do_not_take_an_issue_out_of_a_project_that_demands_reviews() {
    let scene = Scene::new();
    let project = |strict| {
        let command = CreateProject {
            review_required: strict,
            ..new_project("Printers")
        };
        let view = scene.world.project_with(scene.company.id, &command);
        view.project.id
    };
    let (strict, lax) = (project(Some(true)), project(Some(false)));
    let ada = scene.world.agent(scene.ada.id);
    let issue = CreateIssue {
        project_id: Some(strict),
        ..new_issue("Fix it")
    };
    let issue = done(ada.creates(scene.company.id, &issue));
    for project in [Change::Set(lax), Change::Clear] {
        let elsewhere = UpdateIssue {
            project_id: project,
            ..no_change()
        };
        let refusal = scene.refused(&issue, || ada.changes(&issue, &elsewhere));
        assert!(
            matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
            "{refusal:?}"
        );
    }
    let elsewhere = UpdateIssue {
        project_id: Change::Set(lax),
        ..no_change()
    };
    done(scene.world.board().changes(&issue, &elsewhere));
    assert_eq!(scene.now(&issue).project, Some(lax));
}
