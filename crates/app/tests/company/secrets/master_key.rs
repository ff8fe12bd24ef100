//! Changing the master key, in whatever pieces it happens.

use std::path::Path;

use workforce_app::secrets::master_key::{self, ResealOptions, Resealed};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::SecretId;
use workforce_domain::port::{Failure, SealedColumn, StoredResponse, Vault};
use workforce_domain::secret::{Secret, SecretProvider, SecretVersion, seal_context};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::SecretName;
use workforce_testkit::on_both_databases;
use workforce_testkit::ports::{vault, vault_in, vault_of};
use workforce_testkit::world::World;

use crate::support::{look, put, scope};

/// Something in every place that holds what the vault sealed.
fn fill(world: &World, vault: &dyn Vault, versions: i32) -> (CompanyScope, SecretId) {
    let company = world.company("Acme").id;
    let secret = Secret {
        id: world.id(),
        company,
        name: SecretName::parse("s").unwrap(),
        provider: SecretProvider::LocalEncrypted,
        external_ref: None,
        token_for: None,
        description: None,
        latest_version: versions,
        created_by_agent: None,
        created_by_user: None,
        created_at: world.now(),
        updated_at: world.now(),
    };
    put(world, |tx| {
        let held = tx.secrets_mut().insert(secret.clone())?;
        for version in 1..=versions {
            let context = seal_context(company, secret.id, version);
            let version = SecretVersion {
                company,
                secret: secret.id,
                version,
                sealed: vault.seal(&context, format!("value {version}").as_bytes()),
                created_at: world.now(),
            };
            tx.secrets_mut().insert_version(&held, &version)?;
        }
        tx.idempotency().keep(&StoredResponse {
            caller: "board".into(),
            key: "k".into(),
            request_digest: [1; 32],
            status: 201,
            body: vault.seal("an answer", b"answer"),
            sealed: true,
            created_at: world.now(),
        })
    });
    assert!(check(world, vault).is_ok());
    (scope(company), secret.id)
}

fn check(world: &World, vault: &dyn Vault) -> Result<(), Failure<master_key::ForeignKey>> {
    world.store().write(|tx| master_key::check(tx, vault))
}

fn count(world: &World, vault: &dyn Vault) -> Vec<i64> {
    let keys = vault.former_keys();
    let count = |&column| look(world, |reads| reads.sealed().count_under(column, &keys));
    SealedColumn::ALL.iter().map(count).collect()
}

fn value_of(
    world: &World,
    vault: &dyn Vault,
    (scope, secret): (CompanyScope, SecretId),
    version: i32,
) -> Option<String> {
    let row = look(world, |reads| {
        reads.secrets().version(scope, secret, version)
    })
    .unwrap();
    let context = seal_context(scope.company(), secret, version);
    let plain = vault.open(&context, &row.sealed).ok()?;
    Some(String::from_utf8(plain).unwrap())
}

fn assert_all_opens(
    world: &World,
    vault: &dyn Vault,
    secret: (CompanyScope, SecretId),
    versions: i32,
) {
    for version in 1..=versions {
        assert_eq!(
            value_of(world, vault, secret, version),
            Some(format!("value {version}"))
        );
    }
    let mut kept = None;
    put(world, |tx| {
        kept = tx.idempotency().find("board", "k", world.now())?;
        Ok(())
    });
    let opened = vault.open("an answer", &kept.unwrap().body);
    assert_eq!(opened.as_deref(), Ok(&b"answer"[..]));
    assert!(check(world, vault).is_ok());
}

fn opened(path: &Path) -> std::sync::Arc<dyn Vault> {
    vault_in(path)
}

const SMALL: ResealOptions = ResealOptions {
    batch: 2,
    stop_after: None,
};

