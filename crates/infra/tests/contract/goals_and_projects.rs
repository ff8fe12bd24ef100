use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::GoalId;
use workforce_domain::port::StoreError;
use workforce_domain::project::{
    Project, ProjectGovernance, ProjectStatus, TargetDate, Workspace, WorkspaceSource,
};
use workforce_domain::text::{Description, Label, Location, Name, Title};
use workforce_testkit::on_both_databases;

use crate::world::{World, goal, heartbeat, id, later, now, project, try_write};

pub(crate) fn workspace(project: &Project, is_primary: bool, seconds: u64) -> Workspace {
    Workspace {
        id: id(),
        company: project.company,
        project: project.id,
        name: Name::parse("main").unwrap(),
        source: WorkspaceSource::from_parts(Some(Location::parse("/srv/site").unwrap()), None)
            .unwrap(),
        repo_ref: None,
        default_base_branch: None,
        is_primary,
        metadata: workforce_domain::Document::new(),
        created_at: later(seconds),
        updated_at: later(seconds),
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_goal_is_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let (plain, parent) = (goal(&world.company), goal(&world.company));
        let full = Goal {
            title: Title::parse("More").unwrap(),
            description: Some(Description::parse("why").unwrap()),
            level: GoalLevel::Company,
            status: GoalStatus::Achieved,
            parent: Some(parent.id),
            owner_agent: Some(world.agent.id),
            updated_at: later(1),
            ..plain
        };
        world.write(|tx| {
            tx.goals_mut().insert(parent.clone())?;
            tx.goals_mut().insert(plain.clone())
        });
        for version in [&full, &plain] {
            world.write(|tx| {
                let mut held = tx.goals_mut().lock(Scope::SYSTEM, version.id)?.expect("exists");
                held.clone_from(version);
                tx.goals_mut().save(&held)
            });
            let found = world.read(|reads| reads.goals().find(Scope::SYSTEM, version.id));
            assert_eq!(found.as_ref(), Some(version));
        }
    }

    fn goals_lie_within_their_ancestors_even_in_a_cycle(store: &TestStore) {
        let world = World::new(store);
        let goals: Vec<Goal> = (0..4).map(|_| goal(&world.company)).collect();
        let place = |goal: &Goal, parent: Option<GoalId>| {
            world.write(|tx| {
                let mut held = tx.goals_mut().lock(Scope::SYSTEM, goal.id)?.expect("exists");
                tx.goals_mut().lock_hierarchy(world.scope())?;
                held.parent = parent;
                tx.goals_mut().save(&held)
            });
        };
        for goal in &goals {
            world.write(|tx| tx.goals_mut().insert(goal.clone()));
        }
        place(&goals[0], Some(goals[1].id));
        place(&goals[1], Some(goals[2].id));
        let within = |goal: &Goal, ancestor: &Goal| {
            world.read(|reads| reads.goals().is_within(world.scope(), goal.id, ancestor.id))
        };
        assert!(within(&goals[0], &goals[0]));
        assert!(within(&goals[0], &goals[2]));
        assert!(!within(&goals[2], &goals[0]));
        place(&goals[2], Some(goals[0].id));
        assert!(within(&goals[2], &goals[0]));
        assert!(!within(&goals[2], &goals[3]));
        let other = World::new(store);
        assert!(!other.read(|reads| {
            reads.goals().is_within(other.scope(), goals[0].id, goals[0].id)
        }));
    }

    fn a_project_is_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let plain = project(&world.company);
        let full = Project {
            name: Name::parse("App").unwrap(),
            url_key: "app".into(),
            description: Some(Description::parse("it").unwrap()),
            status: ProjectStatus::InProgress,
            lead_agent: Some(world.agent.id),
            target_date: Some(TargetDate::instant(later(9))),
            color: Some(Label::parse("red").unwrap()),
            review_required: true,
            governance: ProjectGovernance::Required,
            remote_required: false,
            archived_at: Some(later(8)),
            updated_at: later(7),
            ..plain
        };
        world.write(|tx| tx.projects_mut().insert(plain.clone()));
        for version in [&full, &plain] {
            world.write(|tx| {
                let mut held =
                    tx.projects_mut().lock(Scope::SYSTEM, version.id)?.expect("exists");
                held.clone_from(version);
                tx.projects_mut().save(&held)
            });
            let found = world.read(|reads| reads.projects().find(Scope::SYSTEM, version.id));
            assert_eq!(found.as_ref(), Some(version));
        }
        let twin = Project { url_key: plain.url_key.clone(), ..project(&world.company) };
        let refused = try_write(&**store, |tx| tx.projects_mut().insert(twin.clone()));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        let taken = world.read(|reads| reads.projects().url_keys(world.scope(), "site"));
        assert_eq!(taken, [plain.url_key]);
    }

    fn a_project_keeps_its_goals_in_order(store: &TestStore) {
        let world = World::new(store);
        let project = project(&world.company);
        let goals: Vec<Goal> = (0..3).map(|_| goal(&world.company)).collect();
        world.write(|tx| tx.projects_mut().insert(project.clone()));
        for goal in &goals {
            world.write(|tx| tx.goals_mut().insert(goal.clone()));
        }
        let ids: Vec<GoalId> = goals.iter().map(|goal| goal.id).collect();
        for links in [vec![ids[2], ids[0]], vec![ids[0], ids[1], ids[2]], vec![]] {
            world.write(|tx| {
                let held = tx.projects_mut().lock(Scope::SYSTEM, project.id)?.expect("exists");
                tx.projects_mut().set_goals(&held, &links)
            });
            let found = world.read(|reads| reads.projects().goals(world.scope(), &[project.id]));
            let found: Vec<GoalId> = found.into_iter().map(|(_, link)| link.id).collect();
            assert_eq!(found, links);
        }
        let other = World::new(store);
        let foreign = goal(&other.company);
        other.write(|tx| tx.goals_mut().insert(foreign.clone()));
        let refused = try_write(&**store, |tx| {
            let held = tx.projects_mut().lock(Scope::SYSTEM, project.id)?.expect("exists");
            tx.projects_mut().set_goals(&held, &[foreign.id])
        });
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
    }

    fn the_primary_place_of_a_project_is_handed_over(store: &TestStore) {
        let world = World::new(store);
        let project = project(&world.company);
        world.write(|tx| tx.projects_mut().insert(project.clone()));
        let first = workspace(&project, true, 1);
        let second = Workspace {
            source: WorkspaceSource::from_parts(None, Some(Location::parse("git@h:x.git").unwrap()))
                .unwrap(),
            repo_ref: Some(Label::parse("main").unwrap()),
            default_base_branch: Some(Label::parse("dev").unwrap()),
            metadata: heartbeat(1),
            ..workspace(&project, false, 2)
        };
        let third = workspace(&project, true, 3);
        let all = || world.read(|reads| reads.projects().workspaces(world.scope(), &[project.id]));
        for workspace in [&first, &second, &third] {
            world.write(|tx| {
                let held = tx.projects_mut().lock(Scope::SYSTEM, project.id)?.expect("exists");
                tx.projects_mut().insert_workspace(&held, workspace)
            });
        }
        let found = all();
        assert_eq!(
            found.iter().map(|it| (it.id, it.is_primary)).collect::<Vec<_>>(),
            [(third.id, true), (first.id, false), (second.id, false)]
        );
        assert_eq!(found[2], second);

        let promoted = Workspace { is_primary: true, updated_at: later(9), ..second.clone() };
        world.write(|tx| {
            let held = tx.projects_mut().lock(Scope::SYSTEM, project.id)?.expect("exists");
            tx.projects_mut().save_workspace(&held, &promoted)?;
            tx.projects_mut().delete_workspace(&held, first.id)
        });
        let found = all();
        assert_eq!(
            found.iter().map(|it| (it.id, it.is_primary)).collect::<Vec<_>>(),
            [(second.id, true), (third.id, false)]
        );
        assert_eq!(found[0].created_at, later(2));
    }

    fn several_goals_and_projects_are_found_at_once(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let (own_goal, own_project) = (goal(&world.company), project(&world.company));
        let (foreign_goal, foreign_project) = (goal(&other.company), project(&other.company));
        world.write(|tx| {
            tx.goals_mut().insert(own_goal.clone())?;
            tx.goals_mut().insert(foreign_goal.clone())?;
            tx.projects_mut().insert(own_project.clone())?;
            tx.projects_mut().insert(foreign_project.clone())
        });
        assert_eq!(own_goal.created_at, now());
        let goals = world.read(|reads| {
            reads.goals().find_all(own_goal.scope(), &[own_goal.id, foreign_goal.id, id()])
        });
        assert_eq!(goals, [own_goal]);
        let projects = world.read(|reads| {
            reads
                .projects()
                .find_all(own_project.scope(), &[own_project.id, foreign_project.id, id()])
        });
        assert_eq!(projects, [own_project]);
    }
}
