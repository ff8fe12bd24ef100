//! Who may change an issue (docs/issues.md#rights).

use workforce_app::access::Denied;
use workforce_app::issues::{CreateIssue, IssueError, UpdateIssue};
use workforce_domain::Document;
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::{Issue, IssueStatus, Priority};
use workforce_domain::time::Timestamp;
use workforce_testkit::world::{World, done, new_issue, no_change, refused, title};

use crate::deeds::{Deeds, given_to, taken_away, to, words};
use crate::scene::{Footprint, with_role};

/// A company with a chain of command and an issue that every rule concerns.
struct Office {
    world: World,
    ceo: Agent,
    director: Agent,
    manager: Agent,
    worker: Agent,
    author: Agent,
    other: Agent,
    /// Made by the author, assigned to the worker, in todo.
    issue: Issue,
}

fn urgent() -> UpdateIssue {
    UpdateIssue {
        priority: Replace::Set(Priority::Critical),
        ..no_change()
    }
}

impl Office {
    fn new() -> Self {
        let world = World::sqlite();
        let company = world.company("Acme").id;
        let ceo = world.hired_with(company, &with_role("Cleo", "ceo"));
        let director = world.hired(company, "Dora");
        let manager = world.hired_below(&director, "Mia");
        let worker = world.hired_below(&manager, "Will");
        let (author, other) = (world.hired(company, "Otto"), world.hired(company, "Olga"));
        let command = CreateIssue {
            status: Some(IssueStatus::Todo),
            ..new_issue("Work")
        };
        let issue = done(world.agent(author.id).creates(company, &command));
        done(world.board().changes(&issue, &given_to(&worker)));
        let issue = world.stored_issue(issue.id);
        Self {
            world,
            ceo,
            director,
            manager,
            worker,
            author,
            other,
            issue,
        }
    }

    #[track_caller]
    fn forbidden(&self, agent: &Agent, command: &UpdateIssue) {
        let before = Footprint::of(&self.world, &self.issue);
        let refusal = refused(self.world.agent(agent.id).changes(&self.issue, command));
        assert!(
            matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
            "{}: {refusal:?}",
            agent.name
        );
        assert_eq!(Footprint::of(&self.world, &self.issue), before);
    }
}

#[test]
fn assignee_author_managers_ceo_and_board_change_an_issue() {
    let it = Office::new();
    for agent in [&it.worker, &it.author, &it.manager, &it.director, &it.ceo] {
        let renamed = UpdateIssue {
            title: Replace::Set(title(&agent.name)),
            ..urgent()
        };
        done(it.world.agent(agent.id).changes(&it.issue, &renamed));
        assert_eq!(it.world.stored_issue(it.issue.id).title, title(&agent.name));
    }
    done(it.world.board().changes(&it.issue, &urgent()));
}

#[test]
fn others_change_nothing_but_may_comment() {
    let it = Office::new();
    for command in [
        urgent(),
        to(IssueStatus::Blocked),
        taken_away(),
        given_to(&it.other),
    ] {
        it.forbidden(&it.other, &command);
    }
    let with_words = UpdateIssue {
        comment: Some(words("Mine!")),
        ..urgent()
    };
    it.forbidden(&it.other, &with_words);
    done(it.world.agent(it.other.id).says(&it.issue, "May I?"));
    let only_words = UpdateIssue {
        comment: with_words.comment,
        ..no_change()
    };
    let updated = done(it.world.agent(it.other.id).changes(&it.issue, &only_words));
    assert!(updated.comment.is_some());
}

#[test]
fn work_is_handed_to_oneself_or_downwards_and_by_the_ceo_to_anyone() {
    let it = Office::new();
    // The author is nobody's manager.
    it.forbidden(&it.author, &given_to(&it.other));
    it.forbidden(&it.author, &given_to(&it.manager));
    it.forbidden(&it.worker, &given_to(&it.manager));
    it.forbidden(&it.manager, &given_to(&it.other));
    done(
        it.world
            .agent(it.author.id)
            .changes(&it.issue, &given_to(&it.author)),
    );
    done(
        it.world
            .agent(it.ceo.id)
            .changes(&it.issue, &given_to(&it.other)),
    );
    done(
        it.world
            .agent(it.ceo.id)
            .changes(&it.issue, &given_to(&it.worker)),
    );
    done(
        it.world
            .agent(it.director.id)
            .changes(&it.issue, &given_to(&it.manager)),
    );
}