on_both_databases! {
    fn a_key_is_changed_although_every_batch_is_interrupted(store: &TestStore) {
        let world = World::on(store);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let first = opened(&path);
        let secret = fill(&world, &*first, 7);
        first.change_key().unwrap();
        assert_eq!(count(&world, &*first), [7, 0, 0, 1, 1]);

        let mut crashes = 0;
        loop {
            // Each round is a server that was killed after its first batch.
            let vault = opened(&path);
            assert_all_opens(&world, &*vault, secret, 7);
            let skipped = ResealOptions { stop_after: Some(crashes + 1), ..SMALL };
            let resealed = master_key::reseal(world.store(), &*vault, skipped).unwrap();
            if resealed.complete {
                assert!(master_key::forget(world.store(), &*vault, resealed).unwrap());
                break;
            }
            assert!(!master_key::forget(world.store(), &*vault, resealed).unwrap());
            assert_eq!(opened(&path).former_keys().len(), 1);
            crashes += 1;
            assert!(crashes < 20, "it never ends");
        }
        assert!(crashes > 1, "it was never interrupted");
        let last = opened(&path);
        assert_eq!(last.former_keys(), []);
        assert_all_opens(&world, &*last, secret, 7);
        let gone = [first.former_keys()[0]];
        for &column in SealedColumn::ALL {
            let left = look(&world, |reads| reads.sealed().count_under(column, &gone));
            assert_eq!(left, 0, "{column}");
        }
    }

    fn what_is_sealed_under_the_former_key_meanwhile_keeps_it(store: &TestStore) {
        let world = World::on(store);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let vault = opened(&path);
        let late = opened(&path);
        vault.change_key().unwrap();
        let resealed = master_key::reseal(world.store(), &*vault, SMALL).unwrap();
        assert_eq!(resealed, Resealed { complete: true, ..Resealed::default() });
        // It began before the change and was committed after the rest was sealed anew.
        let secret = fill(&world, &*late, 1);
        assert!(!master_key::forget(world.store(), &*vault, resealed).unwrap());
        let resealed = master_key::reseal(world.store(), &*vault, SMALL).unwrap();
        assert_eq!(resealed.rewrapped, 3);
        assert!(master_key::forget(world.store(), &*vault, resealed).unwrap());
        assert_all_opens(&world, &*vault, secret, 1);
    }

    fn what_is_damaged_does_not_hold_the_rest_up(store: &TestStore) {
        let world = World::on(store);
        let folder = tempfile::tempdir().unwrap();
        let vault = opened(&folder.path().join("master.key"));
        let secret = fill(&world, &*vault, 5);
        put(&world, |tx| {
            let cells = tx.sealed_mut().sealed_under(
                SealedColumn::SecretVersion,
                &[vault.current_key()],
                1,
            )?;
            let mut damaged = cells[0].sealed.clone();
            damaged[40] ^= 1;
            tx.sealed_mut().replace(&cells[0], vault.current_key(), &damaged)
        });
        vault.change_key().unwrap();
        let resealed = master_key::reseal(world.store(), &*vault, SMALL).unwrap();
        assert_eq!((resealed.rewrapped, resealed.damaged), (6, 1));
        assert!(master_key::forget(world.store(), &*vault, resealed).unwrap());
        let readable = (1..=5)
            .filter(|&version| value_of(&world, &*vault, secret, version).is_some())
            .count();
        assert_eq!(readable, 4);
    }

    fn a_server_with_another_key_is_refused(store: &TestStore) {
        let world = World::on(store);
        assert!(check(&world, &*vault()).is_ok());
        assert!(check(&world, &*vault()).is_ok());
        let (old, new) = ("5a".repeat(32), "a5".repeat(32));
        let other = vault_of(&new, None);
        let Err(Failure::Refused(foreign)) = check(&world, &*other) else {
            panic!("it was let in");
        };
        assert_eq!(foreign.current, other.current_key());
        let told = foreign.to_string();
        assert!(told.contains("WORKFORCE_MASTER_KEY") && !told.contains("a5a5"), "{told}");
        // With the former key beside it the new one is let in.
        let both = vault_of(&new, Some(&old));
        assert!(check(&world, &*both).is_ok());
        let resealed = master_key::reseal(world.store(), &*both, ResealOptions::default()).unwrap();
        assert_eq!((resealed.rewrapped, resealed.complete), (1, true));
        assert!(check(&world, &*other).is_ok());
        assert!(check(&world, &*vault()).is_err());
    }
}
