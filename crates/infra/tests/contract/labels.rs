//! Labels: unique by name within a company, on issues in any number.

use workforce_domain::actor::Scope;
use workforce_domain::id::LabelId;
use workforce_domain::label::IssueLabel;
use workforce_domain::port::StoreError;
use workforce_domain::text::{Color, LabelName};
use workforce_testkit::on_both_databases;

use crate::world::{World, id, later, now, try_write, walk};

pub(crate) fn label(world: &World<'_>, name: &str) -> IssueLabel {
    IssueLabel {
        id: id(),
        company: world.company.id,
        name: LabelName::parse(name).unwrap(),
        color: Color::parse("#FF0000").unwrap(),
        created_at: now(),
        updated_at: now(),
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn labels_are_kept_changed_and_deleted(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let (bug, idea) = (label(&world, "Bug"), label(&world, "Idea"));
        world.write(|tx| {
            tx.labels_mut().insert(bug.clone())?;
            tx.labels_mut().insert(idea.clone())?;
            tx.labels_mut().insert(label(&other, "bug"))
        });
        let same = LabelName::parse(" BUG ").unwrap();
        let found = world.read(|reads| reads.labels().find_by_name(world.scope(), &same));
        assert_eq!(found, Some(bug.clone()));
        let ids = [bug.id, idea.id, id()];
        assert_eq!(world.read(|reads| reads.labels().find_all(world.scope(), &ids)).len(), 2);
        assert_eq!(other.read(|reads| reads.labels().find_all(other.scope(), &ids)), []);
        let walked = walk(1, |page| world.read(|reads| reads.labels().list(world.scope(), page)));
        assert_eq!(walked, [bug.clone(), idea]);

        let changed = IssueLabel {
            name: LabelName::parse("Defect").unwrap(),
            color: Color::parse("#00ff00").unwrap(),
            updated_at: later(1),
            ..bug
        };
        world.write(|tx| {
            let mut held = tx.labels_mut().lock(Scope::SYSTEM, bug.id)?.unwrap();
            *held = changed.clone();
            tx.labels_mut().save(&held)
        });
        assert!(world.write(|tx| tx.labels_mut().lock(other.scope().into(), bug.id)).is_none());
        let kept = world.read(|reads| reads.labels().find_all(world.scope(), &[bug.id]));
        assert_eq!(kept, [changed]);
        world.write(|tx| {
            let held = tx.labels_mut().lock(Scope::SYSTEM, bug.id)?.unwrap();
            tx.labels_mut().delete(held)
        });
        assert_eq!(world.read(|reads| reads.labels().find_all(world.scope(), &[bug.id])), []);
    }

    fn a_name_is_taken_once_whatever_its_case(store: &TestStore) {
        let world = World::new(store);
        let taken = label(&world, "Größe");
        world.write(|tx| tx.labels_mut().insert(taken.clone()));
        let lost = try_write(&**store, |tx| tx.labels_mut().insert(label(&world, "grÖSSE")));
        // `ß` has no other case here; only case, width and spaces are folded.
        lost.unwrap();
        let lost = try_write(&**store, |tx| tx.labels_mut().insert(label(&world, "GRÖßE")));
        assert!(matches!(lost, Err(StoreError::Contended)), "{lost:?}");
    }

    fn an_issue_has_the_labels_it_was_given_last(store: &TestStore) {
        let world = World::new(store);
        let labels: Vec<IssueLabel> =
            ["zoo", "Ape", "bee"].iter().map(|name| label(&world, name)).collect();
        let ids: Vec<LabelId> = labels.iter().map(|label| label.id).collect();
        let second = crate::world::issue(&world.company);
        world.write(|tx| {
            for label in &labels {
                tx.labels_mut().insert(label.clone())?;
            }
            let held = tx.issues_mut().lock(Scope::SYSTEM, &world.issue.id.into())?.unwrap();
            tx.labels_mut().set_for_issue(&held, &ids)?;
            let held = tx.issues_mut().insert(second.clone())?;
            tx.labels_mut().set_for_issue(&held, &ids[..1])
        });
        let names = |issues: &[_]| -> Vec<(bool, String)> {
            world
                .read(|reads| reads.labels().of_issues(world.scope(), issues))
                .into_iter()
                .map(|(issue, label)| (issue == world.issue.id, label.name.into()))
                .collect()
        };
        let own = |name: &str| (true, name.to_owned());
        assert_eq!(names(&[world.issue.id]), [own("Ape"), own("bee"), own("zoo")]);
        assert_eq!(names(&[world.issue.id, second.id]).len(), 4);
        world.write(|tx| {
            let held = tx.issues_mut().lock(Scope::SYSTEM, &world.issue.id.into())?.unwrap();
            tx.labels_mut().set_for_issue(&held, &ids[1..2])
        });
        assert_eq!(names(&[world.issue.id]), [own("Ape")]);
        world.write(|tx| {
            let held = tx.issues_mut().lock(Scope::SYSTEM, &world.issue.id.into())?.unwrap();
            tx.labels_mut().set_for_issue(&held, &[])?;
            let held = tx.issues_mut().lock(Scope::SYSTEM, &second.id.into())?.unwrap();
            tx.issues_mut().delete(held, later(1))
        });
        assert_eq!(names(&[world.issue.id, second.id]), []);
    }
}
