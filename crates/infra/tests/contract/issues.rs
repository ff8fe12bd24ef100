use workforce_domain::actor::Scope;
use workforce_domain::board::BoardMember;
use workforce_domain::goal::Goal;
use workforce_domain::id::{AgentId, IssueId};
use workforce_domain::issue::{
    Assignee, Assignment, Author, Comment, Holder, Issue, IssueRef, IssueStatus, Lease, Mover,
    Priority,
};
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::port::StoreError;
use workforce_domain::run::{RunStatus, WakeStatus};
use workforce_domain::text::{CommentBody, Description, Label, Title};
use workforce_testkit::on_both_databases;

use crate::world::{
    World, claim, execute, goal, heartbeat, id, issue, later, literal, now, project, try_write,
};

fn comment(world: &World<'_>, issue: &Issue) -> Comment {
    Comment {
        id: id(),
        company: world.company.id,
        issue: issue.id,
        author: Author::default(),
        run: None,
        body: CommentBody::parse("hello").unwrap(),
        mentions: Vec::new(),
        review: None,
        position: None,
        created_at: now(),
    }
}

fn take(world: &World<'_>, issue: &Issue, holder: Holder) -> Lease {
    world.take_lease(issue, holder, now())
}

fn lease(world: &World<'_>, issue: &Issue) -> Option<Lease> {
    world.read(|reads| reads.issues().lease(world.scope(), issue.id))
}

fn end_lease(world: &World<'_>, issue: &Issue) {
    world.write(|tx| {
        let held = tx
            .issues_mut()
            .lock(Scope::SYSTEM, &issue.id.into())?
            .expect("exists");
        tx.issues_mut().end_lease(&held)
    });
}

pub(crate) fn set_parent(world: &World<'_>, child: &Issue, parent: Option<IssueId>) {
    world.write(|tx| {
        let mut held = tx
            .issues_mut()
            .lock(Scope::SYSTEM, &child.id.into())?
            .expect("exists");
        tx.issues_mut().lock_hierarchy(world.scope())?;
        held.parent = parent;
        tx.issues_mut().save(&held)
    });
}

/// Stores an approval, linked to its primary issue or else by a link.
pub(crate) fn approval(
    world: &World<'_>,
    kind: &str,
    status: &str,
    primary: Option<&Issue>,
    linked: Option<&Issue>,
) -> String {
    let approval: IssueId = id();
    let at = literal(world.store, now());
    let primary = primary.map_or("NULL".into(), |issue| format!("'{}'", issue.id));
    let company = world.company.id;
    execute(
        world.store,
        &format!(
            "INSERT INTO approvals (id, company_id, type, status, payload, primary_issue_id, \
             resubmit_count, created_at, updated_at, decided_by, decided_at) \
             VALUES ('{approval}', '{company}', '{kind}', '{status}', '{{}}', {primary}, 0, \
             {at}, {at}, 'board', {at})"
        ),
    );
    if let Some(issue) = linked {
        execute(
            world.store,
            &format!(
                "INSERT INTO approval_issues (company_id, approval_id, issue_id) \
                 VALUES ('{company}', '{approval}', '{}')",
                issue.id
            ),
        );
    }
    approval.to_string()
}

/// Decides an approval.
pub(crate) fn approve(world: &World<'_>, approval: &str) {
    execute(
        world.store,
        &format!("UPDATE approvals SET status = 'approved' WHERE id = '{approval}'"),
    );
}

