//! The master key: whether it is the one of this store, and changing it while
//! the server works (docs/secrets.md#key-rotation).
//!
//! A change has two steps. First the vault gets a new current key and keeps
//! the former, both on disk. Then everything that is sealed under the former
//! is sealed anew, batch by batch, and when nothing is left the former is
//! forgotten. Whatever interrupts that, both keys open until the end, and the
//! next [`reseal`] goes on where it stood: the store itself tells what is left.

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
    if is_of(tx, vault)? == Some(true) {
        return Ok(());
    }
    let current = vault.current_key();
    Err(Failure::Refused(ForeignKey { current }))
}

/// Whether a vault is the one of this store; `None` when none ever was.
pub fn is_of(reads: &mut dyn Reads, vault: &dyn Vault) -> Result<Option<bool>, StoreError> {
    let canary = reads.sealed().canary()?;
    Ok(canary.map(|canary| vault.open(CANARY_CONTEXT, &canary).is_ok()))
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

/// How values are sealed anew.
#[derive(Clone, Copy, Debug)]
pub struct ResealOptions {
    /// At most so many values in one transaction.
    pub batch: usize,
    /// Stops after so many batches, as a crash would.
    pub stop_after: Option<usize>,
}

impl Default for ResealOptions {
    fn default() -> Self {
        Self {
            batch: 100,
            stop_after: None,
        }
    }
}

/// What was sealed anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    /// So many values were sealed anew.
    pub rewrapped: usize,
    /// So many could not be opened with any key, and are as they were.
    pub damaged: usize,
    /// Nothing that opens is left under a former key.
    pub complete: bool,
}

/// Why not everything was sealed anew; the next call goes on.
#[derive(Debug, thiserror::Error)]
pub enum ResealError {
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The former keys cannot be forgotten.
    #[error(transparent)]
    Keys(#[from] KeyChangeError),
}

/// Seals everything anew that is sealed under a former key. The former keys
/// stay.
pub fn reseal(
    store: &dyn Store,
    vault: &dyn Vault,
    options: ResealOptions,
) -> Result<Resealed, ResealError> {
    let former = vault.former_keys();
    let mut resealed = Resealed::default();
    let mut batches = 0;
    for &column in SealedColumn::ALL {
        loop {
            if options.stop_after.is_some_and(|most| batches >= most) {
                return Ok(resealed);
            }
            batches += 1;
            let outcome = store.write(|tx| {
                Ok::<_, Failure<Infallible>>(rewrap(tx, vault, column, &former, options.batch)?)
            });
            let batch = outcome.map_err(store_error)?;
            resealed.rewrapped += batch.rewrapped;
            // What is damaged is found again and again; it is told once.
            if batch.rewrapped == 0 {
                resealed.damaged += batch.damaged;
                break;
            }
        }
    }
    resealed.complete = true;
    Ok(resealed)
}

/// Forgets the former keys once nothing is sealed under them any more: looks,
/// and keeps them when something came up since values were sealed anew. What no
/// key opens does not count. False when they are kept.
pub fn forget(
    store: &dyn Store,
    vault: &dyn Vault,
    resealed: Resealed,
) -> Result<bool, ResealError> {
    let former = vault.former_keys();
    // A writing transaction comes after every one that sealed before it.
    let outcome = store.write(|tx| Ok::<_, Failure<Infallible>>(remaining(tx.reads(), &former)?));
    let remaining = outcome.map_err(store_error)?;
    let damaged = i64::try_from(resealed.damaged).unwrap_or(i64::MAX);
    if !resealed.complete || remaining > damaged {
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
) -> Result<Resealed, StoreError> {
    let mut resealed = Resealed::default();
    let cells: Vec<SealedCell> = tx.sealed_mut().sealed_under(column, former, limit)?;
    for cell in cells {
        match vault.rewrap(&cell.sealed) {
            Ok(sealed) => {
                tx.sealed_mut()
                    .replace(&cell, vault.current_key(), &sealed)?;
                resealed.rewrapped += 1;
            }
            Err(_unreadable) => resealed.damaged += 1,
        }
    }
    Ok(resealed)
}

fn store_error(failure: Failure<Infallible>) -> StoreError {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Store(error) => error,
    }
}

#[cfg(test)]
mod tests;
