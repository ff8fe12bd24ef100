//! Revisions and instructions of agents.

use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::agent::Agent;
use workforce_domain::board::{Author, BoardMember};
use workforce_domain::instructions::{
    BundleMode, BundlePath, BundlePointer, ManagedFile, Manifest,
};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Locked, StoreError};
use workforce_domain::revision::{Revision, RevisionSource, SealedConfig};
use workforce_testkit::on_both_databases;

use crate::world::{World, agent, id, later, now, try_write};

pub(crate) fn revision(agent: &Agent, n: i32) -> Revision {
    Revision {
        id: id(),
        company: agent.company,
        agent: agent.id,
        n,
        source: RevisionSource::Patch,
        rolled_back_from: None,
        changed_keys: vec!["name".into()],
        before: None,
        after: SealedConfig(vec![0, 255, 1]),
        created_by: Author::Board(BoardMember::Local),
        created_at: now(),
    }
}

fn held(
    tx: &mut dyn workforce_domain::port::Tx,
    agent: &Agent,
) -> Result<Locked<Agent>, StoreError> {
    Ok(tx
        .agents_mut()
        .lock(Scope::SYSTEM, agent.id)?
        .expect("exists"))
}

/// Gives an agent instructions of its own.
pub(crate) fn instruct(
    tx: &mut dyn workforce_domain::port::Tx,
    agent: &Agent,
) -> Result<(), StoreError> {
    let agent = held(tx, agent)?;
    let files = Manifest::default().with(file("AGENTS.md", 'a')).unwrap();
    tx.instructions_mut()
        .keep_content(&agent, &"a".repeat(64), "alpha")?;
    let version = tx.instructions_mut().add_version(&agent, &files, now())?;
    let pointer = BundlePointer {
        version,
        ..BundlePointer::default()
    };
    tx.instructions_mut().set_pointer(&agent, &pointer, now())
}

fn file(path: &str, digit: char) -> ManagedFile {
    ManagedFile {
        path: BundlePath::parse(path).unwrap(),
        sha256: digit.to_string().repeat(64),
        size: 5,
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn revisions_are_stored_whole_and_listed_newest_first(store: &TestStore) {
        let world = World::new(store);
        let other = agent(&world.company);
        let first = revision(&world.agent, 1);
        let second = Revision {
            source: RevisionSource::Rollback,
            rolled_back_from: Some(first.id),
            before: Some(SealedConfig(vec![9; 100_000])),
            created_by: Author::Agent(other.id),
            created_at: later(1),
            ..revision(&world.agent, 2)
        };
        let third = revision(&world.agent, 3);
        world.write(|tx| {
            tx.agents_mut().insert(other.clone())?;
            for revision in [&first, &second, &third, &revision(&other, 7)] {
                tx.revisions_mut().insert(revision)?;
            }
            Ok(())
        });
        let scope = world.scope();
        let found = world.read(|reads| reads.revisions().find(scope.into(), second.id));
        assert_eq!(found, Some(second.clone()));
        let mut page = PageRequest { limit: 2, ..PageRequest::first() };
        let newest = world.read(|reads| reads.revisions().list(scope, world.agent.id, &page));
        assert_eq!(newest.items, [third, second]);
        page.after = newest.next;
        let oldest = world.read(|reads| reads.revisions().list(scope, world.agent.id, &page));
        assert_eq!((oldest.items, oldest.next), (vec![first.clone()], None));
        let last = |agent| world.read(|reads| reads.revisions().last_number(scope, agent));
        assert_eq!((last(world.agent.id), last(other.id), last(id())), (3, 7, 0));

        let stranger = World::new(store);
        assert_eq!(stranger.read(|r| r.revisions().find(stranger.scope().into(), first.id)), None);
        assert_eq!(stranger.read(|r| r.revisions().last_number(stranger.scope(), other.id)), 0);
    }

    fn no_number_is_given_twice(store: &TestStore) {
        let world = World::new(store);
        world.write(|tx| tx.revisions_mut().insert(&revision(&world.agent, 1)));
        let again = try_write(&**store, |tx| tx.revisions_mut().insert(&revision(&world.agent, 1)));
        assert!(again.is_err());
    }

    fn instructions_are_kept_in_versions(store: &TestStore) {
        let world = World::new(store);
        let (scope, me) = (world.agent.scope(), world.agent.id);
        assert_eq!(world.read(|reads| reads.instructions().pointer(scope, me)), None);
        let one = Manifest::default().with(file("AGENTS.md", 'a')).unwrap();
        let two = one.with(file("notes/x.md", 'b')).unwrap();
        let versions = world.write(|tx| {
            let agent = held(tx, &world.agent)?;
            tx.instructions_mut().keep_content(&agent, &"a".repeat(64), "alpha")?;
            tx.instructions_mut().keep_content(&agent, &"a".repeat(64), "alpha")?;
            let first = tx.instructions_mut().add_version(&agent, &one, now())?;
            let second = tx.instructions_mut().add_version(&agent, &two, now())?;
            Ok((first, second))
        });
        assert_eq!(versions, (1, 2));
        let manifest = |version| {
            world.read(|reads| reads.instructions().manifest(scope, me, version))
        };
        assert_eq!((manifest(1), manifest(2), manifest(3)), (Some(one), Some(two), None));
        let content = |digest: char| {
            let digest = digest.to_string().repeat(64);
            world.read(|reads| reads.instructions().content(scope, me, &digest))
        };
        assert_eq!((content('a').as_deref(), content('b')), (Some("alpha"), None));
        for pointer in [
            BundlePointer {
                mode: BundleMode::External,
                root_path: Some("/srv/x".into()),
                entry_file: BundlePath::parse("deep/ENTRY.md").unwrap(),
                version: 2,
            },
            BundlePointer { version: 1, ..BundlePointer::default() },
        ] {
            world.write(|tx| {
                let agent = held(tx, &world.agent)?;
                tx.instructions_mut().set_pointer(&agent, &pointer, later(2))
            });
            assert_eq!(
                world.read(|reads| reads.instructions().pointer(scope, me)),
                Some(pointer)
            );
        }
        let stranger = World::new(store);
        assert_eq!(stranger.read(|r| r.instructions().pointer(stranger.scope(), me)), None);
        assert_eq!(stranger.read(|r| r.instructions().manifest(stranger.scope(), me, 1)), None);
        let digest = "a".repeat(64);
        let read = stranger.read(|r| r.instructions().content(stranger.scope(), me, &digest));
        assert_eq!(read, None);
    }
}