#[test]
fn only_managers_take_an_agents_work_in_progress_away() {
    let it = Office::new();
    done(it.world.agent(it.worker.id).checks_out(&it.issue));
    it.forbidden(&it.author, &given_to(&it.author));
    it.forbidden(&it.author, &taken_away());
    done(
        it.world
            .agent(it.manager.id)
            .changes(&it.issue, &given_to(&it.manager)),
    );
    assert_eq!(
        it.world.stored_issue(it.issue.id).assignee.agent(),
        Some(it.manager.id)
    );
}

#[test]
fn what_is_nobodys_is_changed_by_author_ceo_and_whoever_hands_it_out() {
    let it = Office::new();
    let board = it.world.board();
    done(board.changes(&it.issue, &taken_away()));
    it.forbidden(&it.other, &urgent());
    it.forbidden(&it.manager, &urgent());
    done(it.world.agent(it.author.id).changes(&it.issue, &urgent()));
    done(it.world.agent(it.ceo.id).changes(&it.issue, &urgent()));
    done(
        it.world
            .agent(it.manager.id)
            .changes(&it.issue, &given_to(&it.worker)),
    );
    done(board.changes(&it.issue, &taken_away()));
    done(
        it.world
            .agent(it.other.id)
            .changes(&it.issue, &given_to(&it.other)),
    );
}

#[test]
fn an_agent_that_takes_an_issue_up_changes_nothing_else_by_the_way() {
    let it = Office::new();
    done(it.world.board().changes(&it.issue, &taken_away()));
    let more = UpdateIssue {
        priority: Replace::Set(Priority::Low),
        ..to(IssueStatus::InProgress)
    };
    it.forbidden(&it.other, &more);
    done(
        it.world
            .agent(it.other.id)
            .moves(&it.issue, IssueStatus::InProgress),
    );
    assert_eq!(
        it.world.stored_issue(it.issue.id).assignee.agent(),
        Some(it.other.id)
    );
}

#[test]
fn some_fields_are_for_the_board() {
    let it = Office::new();
    let (hidden, overrides) = (
        UpdateIssue {
            hidden_at: Change::Set(Timestamp::from_micros(0)),
            ..no_change()
        },
        UpdateIssue {
            assignee_adapter_overrides: Change::Set(Document::new()),
            ..no_change()
        },
    );
    for command in [hidden, overrides] {
        for agent in [&it.worker, &it.author, &it.ceo] {
            let refusal = refused(it.world.agent(agent.id).changes(&it.issue, &command));
            assert_eq!(refusal, IssueError::Denied(Denied::BoardRequired));
        }
        done(it.world.board().changes(&it.issue, &command));
    }
    let overrides = CreateIssue {
        assignee_adapter_overrides: Some(Document::new()),
        ..new_issue("Special")
    };
    let refusal = refused(
        it.world
            .agent(it.ceo.id)
            .creates(it.ceo.company, &overrides),
    );
    assert_eq!(refusal, IssueError::Denied(Denied::BoardRequired));
}

#[test]
fn new_issues_are_assigned_by_the_same_rules() {
    let it = Office::new();
    let to_whom = |agent: &Agent| CreateIssue {
        assignee_agent_id: Some(agent.id),
        ..new_issue("New")
    };
    let company = it.worker.company;
    for (by, to, allowed) in [
        (&it.worker, &it.worker, true),
        (&it.worker, &it.manager, false),
        (&it.worker, &it.other, false),
        (&it.manager, &it.worker, true),
        (&it.director, &it.worker, true),
        (&it.ceo, &it.other, true),
    ] {
        let outcome = it.world.agent(by.id).creates(company, &to_whom(to));
        assert_eq!(
            outcome.is_ok(),
            allowed,
            "{} to {}: {outcome:?}",
            by.name,
            to.name
        );
    }
}
