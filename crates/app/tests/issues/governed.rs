//! What governs an issue, and what agents may not do there by themselves
//! (docs/issues.md#governed-issues).

use workforce_app::issues::{CreateIssue, IssueError, Rewrite, UpdateIssue};
use workforce_app::projects::{self, CreateProject, UpdateProject};
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::ProjectId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::project::ProjectGovernance;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, label, new_issue, new_project, no_change, refused};

use crate::deeds::Deeds;
use crate::ticket::{Ticket, code, put_into, worktree};

const FOR_APPROVAL: Option<Rewrite> = Some(Rewrite {
    from: IssueStatus::Done,
    reason: "approval_required",
    reviewer_agent_id: None,
    reviewer_user_id: None,
    approval_id: None,
});

/// A project that demands plans.
fn demanding(it: &Ticket) -> ProjectId {
    let command = CreateProject {
        governance: Some(ProjectGovernance::Required),
        remote_required: None,
        ..new_project("Governed")
    };
    it.world.project_with(it.company.id, &command).project.id
}

fn of_project(project: ProjectId) -> UpdateIssue {
    UpdateIssue {
        project_id: Change::Set(project),
        ..no_change()
    }
}

fn below(parent: &Issue) -> UpdateIssue {
    UpdateIssue {
        parent_id: Change::Set(parent.id.into()),
        ..no_change()
    }
}

fn part_of(parent: &Issue) -> CreateIssue {
    CreateIssue {
        parent_id: Some(parent.id.into()),
        ..new_issue("A part")
    }
}

/// The top issue, of a project that demands plans.
fn demanded(it: &Ticket) -> ProjectId {
    let project = demanding(it);
    done(it.world.board().changes(&it.top, &of_project(project)));
    project
}

/// What a part of the top issue becomes when its worker ends it.
fn ends_as(it: &Ticket) -> IssueStatus {
    let part = it.part();
    it.asks(&part, IssueStatus::Done).view.issue.status()
}

