//! What lies in another company does not exist (docs/access.md#companies).

use workforce_app::access::Denied;
use workforce_app::issues::{self, AddComment, CreateIssue, IssueError, UpdateIssue};
use workforce_app::{Code, Refusal};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, GoalId, IssueId, ProjectId};
use workforce_domain::issue::{IssueRef, IssueStatus};
use workforce_domain::page::{Order, PageRequest};
use workforce_testkit::world::{Acting, new_issue, new_project, no_change, refused};

use crate::deeds::{Deeds, PLAIN, saying, to};
use crate::scene::Scene;

/// One id of every kind that an issue refers to.
struct Ids {
    project: ProjectId,
    goal: GoalId,
    parent: IssueId,
    assignee: AgentId,
}

impl Scene {
    /// Ids of another company.
    fn foreign(&self) -> Ids {
        let elsewhere = self.world.company("Other").id;
        Ids {
            project: self
                .world
                .project_with(elsewhere, &new_project("Theirs"))
                .project
                .id,
            goal: self.world.goal(elsewhere, "Theirs").id,
            parent: self.world.todo(elsewhere, "Theirs").id,
            assignee: self.world.hired(elsewhere, "Zoe").id,
        }
    }

    /// Ids that name nothing.
    fn missing(&self) -> Ids {
        Ids {
            project: self.world.id(),
            goal: self.world.id(),
            parent: self.world.id(),
            assignee: self.world.id(),
        }
    }
}

fn creations(ids: &Ids) -> [CreateIssue; 4] {
    [
        CreateIssue {
            project_id: Some(ids.project),
            ..new_issue("New")
        },
        CreateIssue {
            goal_id: Some(ids.goal),
            ..new_issue("New")
        },
        CreateIssue {
            parent_id: Some(ids.parent.into()),
            ..new_issue("New")
        },
        CreateIssue {
            assignee_agent_id: Some(ids.assignee),
            ..new_issue("New")
        },
    ]
}

fn changes(ids: &Ids) -> [UpdateIssue; 4] {
    [
        UpdateIssue {
            project_id: Change::Set(ids.project),
            ..no_change()
        },
        UpdateIssue {
            goal_id: Change::Set(ids.goal),
            ..no_change()
        },
        UpdateIssue {
            parent_id: Change::Set(ids.parent.into()),
            ..no_change()
        },
        UpdateIssue {
            assignee_agent_id: Change::Set(ids.assignee),
            ..no_change()
        },
    ]
}

const POINTERS: [&str; 4] = ["/projectId", "/goalId", "/parentId", "/assigneeAgentId"];

#[track_caller]
fn assert_same_fault(foreign: &IssueError, missing: &IssueError, pointer: &str) {
    assert_eq!(foreign, missing);
    assert_eq!(
        (foreign.code(), foreign.details()),
        (missing.code(), missing.details())
    );
    assert!(
        matches!(foreign, IssueError::Field(fault)
            if fault.code == Code::ReferenceNotFound && fault.pointer == pointer),
        "{foreign:?}"
    );
}

#[test]
fn a_new_issue_refers_to_nothing_foreign() {
    let scene = Scene::new();
    let (foreign, missing) = (creations(&scene.foreign()), creations(&scene.missing()));
    for caller in [scene.world.board(), scene.world.agent(scene.ada.id)] {
        for ((foreign, missing), pointer) in foreign.iter().zip(&missing).zip(POINTERS) {
            let foreign = refused(caller.creates(scene.company.id, foreign));
            let missing = refused(caller.creates(scene.company.id, missing));
            assert_same_fault(&foreign, &missing, pointer);
        }
    }
}

#[test]
fn a_changed_issue_refers_to_nothing_foreign() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let (foreign, missing) = (changes(&scene.foreign()), changes(&scene.missing()));
    for caller in [scene.world.board(), scene.world.agent(scene.ada.id)] {
        for ((foreign, missing), pointer) in foreign.iter().zip(&missing).zip(POINTERS) {
            let foreign = scene.refused(&issue, || caller.changes(&issue, foreign));
            let missing = scene.refused(&issue, || caller.changes(&issue, missing));
            assert_same_fault(&foreign, &missing, pointer);
        }
    }
}

/// The refusal of every call about one issue.
fn all_calls(caller: Acting<'_>, issue: &IssueRef) -> Vec<IssueError> {
    let add: AddComment = saying("Hello");
    let first = PageRequest::first();
    vec![
        refused(caller.read(|reads, ctx| issues::get(reads, ctx, issue))),
        refused(
            caller
                .read(|reads, ctx| issues::comments(reads, ctx, issue, Order::Descending, &first)),
        ),
        refused(
            caller.write(|tx, ctx| issues::update(tx, ctx, issue, to(IssueStatus::InProgress))),
        ),
        refused(caller.write(|tx, ctx| issues::check_out(tx, ctx, issue, PLAIN))),
        refused(caller.write(|tx, ctx| issues::release(tx, ctx, issue))),
        refused(caller.write(|tx, ctx| issues::add_comment(tx, ctx, issue, add.clone()))),
    ]
}

#[test]
fn an_agent_sees_no_foreign_issue() {
    let scene = Scene::new();
    let elsewhere = scene.world.company("Other").id;
    let theirs = scene.world.todo(elsewhere, "Theirs");
    let before = scene.footprint(&theirs);
    let ada = scene.world.agent(scene.ada.id);
    let by_identifier = IssueRef::parse(&theirs.identifier).unwrap();
    let missing: IssueId = scene.world.id();
    for issue in [theirs.id.into(), by_identifier, missing.into()] {
        for refusal in all_calls(ada, &issue) {
            assert_eq!(refusal, IssueError::Denied(Denied::NotFound("issue")));
        }
    }
    assert_eq!(scene.footprint(&theirs), before);
}

#[test]
fn an_agent_makes_no_issue_in_another_company() {
    let scene = Scene::new();
    let elsewhere = scene.world.company("Other").id;
    let refusal = refused(
        scene
            .world
            .agent(scene.ada.id)
            .creates(elsewhere, &new_issue("Mine")),
    );
    assert_eq!(refusal, IssueError::Denied(Denied::CompanyForbidden));
}
