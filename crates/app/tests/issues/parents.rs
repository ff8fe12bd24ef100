//! The tree of issues: no cycle, not too deep (docs/issues.md#hierarchy).

use workforce_app::issues::{self, CreateIssue, IssueError, UpdateIssue};
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::IssueId;
use workforce_domain::issue::{Issue, IssueRef, IssueStatus};
use workforce_domain::text::Label;
use workforce_testkit::world::{done, label, new_issue, no_change, refused};

use crate::deeds::Deeds;
use crate::scene::Scene;

fn below(parent: Option<IssueId>) -> CreateIssue {
    CreateIssue {
        parent_id: parent.map(Into::into),
        ..new_issue("A part")
    }
}

fn moved_below(parent: &Issue) -> UpdateIssue {
    UpdateIssue {
        parent_id: Change::Set(parent.id.into()),
        ..no_change()
    }
}

impl Scene {
    /// A chain of so many issues, the top first.
    fn chain(&self, length: usize) -> Vec<Issue> {
        let mut chain: Vec<Issue> = Vec::new();
        for _ in 0..length {
            let parent = chain.last().map(|issue| issue.id);
            chain.push(self.world.issue_with(self.company.id, &below(parent)));
        }
        chain
    }
}

#[test]
fn an_issue_cannot_lie_below_itself() {
    let scene = Scene::new();
    let chain = scene.chain(3);
    let board = scene.world.board();
    for lower in &chain {
        let top = &chain[0];
        let refusal = scene.refused(top, || board.changes(top, &moved_below(lower)));
        assert_eq!(refusal, IssueError::Cycle);
    }
    assert_eq!(
        scene.refused(&chain[2], || board
            .changes(&chain[2], &moved_below(&chain[2]))),
        IssueError::Cycle
    );
}

#[test]
fn issues_nest_thirty_two_levels_deep_and_no_deeper() {
    let scene = Scene::new();
    let chain = scene.chain(Issue::MAX_DEPTH);
    assert_eq!(chain.len(), 32);
    let board = scene.world.board();
    let refusal = refused(board.creates(scene.company.id, &below(Some(chain[31].id))));
    assert_eq!(refusal, IssueError::TooDeep);
}

#[test]
fn a_subtree_is_moved_only_where_it_fits() {
    let scene = Scene::new();
    let (chain, pair) = (scene.chain(31), scene.chain(2));
    let board = scene.world.board();
    let refusal = scene.refused(&pair[0], || {
        board.changes(&pair[0], &moved_below(&chain[30]))
    });
    assert_eq!(refusal, IssueError::TooDeep);
    done(board.changes(&pair[0], &moved_below(&chain[29])));
    assert_eq!(scene.now(&pair[0]).parent, Some(chain[29].id));
}

#[test]
fn a_parent_is_taken_away_again() {
    let scene = Scene::new();
    let chain = scene.chain(2);
    let alone = UpdateIssue {
        parent_id: Change::Clear,
        ..no_change()
    };
    done(scene.world.board().changes(&chain[1], &alone));
    assert_eq!(scene.now(&chain[1]).parent, None);
    done(
        scene
            .world
            .board()
            .changes(&chain[0], &moved_below(&chain[1])),
    );
}

#[test]
fn a_new_issue_inherits_the_billing_code_unless_it_has_its_own() {
    let scene = Scene::new();
    let coded = CreateIssue {
        billing_code: Some(label("R-1")),
        ..new_issue("Parent")
    };
    let parent = scene.world.issue_with(scene.company.id, &coded);
    let child = scene
        .world
        .issue_with(scene.company.id, &below(Some(parent.id)));
    assert_eq!(child.billing_code.as_deref(), Some("R-1"));
    assert_eq!(child.request_depth, 1);
    let own: Option<Label> = Some(label("R-2"));
    let child = CreateIssue {
        billing_code: own.clone(),
        ..below(Some(parent.id))
    };
    assert_eq!(
        scene
            .world
            .issue_with(scene.company.id, &child)
            .billing_code,
        own
    );
}

#[test]
fn one_issue_is_shown_with_its_parents_nearest_first() {
    let scene = Scene::new();
    let goal = scene.world.goal(scene.company.id, "Print").id;
    let top = CreateIssue {
        goal_id: Some(goal),
        ..new_issue("Top")
    };
    let top = scene.world.issue_with(scene.company.id, &top);
    let middle = scene
        .world
        .issue_with(scene.company.id, &below(Some(top.id)));
    let low = scene
        .world
        .issue_with(scene.company.id, &below(Some(middle.id)));
    let ada = scene.world.agent(scene.ada.id);
    let by_identifier = IssueRef::parse(&low.identifier).unwrap();
    for named in [low.id.into(), by_identifier] {
        let detail = done(ada.read(|reads, ctx| issues::get(reads, ctx, &named)));
        let parents: Vec<_> = detail.ancestors.iter().map(|it| it.view.issue.id).collect();
        assert_eq!(parents, [middle.id, top.id]);
        assert_eq!(
            detail.ancestors[1].goal.as_ref().map(|goal| goal.id),
            Some(goal)
        );
        assert_eq!((detail.goal, detail.view.issue), (None, low.clone()));
    }
}

#[test]
fn an_issue_is_moved_and_ended_at_once() {
    let scene = Scene::new();
    let (one, other) = (
        scene.nobodys(IssueStatus::Todo),
        scene.nobodys(IssueStatus::Todo),
    );
    let both = UpdateIssue {
        parent_id: Change::Set(other.id.into()),
        status: Replace::Set(IssueStatus::Done),
        ..no_change()
    };
    done(scene.world.board().changes(&one, &both));
    assert_eq!(scene.status(&one), IssueStatus::Done);
}