on_both_databases! {
    #![beneath_the_rules]
    fn an_issue_is_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let (parent, project, goal) =
            (world.open(), project(&world.company), goal(&world.company));
        world.write(|tx| {
            tx.projects_mut().insert(project.clone())?;
            tx.goals_mut().insert(goal.clone())
        });
        let plain = world.issue.clone();
        let started =
            plain.progress.transition_to(Mover::Board, IssueStatus::InProgress, later(1)).unwrap().progress;
        let done = started.transition_to(Mover::Board, IssueStatus::Done, later(2)).unwrap().progress;
        let full = Issue {
            project: Some(project.id),
            goal: Some(goal.id),
            parent: Some(parent.id),
            title: Title::parse("Another").unwrap(),
            description: Some(Description::parse("more").unwrap()),
            progress: done,
            priority: Priority::Critical,
            assignee: Assignment::stored(Assignee::Agent(world.agent.id)),
            implementer: Some(world.agent.id),
            created_by: Author::Agent(world.agent.id),
            billing_code: Some(Label::parse("b").unwrap()),
            ticket_key: Some(Label::parse("T-1").unwrap()),
            request_depth: 3,
            delegation: Some(heartbeat(1)),
            assignee_adapter_overrides: Some(heartbeat(2)),
            hidden_at: Some(later(5)),
            updated_at: later(6),
            ..plain.clone()
        };
        let personal = Issue {
            progress: started,
            assignee: Assignment::to_board(BoardMember::Token(id())),
            created_by: Author::Board(BoardMember::User(id())),
            ..plain.clone()
        };
        let by_token = Issue {
            created_by: Author::Board(BoardMember::Token(id())),
            ..plain.clone()
        };
        for version in [full, personal, by_token, plain] {
            world.change_issue(&version, |held| held.clone_from(&version));
            let found =
                world.read(|reads| reads.issues().find(Scope::SYSTEM, &version.id.into()));
            assert_eq!(found.as_ref(), Some(&version));
            let by_identifier = IssueRef::Identifier(version.identifier.clone());
            let found = world.read(|reads| reads.issues().find(Scope::SYSTEM, &by_identifier));
            assert_eq!(found, Some(version));
        }
    }

    fn an_identifier_is_taken_once(store: &TestStore) {
        let world = World::new(store);
        let twin = Issue { identifier: world.issue.identifier.clone(), ..issue(&world.company) };
        let refused = try_write(&**store, |tx| tx.issues_mut().insert(twin.clone()).map(drop));
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
    }

    fn what_was_just_inserted_can_be_saved(store: &TestStore) {
        let world = World::new(store);
        let fresh = issue(&world.company);
        world.write(|tx| {
            let mut held = tx.issues_mut().insert(fresh.clone())?;
            held.priority = Priority::Low;
            tx.issues_mut().save(&held)
        });
        let found = world.read(|reads| reads.issues().find(Scope::SYSTEM, &fresh.id.into()));
        assert_eq!(found.map(|issue| issue.priority), Some(Priority::Low));
    }

    fn ancestors_come_nearest_first_and_end_in_a_cycle(store: &TestStore) {
        let world = World::new(store);
        let issues: Vec<Issue> = (0..54).map(|_| world.open()).collect();
        for pair in issues.windows(2) {
            set_parent(&world, &pair[0], Some(pair[1].id));
        }
        let ancestors = |of: &Issue| {
            let found = world.read(|reads| reads.issues().ancestors(world.scope(), of.id));
            found.into_iter().map(|issue| issue.id).collect::<Vec<_>>()
        };
        let ids: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
        assert_eq!(ancestors(&issues[53]), []);
        assert_eq!(ancestors(&issues[51]), ids[52..]);
        assert_eq!(ancestors(&issues[0]), ids[1..=50]);
        let depth = |of: &Issue| {
            world.read(|reads| reads.issues().depth_below(world.scope(), of.id))
        };
        assert_eq!(depth(&issues[0]), 0);
        assert_eq!(depth(&issues[9]), 9);
        assert_eq!(depth(&issues[53]), Issue::MAX_DEPTH);

        set_parent(&world, &issues[2], Some(issues[0].id));
        assert_eq!(ancestors(&issues[0]), ids[1..=2]);
        assert_eq!(depth(&issues[0]), Issue::MAX_DEPTH);
    }

    fn open_children_are_counted(store: &TestStore) {
        let world = World::new(store);
        for status in [IssueStatus::Todo, IssueStatus::Blocked, IssueStatus::Done, IssueStatus::Cancelled] {
            let child = world.open();
            world.change_issue(&child, |child| {
                child.parent = Some(world.issue.id);
                child.progress = child.progress.transition_to(Mover::Board, status, later(1)).unwrap().progress;
            });
        }
        let open =
            world.read(|reads| reads.issues().open_children(world.scope(), world.issue.id));
        assert_eq!(open, 2);
    }

    fn fencing_numbers_grow_even_after_a_lease_ended(store: &TestStore) {
        let world = World::new(store);
        let rival = world.hire();
        let mine = Holder::Agent(world.agent.id);
        assert_eq!(lease(&world, &world.issue), None);
        let first = take(&world, &world.issue, mine);
        let second = take(&world, &world.issue, Holder::Agent(rival.id));
        assert!(second.fence > first.fence);
        assert_eq!(lease(&world, &world.issue), Some(second.clone()));
        end_lease(&world, &world.issue);
        end_lease(&world, &world.issue);
        assert_eq!(lease(&world, &world.issue), None);
        let third = take(&world, &world.issue, mine);
        assert!(third.fence > second.fence);
        let other = world.open();
        let elsewhere = take(&world, &other, mine);
        let mut all = world.read(|reads| {
            reads.issues().leases(world.scope(), &[world.issue.id, other.id, id()])
        });
        all.sort_by_key(|lease| lease.issue);
        assert_eq!(all, [third, elsewhere]);
        let changed = world.read(|reads| {
            reads.issues().find(Scope::SYSTEM, &world.issue.id.into())
        });
        assert_eq!(changed.as_ref(), Some(&world.issue), "a lease changes nothing else");
    }

    fn a_run_takes_its_leases_with_it(store: &TestStore) {
        let world = World::new(store);
        let (kept, other) = (world.open(), world.open());
        world.queue(&world.agent, Some(&world.issue));
        let run = claim(store).expect("it may start").run;
        take(&world, &other, Holder::Run { agent: world.agent.id, run: run.id });
        take(&world, &kept, Holder::Agent(world.agent.id));
        assert!(lease(&world, &world.issue).is_some_and(|it| it.held_by(run.agent, Some(run.id))));
        world.write(|tx| {
            let held = tx.runs_mut().lock(Scope::SYSTEM, run.id)?.expect("exists");
            tx.issues_mut().end_leases_of_run(&held)
        });
        assert_eq!(
            [&world.issue, &other, &kept].map(|issue| lease(&world, issue).is_some()),
            [false, false, true]
        );
    }

    fn the_open_issues_of_an_agent_are_locked_youngest_first(store: &TestStore) {
        let world = World::new(store);
        let assign = |seconds, status, assignee| {
            let mut issue = Issue { created_at: later(seconds), assignee, ..issue(&world.company) };
            issue.progress =
                workforce_domain::issue::Progress::begin(status, later(seconds));
            world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
            issue.id
        };
        let own = Assignment::stored(Assignee::Agent(world.agent.id));
        let second = assign(2, IssueStatus::InProgress, own);
        let first = assign(1, IssueStatus::Backlog, own);
        assign(0, IssueStatus::Done, own);
        assign(0, IssueStatus::Cancelled, own);
        let others = Assignment::stored(Assignee::Agent(world.hire().id));
        assign(0, IssueStatus::Todo, others);
        let locked: Vec<IssueId> = world.write(|tx| {
            let held = tx.issues_mut().lock_open_of(world.scope(), Assignee::Agent(world.agent.id))?;
            Ok(held.iter().map(|issue| issue.id).collect())
        });
        assert_eq!(locked, [second, first]);
    }

    fn a_deleted_issue_leaves_no_one_waiting(store: &TestStore) {
        let world = World::new(store);
        let child = world.open();
        set_parent(&world, &child, Some(world.issue.id));
        let old = comment(&world, &world.issue);
        world.write(|tx| tx.comments_mut().insert(&old));
        let (_, started) = world.queue(&world.agent, Some(&world.issue));
        claim(store).expect("it may start");
        let (_, waiting) = world.queue(&world.agent, Some(&world.issue));
        world.write(|tx| {
            let held =
                tx.issues_mut().lock(Scope::SYSTEM, &world.issue.id.into())?.expect("exists");
            tx.issues_mut().delete(held, later(1))
        });
        assert_eq!(
            world.read(|reads| reads.issues().find(Scope::SYSTEM, &world.issue.id.into())),
            None
        );
        let child = world.read(|reads| reads.issues().find(Scope::SYSTEM, &child.id.into()));
        assert_eq!(child.map(|child| child.parent), Some(None));
        assert_eq!(lease(&world, &world.issue), None);
        let comments =
            world.read(|reads| reads.comments().find_all(world.scope(), &[old.id]));
        assert_eq!(comments, []);
        let (started, waiting) = (world.run(&started), world.run(&waiting));
        assert_eq!((started.status, started.issue), (RunStatus::Running, None));
        assert_eq!((waiting.status, waiting.issue), (RunStatus::Cancelled, None));
        assert_eq!(waiting.finished_at, Some(later(1)));
        let wake = world.read(|reads| reads.runs().wake_of(world.scope(), waiting.id));
        assert_eq!(wake.map(|wake| wake.status), Some(WakeStatus::Cancelled));
        assert_eq!(claim(store), None);
    }

    fn comments_are_kept_with_who_wrote_them_and_whom_they_mention(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, Some(&world.issue));
        let run = claim(store).expect("it may start").run;
        let by_agent = Comment {
            author: Author::Agent(world.agent.id),
            run: Some(run.id),
            mentions: vec![id::<AgentId>(), id::<AgentId>()],
            review: Some(id()),
            position: serde_json::from_str(r#"{"path":"a","side":"left","line":2}"#).unwrap(),
            ..comment(&world, &world.issue)
        };
        let by_user = Comment {
            author: Author::Board(BoardMember::User(id())),
            created_at: later(1),
            ..comment(&world, &world.issue)
        };
        let by_board = Comment {
            author: Author::Board(BoardMember::StartToken),
            created_at: later(2),
            ..comment(&world, &world.issue)
        };
        world.write(|tx| {
            tx.comments_mut().insert(&by_board)?;
            tx.comments_mut().insert(&by_user)?;
            tx.comments_mut().insert(&by_agent)
        });
        let found = world.read(|reads| {
            reads.comments().find_all(world.scope(), &[by_user.id, by_agent.id, by_board.id, id()])
        });
        assert_eq!(found, [by_agent.clone(), by_user.clone(), by_board.clone()]);
        let page = world.read(|reads| {
            reads.comments().list(
                world.scope(),
                world.issue.id,
                Order::Descending,
                &PageRequest::first(),
            )
        });
        assert_eq!(page.items, [by_board, by_user, by_agent]);
    }

    fn an_undecided_plan_lies_over_an_issue_and_all_below_it(store: &TestStore) {
        let world = World::new(store);
        let (parent, top) = (world.open(), world.open());
        set_parent(&world, &world.issue, Some(parent.id));
        set_parent(&world, &parent, Some(top.id));
        let over = |issue: &Issue| {
            world
                .read(|reads| reads.approvals().undecided_blocking(world.scope(), issue.id))
                .map(|approval| approval.to_string())
        };
        approval(&world, "approve_issue_plan", "rejected", Some(&world.issue), None);
        approval(&world, "approve_pull_request", "pending", Some(&world.issue), None);
        assert_eq!(over(&world.issue), None);

        let far = approval(&world, "approve_issue_plan", "revision_requested", None, Some(&top));
        assert_eq!(over(&world.issue).as_ref(), Some(&far));
        let near = approval(&world, "approve_issue_plan", "pending", Some(&parent), None);
        assert_eq!(over(&world.issue).as_ref(), Some(&near), "the nearest is told");
        assert_eq!(over(&top).as_ref(), Some(&far));
        approve(&world, &near);
        assert_eq!(over(&world.issue).as_ref(), Some(&far));
        approve(&world, &far);
        assert_eq!(over(&world.issue), None);
    }

    fn an_issue_cannot_refer_to_another_company(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let foreign: Goal = goal(&other.company);
        other.write(|tx| tx.goals_mut().insert(foreign.clone()));
        let refused = try_write(&**store, |tx| {
            let mut held =
                tx.issues_mut().lock(Scope::SYSTEM, &world.issue.id.into())?.expect("exists");
            held.goal = Some(foreign.id);
            tx.issues_mut().save(&held)
        });
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
    }
}
