use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::id::{AgentId, RunId, SecretId};
use crate::page::{CreationKey, Page, PageRequest};
use crate::secret::{Secret, SecretVersion};
use crate::text::{Name, SecretName};
use crate::time::Timestamp;

/// The place of a secret in a list.
pub type SecretCursor = CreationKey<SecretId>;

/// A version of a secret without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SecretVersion))]
#[serde(rename_all = "camelCase")]
pub struct VersionInfo {
    /// Its number, from 1 on.
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub version: i32,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An agent whose configuration refers to a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecretUser {
    /// The agent.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// Its name.
    #[serde(rename = "agentName")]
    pub name: Name,
    /// The variable that refers to it.
    pub variable: String,
    /// The version it refers to; `null` for the newest.
    #[serde(rename = "pinnedVersion")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub pinned: Option<i32>,
}

/// A version of a secret that a run was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SecretUse))]
#[serde(rename_all = "camelCase")]
pub struct RunSecret {
    /// The run.
    #[serde(rename = "runId")]
    pub run: RunId,
    /// The variable it was given in.
    pub variable: String,
    /// The secret.
    #[serde(skip)]
    pub secret: SecretId,
    /// The version it was given; 0 when the value is kept elsewhere.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub version: i32,
    /// When it was given.
    pub used_at: Timestamp,
}

/// Reads of secrets.
pub trait SecretReads {
    /// The secret with this id.
    fn find(&mut self, scope: Scope, id: SecretId) -> Result<Option<Secret>, StoreError>;

    /// The secret of a company with this name.
    fn find_by_name(
        &mut self,
        company: CompanyScope,
        name: &SecretName,
    ) -> Result<Option<SecretId>, StoreError>;

    /// The secrets of a company that are tokens for repositories.
    fn tokens(&mut self, company: CompanyScope) -> Result<Vec<Secret>, StoreError>;

    /// Secrets of a company, oldest first.
    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<SecretCursor>,
    ) -> Result<Page<Secret, SecretCursor>, StoreError>;

    /// One version of a secret, sealed.
    fn version(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        version: i32,
    ) -> Result<Option<SecretVersion>, StoreError>;

    /// The versions of a secret, newest first; the key is their number.
    fn versions(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        page: &PageRequest<i32>,
    ) -> Result<Page<VersionInfo, i32>, StoreError>;

    /// The agents that refer to a secret, terminated ones aside, by agent and
    /// variable.
    fn users(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
    ) -> Result<Vec<SecretUser>, StoreError>;

    /// The last `limit` uses of a secret by runs, newest first.
    fn uses(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        limit: usize,
    ) -> Result<Vec<RunSecret>, StoreError>;

    /// What a run was given.
    fn of_run(&mut self, company: CompanyScope, run: RunId) -> Result<Vec<RunSecret>, StoreError>;
}

/// Writes of secrets. Which agents refer to which secrets is kept by
/// [`AgentWrites`](super::AgentWrites) when an agent is stored. A secret is
/// locked after everything else.
pub trait SecretWrites {
    /// Stores a new secret and holds it.
    fn insert(&mut self, secret: Secret) -> Result<Locked<Secret>, StoreError>;

    /// Locks a secret.
    fn lock(&mut self, scope: Scope, id: SecretId) -> Result<Option<Locked<Secret>>, StoreError>;

    /// Locks those of `ids` that are secrets of the company, so that none goes
    /// away while something is made to depend on it.
    fn lock_all(
        &mut self,
        company: CompanyScope,
        ids: &[SecretId],
    ) -> Result<Vec<Locked<Secret>>, StoreError>;

    /// Stores a locked secret.
    fn save(&mut self, secret: &Locked<Secret>) -> Result<(), StoreError>;

    /// Deletes a locked secret with its versions.
    fn delete(&mut self, secret: Locked<Secret>) -> Result<(), StoreError>;

    /// Stores a new version of a locked secret.
    fn insert_version(
        &mut self,
        secret: &Locked<Secret>,
        version: &SecretVersion,
    ) -> Result<(), StoreError>;

    /// Deletes a version of a locked secret; false when there is none.
    fn delete_version(&mut self, secret: &Locked<Secret>, version: i32)
    -> Result<bool, StoreError>;

    /// Writes down what a run is given.
    fn record_uses(&mut self, company: CompanyScope, uses: &[RunSecret]) -> Result<(), StoreError>;
}
