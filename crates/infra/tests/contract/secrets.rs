use serde_json::json;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, Scope};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::company::Company;
use workforce_domain::id::SecretId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{RunSecret, StoreError, Vault};
use workforce_domain::secret::{ExternalRef, Secret, SecretProvider, SecretVersion, seal_context};
use workforce_domain::text::{Description, SecretName};
use workforce_infra::vault::FileVault;
use workforce_testkit::on_both_databases;

use crate::world::{World, agent, id, later, now, queue, try_write, wake};

/// A vault of the tests.
pub(crate) fn vault() -> FileVault {
    FileVault::from_text(&"5a".repeat(32)).unwrap()
}

/// A secret whose value is kept here.
pub(crate) fn secret(company: &Company, id: SecretId, name: &str) -> Secret {
    Secret {
        id,
        company: company.id,
        name: SecretName::parse(name).unwrap(),
        provider: SecretProvider::LocalEncrypted,
        external_ref: None,
        token_for: None,
        description: None,
        latest_version: 1,
        created_by_agent: None,
        created_by_user: None,
        created_at: now(),
        updated_at: now(),
    }
}

/// A version of a secret with the value `value <number>`.
pub(crate) fn version(company: &Company, secret: SecretId, number: i32) -> SecretVersion {
    let context = seal_context(company.id, secret, number);
    SecretVersion {
        company: company.id,
        secret,
        version: number,
        sealed: vault().seal(&context, format!("value {number}").as_bytes()),
        created_at: later(number.unsigned_abs().into()),
    }
}

