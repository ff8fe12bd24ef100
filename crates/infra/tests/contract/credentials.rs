use workforce_domain::agent::{Agent, AgentKey};
use workforce_domain::company::CompanyStatus;
use workforce_domain::page::PageRequest;
use workforce_domain::run::{RunKind, RunStatus};
use workforce_domain::text::Name;
use workforce_testkit::on_both_databases;

use crate::world::{World, claim, id, later, lock_agent, now};

pub(crate) fn key(world: &World<'_>, digest: [u8; 32]) -> AgentKey {
    AgentKey {
        id: id(),
        company: world.company.id,
        agent: world.agent.id,
        name: Name::parse("laptop").unwrap(),
        prefix: "wfk_abc".into(),
        digest,
        created_at: now(),
        last_used_at: None,
        revoked_at: None,
    }
}

fn insert(world: &World<'_>, key: &AgentKey) {
    world.write(|tx| {
        let held = lock_agent(tx, &world.agent)?;
        tx.credentials_mut().insert_key(&held, key)
    });
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_key_is_found_by_its_digest_revoked_or_not(store: &TestStore) {
        let world = World::new(store);
        let key = key(&world, [7; 32]);
        insert(&world, &key);
        let presented = || world.read(|reads| reads.credentials().key(&[7; 32]));
        let found = presented().expect("it is there");
        assert_eq!(found.key, key);
        assert_eq!(found.holder.agent, world.agent);
        assert_eq!(found.holder.company_status, CompanyStatus::Active);
        assert_eq!(world.read(|reads| reads.credentials().key(&[8; 32])), None);

        for at in [later(1), later(2)] {
            let revoked = world
                .write(|tx| {
                    let held = lock_agent(tx, &world.agent)?;
                    tx.credentials_mut().revoke_key(&held, key.id, at)
                })
                .expect("it is there");
            assert_eq!(revoked.revoked_at, Some(later(1)), "the first instant stays");
        }
        assert_eq!(presented().and_then(|found| found.key.revoked_at), Some(later(1)));
    }

    fn keys_of_others_are_not_revoked(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let colleague = world.hire();
        let key = key(&world, [7; 32]);
        insert(&world, &key);
        for agent in [&other.agent, &colleague] {
            let missing = world.write(|tx| {
                let held = lock_agent(tx, agent)?;
                tx.credentials_mut().revoke_key(&held, key.id, later(1))
            });
            assert_eq!(missing, None);
        }
        let revoke_all = |agent: &Agent| {
            world.write(|tx| {
                let held = lock_agent(tx, agent)?;
                tx.credentials_mut().revoke_keys(&held, later(1))
            });
        };
        revoke_all(&colleague);
        revoke_all(&other.agent);
        let keys = || {
            let page = world.read(|reads| {
                reads.credentials().keys(world.scope(), world.agent.id, &PageRequest::first())
            });
            page.items
        };
        assert_eq!(keys(), [key]);
        revoke_all(&world.agent);
        assert_eq!(keys()[0].revoked_at, Some(later(1)));
    }

    fn the_latest_use_of_a_key_is_noted(store: &TestStore) {
        let world = World::new(store);
        let key = key(&world, [7; 32]);
        insert(&world, &key);
        for (at, noted) in [(2, 2), (1, 2), (3, 3)] {
            world.write(|tx| {
                tx.credentials_mut().note_key_use(&[(key.id, later(at)), (id(), later(at))])
            });
            let found = world.read(|reads| reads.credentials().key(&[7; 32])).unwrap();
            assert_eq!(found.key.last_used_at, Some(later(noted)));
        }
    }

    fn a_run_token_is_valid_while_its_run_is_running(store: &TestStore) {
        let world = World::new(store);
        let (_, queued) = world.queue(&world.agent, Some(&world.issue));
        let claimed = claim(store).expect("it may start").run;
        assert_eq!(claimed.id, queued.id);
        let digest = claimed.token_digest.expect("it has a token");
        let found =
            world.read(|reads| reads.credentials().run_token(&digest)).expect("it is valid");
        assert_eq!((found.run, found.kind), (queued.id, RunKind::Execution));
        assert_eq!(found.holder.agent.id, world.agent.id);
        world.finish(&claimed);
        assert_eq!(world.read(|reads| reads.credentials().run_token(&digest)), None);

        let named = |company| {
            world.read(|reads| reads.credentials().named_run(company, queued.id))
        };
        let run = named(world.scope()).expect("it is there");
        assert_eq!((run.agent, run.status), (world.agent.id, RunStatus::Succeeded));
        assert_eq!(run.finished_at, Some(later(60)));
        assert_eq!(named(World::new(store).scope()), None);
    }
}
