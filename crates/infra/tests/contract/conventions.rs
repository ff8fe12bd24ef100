use serde_json::json;
use workforce_domain::actor::Scope;
use workforce_domain::conventions::{Compact, CompactOrigin, Conventions};
use workforce_domain::project::Project;
use workforce_domain::text::{CompactContext, Description};
use workforce_testkit::on_both_databases;

use crate::world::{World, later, project};

fn save(world: &World<'_>, project: &Project, conventions: &Conventions) {
    world.write(|tx| {
        let held = tx
            .projects_mut()
            .lock(Scope::SYSTEM, project.id)?
            .expect("exists");
        tx.projects_mut().save_conventions(&held, conventions)
    });
}

fn find(world: &World<'_>, project: &Project) -> Option<Conventions> {
    world.read(|reads| reads.projects().conventions(world.scope(), project.id))
}

on_both_databases! {
    #![beneath_the_rules]
    fn conventions_are_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let (project, other) = (project(&world.company), project(&world.company));
        world.write(|tx| {
            tx.projects_mut().insert(project.clone())?;
            tx.projects_mut().insert(other.clone())
        });
        assert_eq!(find(&world, &project), None);
        let plain = Conventions {
            updated_at: Some(later(1)),
            ..Conventions::none(world.company.id, project.id)
        };
        let compact = |origin| Compact {
            text: CompactContext::parse("- x").unwrap(),
            origin,
            source_hash: [9; 32],
        };
        let full = Conventions {
            backstory: Description::parse("Once.").unwrap(),
            conventions_md: Description::parse("- never\n").unwrap(),
            extra_references: json!(["a", { "b": [1, null, "c"] }, null, 2.5]),
            compact: Some(compact(CompactOrigin::Generated { max_chars: 400 })),
            updated_at: Some(later(2)),
            ..plain
        };
        let by_hand = Conventions {
            compact: Some(compact(CompactOrigin::Manual)),
            ..full.clone()
        };
        for version in [&plain, &full, &by_hand, &plain] {
            save(&world, &project, version);
            assert_eq!(find(&world, &project).as_ref(), Some(version));
        }
        let marked = |mark: &str| Conventions {
            extra_references: json!([{ "zz".repeat(20): 1, mark: "{}" }]),
            ..full.clone()
        };
        save(&world, &project, &marked("$serde_json::private::RawValue"));
        assert_eq!(find(&world, &project), Some(marked("serde_json::private::RawValue")));
        let deep = Conventions {
            extra_references: (0..200).fold(json!([]), |within, _level| json!([within])),
            ..full.clone()
        };
        save(&world, &project, &deep);
        assert_eq!(find(&world, &project), Some(deep));
        assert_eq!(find(&world, &other), None);
        let stranger = World::new(store);
        let seen = stranger.read(|reads| reads.projects().conventions(stranger.scope(), project.id));
        assert_eq!(seen, None);
    }
}