on_both_databases! {
    fn a_part_of_what_nothing_governs_is_done_when_it_is_done(store: &TestStore) {
        let it = Ticket::without_plan(store);
        assert_eq!(ends_as(&it), IssueStatus::Done);
        let lead = it.world.agent(it.lead.id);
        let top = done(lead.moves(&it.top, IssueStatus::Done));
        assert_eq!((top.view.issue.status(), top.rewritten), (IssueStatus::Done, None));
    }

    fn plans_worktrees_and_projects_govern_all_below(store: &TestStore) {
        let it = Ticket::without_plan(store);
        it.plan(&it.top);
        assert_eq!(ends_as(&it), IssueStatus::InReview);

        let it = Ticket::without_plan(store);
        put_into(store, &it.top, worktree(store, &it));
        assert_eq!(ends_as(&it), IssueStatus::InReview);

        let it = Ticket::without_plan(store);
        demanded(&it);
        assert_eq!(ends_as(&it), IssueStatus::InReview);

        let it = Ticket::without_plan(store);
        let part = it.part();
        it.ask_for_plan(&it.top);
        let updated = it.asks(&part, IssueStatus::Done);
        assert_eq!(updated.view.issue.status(), IssueStatus::InReview, "it is undecided");
    }

    fn a_plan_that_was_rejected_governs_nothing(store: &TestStore) {
        use workforce_app::approvals::{self, Decide};
        let it = Ticket::without_plan(store);
        let plan = it.ask_for_plan(&it.top);
        let plainly = Decide::default();
        let board = it.world.board();
        done(board.write(|tx, ctx| approvals::reject(tx, ctx, plan, plainly.clone())));
        assert_eq!(ends_as(&it), IssueStatus::Done);
    }

    fn a_project_demands_a_plan_before_parts_are_made(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let project = demanded(&it);
        let lead = it.world.agent(it.lead.id);
        let refusal = refused(lead.creates(it.company.id, &part_of(&it.top)));
        assert_eq!(refusal, IssueError::PlanRequired { issue: it.top.id, project });
        // The board is free, and nobody hides a part below one that the board made.
        let made = it.world.issue_with(it.company.id, &part_of(&it.top));
        assert_eq!(code(&refused(lead.creates(it.company.id, &part_of(&made)))), "plan_required");
        let apart = done(lead.creates(it.company.id, &new_issue("Apart")));
        assert_eq!(code(&refused(lead.changes(&apart, &below(&it.top)))), "plan_required");
        assert_eq!(it.now(&apart).parent, None);
        it.plan(&it.top);
        done(lead.creates(it.company.id, &part_of(&made)));
        done(lead.changes(&apart, &below(&it.top)));
    }

    fn a_project_demands_a_plan_before_the_end(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let project = demanded(&it);
        let lead = it.world.agent(it.lead.id);
        done(lead.checks_out(&it.top));
        for status in [IssueStatus::Done, IssueStatus::InReview] {
            let refusal = refused(lead.moves(&it.top, status));
            assert_eq!(refusal, IssueError::PlanRequired { issue: it.top.id, project });
        }
        assert_eq!(it.now(&it.top).status(), IssueStatus::InProgress);
        done(it.world.board().moves(&it.top, IssueStatus::InReview));
        done(it.world.board().moves(&it.top, IssueStatus::Done));
    }

    fn nothing_is_demanded_before_the_work_begins(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let command = CreateIssue {
            project_id: Some(demanding(&it)),
            ..new_issue("To think about")
        };
        let lead = it.world.agent(it.lead.id);
        let issue = done(lead.creates(it.company.id, &command));
        done(lead.checks_out(&issue));
        done(lead.moves(&issue, IssueStatus::Blocked));
        done(lead.moves(&issue, IssueStatus::Cancelled));
    }

    fn agents_do_not_take_an_issue_out_of_governed_work(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        let worker = it.world.agent(it.worker.id);
        let away = UpdateIssue { parent_id: Change::Clear, ..no_change() };
        let elsewhere = done(worker.creates(it.company.id, &new_issue("Elsewhere")));
        for change in [&away, &below(&elsewhere)] {
            assert_eq!(code(&refused(worker.changes(&part, change))), "forbidden");
        }
        assert_eq!(it.now(&part).parent, Some(it.top.id));
        let beside = it.part();
        done(worker.changes(&part, &below(&beside)));
        done(it.world.board().changes(&part, &away));
        assert_eq!(it.asks(&part, IssueStatus::Done).view.issue.status(), IssueStatus::Done);

        let lead = it.world.agent(it.lead.id);
        let own = CreateIssue { project_id: Some(demanding(&it)), ..new_issue("Mine") };
        let own = done(lead.creates(it.company.id, &own));
        let out = UpdateIssue { project_id: Change::Clear, ..no_change() };
        assert_eq!(code(&refused(lead.changes(&own, &out))), "forbidden");
        done(it.world.board().changes(&own, &out));
    }

    fn only_the_board_says_what_a_project_demands(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let project = demanding(&it);
        let command = UpdateProject {
            governance: Replace::Set(ProjectGovernance::None),
            ..UpdateProject::default()
        };
        let change = |world: &World, own: bool| {
            let caller = match own {
                true => world.board(),
                false => world.agent(it.lead.id),
            };
            caller.write(|tx, ctx| projects::update(tx, ctx, project, command.clone()))
        };
        assert!(change(&it.world, false).is_err());
        let changed = done(change(&it.world, true));
        assert_eq!(changed.project.governance, ProjectGovernance::None);
    }

    fn a_governed_issue_without_a_parent_waits_for_the_board(store: &TestStore) {
        let it = Ticket::on(store);
        let lead = it.world.agent(it.lead.id);
        for _ in 0..2 {
            let updated = done(lead.moves(&it.top, IssueStatus::Done));
            let taken = (updated.view.issue.status(), updated.rewritten);
            assert_eq!(taken, (IssueStatus::InReview, FOR_APPROVAL));
        }
        assert_eq!(it.state(&it.top), (IssueStatus::InReview, Some(it.lead.id), None));
        done(lead.moves(&it.top, IssueStatus::InProgress));
        assert_eq!(done(lead.moves(&it.top, IssueStatus::InReview)).rewritten, None);
        done(it.world.board().moves(&it.top, IssueStatus::Done));
    }

    fn an_issue_waits_for_its_parts(store: &TestStore) {
        let it = Ticket::on(store);
        let parts = [it.part(), it.reviewed()];
        let lead = it.world.agent(it.lead.id);
        for status in [IssueStatus::Done, IssueStatus::InReview] {
            let refusal = refused(lead.moves(&it.top, status));
            let IssueError::ChildrenOpen { issue, mut children, total } = refusal else {
                panic!("{refusal:?}");
            };
            assert_eq!((issue, total), (it.top.id, 2));
            children.sort_by_key(|child| child.id);
            let told: Vec<_> = children.iter().map(|it| (it.id, it.status)).collect();
            let open = [(parts[0].id, IssueStatus::InProgress), (parts[1].id, IssueStatus::InReview)];
            assert_eq!(told, open);
        }
        for part in &parts {
            done(it.world.board().moves(part, IssueStatus::Cancelled));
        }
        done(lead.moves(&it.top, IssueStatus::Done));
    }

    fn a_part_waits_for_its_own_parts(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        let within = it.part_of(&part, &it.second);
        let worker = it.world.agent(it.worker.id);
        assert_eq!(code(&refused(worker.moves(&part, IssueStatus::Done))), "children_open");
        done(it.world.agent(it.second.id).moves(&within, IssueStatus::Done));
        let review = (IssueStatus::InReview, Some(it.worker.id), Some(it.second.id));
        assert_eq!(it.state(&within), review, "it is reviewed by whoever has the part");
        done(worker.moves(&within, IssueStatus::Done));
        it.asks(&part, IssueStatus::Done);
        let review = (IssueStatus::InReview, Some(it.lead.id), Some(it.worker.id));
        assert_eq!(it.state(&part), review);
    }

    fn a_refusal_names_no_more_than_fifty_parts(store: &TestStore) {
        let it = Ticket::on(store);
        for _ in 0..51 {
            it.world.issue_with(it.company.id, &part_of(&it.top));
        }
        let refusal = refused(it.world.agent(it.lead.id).moves(&it.top, IssueStatus::Done));
        assert!(
            matches!(&refusal, IssueError::ChildrenOpen { children, total: 51, .. }
                if children.len() == 50),
            "{refusal:?}"
        );
    }

    fn a_part_inherits_billing_code_and_worktree(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let ticket = worktree(store, &it);
        put_into(store, &it.top, ticket);
        let billed = UpdateIssue { billing_code: Change::Set(label("ACME-7")), ..no_change() };
        done(it.world.board().changes(&it.top, &billed));
        let part = done(it.world.agent(it.lead.id).creates(it.company.id, &part_of(&it.top)));
        assert_eq!(part.execution_workspace, Some(ticket));
        assert_eq!(part.billing_code, Some(label("ACME-7")));
    }

    fn what_is_moved_goes_to_the_worktree_of_its_new_parent(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let board = it.world.board();
        let ticket = worktree(store, &it);
        put_into(store, &it.top, ticket);
        let moved = it.world.todo(it.company.id, "Moved");
        let under = it.world.issue_with(it.company.id, &part_of(&moved));
        let deep = it.world.issue_with(it.company.id, &part_of(&under));
        let all = [&moved, &under, &deep];
        let places = || all.map(|issue| it.now(issue).execution_workspace);
        done(board.changes(&moved, &below(&it.top)));
        assert_eq!(places(), [Some(ticket); 3]);
        assert!(it.told(&deep, "changes").is_some_and(|it| it["executionWorkspaceId"]["to"] == ticket.to_string()));
        let away = UpdateIssue { parent_id: Change::Clear, ..no_change() };
        done(board.changes(&moved, &away));
        assert_eq!(places(), [None; 3]);
    }

    fn what_has_a_worktree_of_its_own_takes_it_along(store: &TestStore) {
        let it = Ticket::without_plan(store);
        let board = it.world.board();
        let [here, there] = [worktree(store, &it), worktree(store, &it)];
        put_into(store, &it.top, here);
        let owner = it.world.todo(it.company.id, "With a ticket");
        put_into(store, &owner, there);
        let part = it.world.issue_with(it.company.id, &part_of(&owner));
        done(board.changes(&owner, &below(&it.top)));
        for issue in [&owner, &part] {
            assert_eq!(it.now(issue).execution_workspace, Some(there));
        }
        // Moved on below what moves itself, it keeps the worktree as well.
        let other = it.world.todo(it.company.id, "Another");
        done(board.changes(&it.top, &below(&other)));
        assert_eq!(it.now(&it.top).execution_workspace, Some(here));
        let outer = it.world.todo(it.company.id, "Outer");
        let middle = it.world.issue_with(it.company.id, &part_of(&outer));
        done(board.changes(&owner, &below(&middle)));
        done(board.changes(&middle, &below(&it.top)));
        let places = [&middle, &owner].map(|issue| it.now(issue).execution_workspace);
        assert_eq!(places, [Some(here), Some(there)]);
    }
}
