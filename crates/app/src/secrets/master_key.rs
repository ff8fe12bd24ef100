//! The master key: whether it is the one of this store, and changing it while
//! the server works (docs/secrets.md#key-rotation).
//!
//! A change has two steps. First the vault gets a new current key and keeps
//! the former, both on disk. Then everything that is sealed under the former
//! is sealed anew, batch by batch, and when nothing is left the former is
//! forgotten. Whatever interrupts that, both keys open until the end, and the
//! next [`sweep`] goes on where it stood: the store itself tells what is left.

use std::convert::Infallible;

use workforce_domain::port::{
    Failure, KeyChangeError, KeyId, KeySource, Reads, SealedCell, SealedColumn, Store, StoreError,
    Tx, Vault,
};
use workforce_domain::string_enum::StringEnum;

/// What the canary is sealed for.
const CANARY_CONTEXT: &str = "vault canary";
/// What the canary says.
const CANARY: &[u8] = b"workforce";

/// The master key is not the one that the store's secrets are sealed under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the master key (id {current}) is not the one that this database was sealed with: every \
     server of a database needs the same key, in WORKFORCE_MASTER_KEY or as master.key in its \
     data folder"
)]
pub struct ForeignKey {
    /// The key that this server has.
    pub current: KeyId,
}

/// Makes sure that a vault is the one of this store; the first vault that ever
/// asks is.
///
/// # Errors
/// [`ForeignKey`]
pub fn check(tx: &mut dyn Tx, vault: &dyn Vault) -> Result<(), Failure<ForeignKey>> {
    if tx.sealed().canary()?.is_none() {
        let canary = vault.seal(CANARY_CONTEXT, CANARY);
        tx.sealed_mut().insert_canary(&canary)?;
    }
    // Read again: another server may have been first.
    let opened = match tx.sealed().canary()? {
        Some(canary) => vault.open(CANARY_CONTEXT, &canary).is_ok(),
        None => false,
    };
    if opened {
        return Ok(());
    }
    let current = vault.current_key();
    Err(Failure::Refused(ForeignKey { current }))
}

/// Where a change of the master key stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStatus {
    /// The key that seals.
    pub current: KeyId,
    /// Keys that only open.
    pub former: Vec<KeyId>,
    /// Where the keys come from.
    pub source: KeySource,
    /// How many values are sealed under former keys.
    pub remaining: i64,
}

/// Where a change of the master key stands.
pub fn status(reads: &mut dyn Reads, vault: &dyn Vault) -> Result<KeyStatus, StoreError> {
    let former = vault.former_keys();
    Ok(KeyStatus {
        current: vault.current_key(),
        remaining: remaining(reads, &former)?,
        former,
        source: vault.key_source(),
    })
}

fn remaining(reads: &mut dyn Reads, former: &[KeyId]) -> Result<i64, StoreError> {
    if former.is_empty() {
        return Ok(0);
    }
    let mut remaining = 0;
    for &column in SealedColumn::ALL {
        remaining += reads.sealed().count_under(column, former)?;
    }
    Ok(remaining)
}

/// How a sweep works.
#[derive(Clone, Copy, Debug)]
pub struct SweepOptions {
    /// At most so many values in one transaction.
    pub batch: usize,
    /// Stops after so many batches, as a crash would.
    pub stop_after: Option<usize>,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self {
            batch: 100,
            stop_after: None,
        }
    }
}

/// What a sweep has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// So many values were sealed anew.
    pub rewrapped: usize,
    /// So many could not be opened with any key, and are as they were.
    pub damaged: usize,
    /// Nothing that opens is left under a former key.
    pub complete: bool,
}

/// Why a sweep ended early; the next one goes on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The former keys cannot be forgotten.
    #[error(transparent)]
    Keys(#[from] KeyChangeError),
}

/// Seals everything anew that is sealed under a former key. The former keys
/// stay.
pub fn sweep(
    store: &dyn Store,
    vault: &dyn Vault,
    options: SweepOptions,
) -> Result<Swept, SweepError> {
    let former = vault.former_keys();
    let mut swept = Swept::default();
    let mut batches = 0;
    for &column in SealedColumn::ALL {
        loop {
            if options.stop_after.is_some_and(|most| batches >= most) {
                return Ok(swept);
            }
            batches += 1;
            let outcome = store.write(|tx| {
                Ok::<_, Failure<Infallible>>(rewrap(tx, vault, column, &former, options.batch)?)
            });
            let batch = outcome.map_err(store_error)?;
            swept.rewrapped += batch.rewrapped;
            // What is damaged is found again and again; it is told once.
            if batch.rewrapped == 0 {
                swept.damaged += batch.damaged;
                break;
            }
        }
    }
    swept.complete = true;
    Ok(swept)
}

/// Forgets the former keys once nothing is sealed under them any more: looks,
/// and keeps them when something came up since the sweep. What no key opens
/// does not count. False when they are kept.
pub fn forget(store: &dyn Store, vault: &dyn Vault, swept: Swept) -> Result<bool, SweepError> {
    let former = vault.former_keys();
    // A writing transaction comes after every one that sealed before it.
    let outcome = store.write(|tx| Ok::<_, Failure<Infallible>>(remaining(tx.reads(), &former)?));
    let remaining = outcome.map_err(store_error)?;
    let damaged = i64::try_from(swept.damaged).unwrap_or(i64::MAX);
    if !swept.complete || remaining > damaged {
        return Ok(false);
    }
    vault.forget_former_keys()?;
    Ok(true)
}

fn rewrap(
    tx: &mut dyn Tx,
    vault: &dyn Vault,
    column: SealedColumn,
    former: &[KeyId],
    limit: usize,
) -> Result<Swept, StoreError> {
    let mut swept = Swept::default();
    let cells: Vec<SealedCell> = tx.sealed_mut().sealed_under(column, former, limit)?;
    for cell in cells {
        match vault.rewrap(&cell.sealed) {
            Ok(sealed) => {
                tx.sealed_mut()
                    .replace(&cell, vault.current_key(), &sealed)?;
                swept.rewrapped += 1;
            }
            Err(_unreadable) => swept.damaged += 1,
        }
    }
    Ok(swept)
}

fn store_error(failure: Failure<Infallible>) -> StoreError {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Store(error) => error,
    }
}