fn bound(secrets: &[(&str, SecretId, Option<i32>)]) -> Document {
    let env: Document = secrets
        .iter()
        .map(|(variable, secret, version)| {
            let version = version.map_or(json!("latest"), |version| json!(version));
            let binding = json!({ "type": "secret_ref", "secretId": secret, "version": version });
            ((*variable).to_owned(), binding)
        })
        .collect();
    Document::from_iter([("env".to_owned(), env.into())])
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_secret_is_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let plain = secret(&world.company, id(), "plain");
        let full = Secret {
            name: SecretName::parse("full").unwrap(),
            provider: SecretProvider::Env,
            external_ref: Some(ExternalRef::parse(SecretProvider::Env, "TOKEN").unwrap()),
            token_for: None,
            description: Some(Description::parse("what for").unwrap()),
            latest_version: 0,
            created_by_agent: Some(world.agent.id),
            created_by_user: Some(id()),
            updated_at: later(1),
            ..plain
        };
        world.write(|tx| tx.secrets_mut().insert(plain.clone()));
        for version in [&full, &plain] {
            world.write(|tx| {
                let mut held = tx.secrets_mut().lock(Scope::SYSTEM, plain.id)?.expect("exists");
                held.clone_from(version);
                tx.secrets_mut().save(&held)
            });
            let found = world.read(|reads| reads.secrets().find(Scope::SYSTEM, plain.id));
            assert_eq!(found.as_ref(), Some(version));
        }
        let twin = secret(&world.company, id(), "plain");
        let refused = try_write(&**store, |tx| tx.secrets_mut().insert(twin.clone()));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        let other = World::new(store);
        let foreign = Scope::from(other.scope());
        assert_eq!(other.read(|reads| reads.secrets().find(foreign, plain.id)), None);
        let named = |world: &World<'_>| {
            world.read(|reads| reads.secrets().find_by_name(world.scope(), &plain.name))
        };
        assert_eq!((named(&world), named(&other)), (Some(plain.id), None));
        let locked = other.write(|tx| tx.secrets_mut().lock_all(other.scope(), &[plain.id]));
        assert!(locked.is_empty());
    }

    fn versions_are_kept_sealed_and_listed_newest_first(store: &TestStore) {
        let world = World::new(store);
        let of = secret(&world.company, id(), "s");
        let versions: Vec<_> = (1..=3).map(|n| version(&world.company, of.id, n)).collect();
        world.write(|tx| {
            let held = tx.secrets_mut().insert(of.clone())?;
            versions.iter().try_for_each(|version| tx.secrets_mut().insert_version(&held, version))
        });
        let found = world.read(|reads| reads.secrets().version(world.scope(), of.id, 2));
        assert_eq!(found.as_ref(), Some(&versions[1]));
        let opened = vault().open(&seal_context(of.company, of.id, 2), &found.unwrap().sealed);
        assert_eq!(opened.as_deref(), Ok(&b"value 2"[..]));
        let page = |after| PageRequest { after, limit: 2, max_bytes: usize::MAX };
        let list = |after| {
            let page = page(after);
            let page = world.read(|reads| reads.secrets().versions(world.scope(), of.id, &page));
            (page.items.iter().map(|it| it.version).collect::<Vec<_>>(), page.next)
        };
        assert_eq!(list(None), (vec![3, 2], Some(2)));
        assert_eq!(list(Some(2)), (vec![1], None));

        world.write(|tx| {
            let held = tx.secrets_mut().lock(Scope::SYSTEM, of.id)?.expect("exists");
            assert!(tx.secrets_mut().delete_version(&held, 1)?);
            assert!(!tx.secrets_mut().delete_version(&held, 1)?);
            tx.secrets_mut().delete(held)
        });
        assert_eq!(world.read(|reads| reads.secrets().find(Scope::SYSTEM, of.id)), None);
        let gone = world.read(|reads| reads.secrets().version(world.scope(), of.id, 2));
        assert_eq!(gone, None);
    }

    fn who_refers_to_a_secret_follows_from_what_is_stored_of_agents(store: &TestStore) {
        let world = World::new(store);
        let [one, two] = ["one", "two"].map(|name| secret(&world.company, id(), name));
        let worker = Agent {
            adapter_config: bound(&[("A", one.id, None), ("B", two.id, Some(3))]),
            ..agent(&world.company)
        };
        let gone = Agent {
            adapter_config: bound(&[("A", one.id, None)]),
            lifecycle: AgentLifecycle::ENABLED.terminate(now()).unwrap(),
            ..agent(&world.company)
        };
        world.write(|tx| {
            tx.secrets_mut().insert(one.clone())?;
            tx.secrets_mut().insert(two.clone())?;
            tx.agents_mut().insert(worker.clone())?;
            tx.agents_mut().insert(gone.clone())
        });
        let users = |secret: &Secret| {
            let users = world.read(|reads| reads.secrets().users(world.scope(), secret.id));
            users.into_iter().map(|it| (it.agent, it.variable, it.pinned)).collect::<Vec<_>>()
        };
        assert_eq!(users(&one), [(worker.id, "A".to_owned(), None)]);
        assert_eq!(users(&two), [(worker.id, "B".to_owned(), Some(3))]);

        let change = |config: Document| world.write(|tx| {
            let mut held = tx.agents_mut().lock(Scope::SYSTEM, worker.id)?.expect("exists");
            held.adapter_config.clone_from(&config);
            tx.agents_mut().save(&held)
        });
        change(bound(&[("B", one.id, Some(1))]));
        assert_eq!(users(&one), [(worker.id, "B".to_owned(), Some(1))]);
        assert_eq!(users(&two), []);

        // A secret that is gone in spite of its references does not keep its agents from changing.
        world.write(|tx| {
            let held = tx.secrets_mut().lock(Scope::SYSTEM, one.id)?.expect("exists");
            tx.secrets_mut().delete(held)
        });
        change(bound(&[("B", one.id, Some(1)), ("C", two.id, None)]));
        assert_eq!(users(&two), [(worker.id, "C".to_owned(), None)]);
    }

    fn what_runs_were_given_is_kept_with_them(store: &TestStore) {
        let world = World::new(store);
        let one = secret(&world.company, id(), "one");
        let (wake, run) = wake(&world.agent, None);
        let given = |variable: &str, version, seconds| RunSecret {
            run: run.id,
            variable: variable.to_owned(),
            secret: one.id,
            version,
            used_at: later(seconds),
        };
        let uses = [given("A", 1, 1), given("B", 0, 2)];
        world.write(|tx| {
            tx.secrets_mut().insert(one.clone())?;
            queue(tx, &wake, &run)?;
            tx.secrets_mut().record_uses(world.scope(), &uses)
        });
        assert_eq!(world.read(|reads| reads.secrets().of_run(world.scope(), run.id)), uses);
        let last = world.read(|reads| reads.secrets().uses(world.scope(), one.id, 1));
        assert_eq!(last, uses[1..]);
        let other = World::new(store);
        assert_eq!(other.read(|reads| reads.secrets().of_run(other.scope(), run.id)), []);
        assert_eq!(other.read(|reads| reads.secrets().uses(other.scope(), one.id, 9)), []);
        assert_eq!(other.read(|reads| reads.secrets().users(other.scope(), one.id)), []);
        assert_eq!(run.company(), one.company());
    }
}
