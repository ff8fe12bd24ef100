use alloc::string::String;
use alloc::vec::Vec;

use super::{KeyId, StoreError};
use crate::string_enum;

string_enum! {
    /// Every place of the store that holds what the vault sealed. A rotation
    /// of the master key goes through all of them, so a new sealed column is
    /// named here and nowhere else; the store's queries do not compile until
    /// they know it.
    pub enum SealedColumn {
        /// `secret_versions.wrapped_key`
        SecretVersion = "secret_versions.wrapped_key",
        /// `agent_config_revisions.before_config`
        RevisionBefore = "agent_config_revisions.before_config",
        /// `agent_config_revisions.after_config`
        RevisionAfter = "agent_config_revisions.after_config",
        /// `idempotency_keys.body`, where `sealed`
        StoredResponse = "idempotency_keys.body",
        /// `vault_canary.sealed`
        Canary = "vault_canary.sealed",
    }
}

/// One sealed value of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedCell {
    /// Where it is.
    pub column: SealedColumn,
    /// The primary key of its row.
    pub row: Vec<String>,
    /// The sealed value, or the part of it that says under which key it is.
    pub sealed: Vec<u8>,
}

/// Looks at everything that the vault sealed. These look-ups carry no scope: a
/// master key serves the whole instance.
pub trait SealedReads {
    /// How many values of a column are sealed under one of `keys`.
    fn count_under(&mut self, column: SealedColumn, keys: &[KeyId]) -> Result<i64, StoreError>;

    /// The value that tells whether a vault is the one of this store.
    fn canary(&mut self) -> Result<Option<Vec<u8>>, StoreError>;
}

/// What a change of the master key does with the store.
pub trait SealedWrites {
    /// Locks at most `limit` values of a column that are sealed under one of
    /// `keys`.
    fn sealed_under(
        &mut self,
        column: SealedColumn,
        keys: &[KeyId],
        limit: usize,
    ) -> Result<Vec<SealedCell>, StoreError>;

    /// Puts another sealed value in the place of one that was locked.
    fn replace(&mut self, cell: &SealedCell, key: KeyId, sealed: &[u8]) -> Result<(), StoreError>;

    /// Stores the value that tells a vault, unless another server did before.
    fn insert_canary(&mut self, sealed: &[u8]) -> Result<(), StoreError>;
}
