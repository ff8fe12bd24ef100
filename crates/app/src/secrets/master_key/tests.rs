use workforce_domain::mocks::{MockStore, MockTx, MockVault};
use workforce_domain::port::SealError;

use super::*;

const FORMER: KeyId = KeyId([1; 8]);
const CURRENT: KeyId = KeyId([2; 8]);

/// A vault that opens nothing of what the store has.
fn foreign_vault() -> MockVault {
    let mut vault = MockVault::new();
    vault.expect_open().returning(|_, _| Err(SealError));
    vault.expect_current_key().return_const(CURRENT);
    vault
}

fn is_foreign(outcome: &Result<(), Failure<ForeignKey>>) -> bool {
    matches!(outcome, Err(Failure::Refused(ForeignKey { current })) if *current == CURRENT)
}

#[test]
fn a_vault_that_cannot_open_the_canary_is_not_the_one_of_the_store() {
    let mut tx = MockTx::default();
    tx.sealed
        .expect_canary()
        .returning(|| Ok(Some(b"sealed elsewhere".to_vec())));
    assert!(is_foreign(&check(&mut tx, &foreign_vault())));
}

#[test]
fn of_two_vaults_that_are_the_first_the_one_whose_canary_is_kept_is_that_of_the_store() {
    let mut vault = foreign_vault();
    vault
        .expect_seal()
        .once()
        .returning(|_, _| b"sealed here".to_vec());
    let mut tx = MockTx::default();
    tx.sealed.expect_canary().once().returning(|| Ok(None));
    tx.sealed
        .expect_insert_canary()
        .once()
        .returning(|_| Ok(()));
    tx.sealed
        .expect_canary()
        .once()
        .returning(|| Ok(Some(b"sealed by another server".to_vec())));
    assert!(is_foreign(&check(&mut tx, &vault)));
}

/// A store in which so many values are sealed under the former key.
fn sealed_under_the_former(values: i64) -> MockStore {
    let mut tx = MockTx::default();
    tx.sealed
        .expect_count_under()
        .withf(|_, keys| keys == [FORMER])
        .returning(move |column, _| {
            let is_secret = column == SealedColumn::SecretVersion;
            Ok(if is_secret { values } else { 0 })
        });
    MockStore::new(tx)
}

#[test]
fn a_former_key_is_forgotten_only_when_it_opens_nothing_any_more() {
    let resealed = Resealed {
        damaged: 1,
        complete: true,
        ..Resealed::default()
    };
    for (sealed, is_forgotten) in [(1, true), (2, false)] {
        let mut vault = MockVault::new();
        vault.expect_former_keys().return_const(vec![FORMER]);
        vault
            .expect_forget_former_keys()
            .times(usize::from(is_forgotten))
            .returning(|| Ok(()));
        let outcome = forget(&sealed_under_the_former(sealed), &vault, resealed);
        assert_eq!(outcome.ok(), Some(is_forgotten));
    }
}
