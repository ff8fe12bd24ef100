use serde::Serialize;

use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::SecretId;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, Reads, RunSecret, SecretUser, VersionInfo};

use super::{SecretError, get};
use crate::context::Context;

/// So many uses by runs are shown.
const SHOWN_RUNS: usize = 100;

/// Who uses a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecretUsage {
    /// The agents that refer to it.
    pub agents: Vec<SecretUser>,
    /// The last 100 times that a run was given it, newest first.
    pub runs: Vec<RunSecret>,
}

/// Who uses a secret.
pub fn usage(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: SecretId,
) -> Result<SecretUsage, Failure<SecretError>> {
    let scope = get(reads, ctx, id)?.scope();
    Ok(SecretUsage {
        agents: reads.secrets().users(scope, id)?,
        runs: reads.secrets().uses(scope, id, SHOWN_RUNS)?,
    })
}

/// The versions of a secret, newest first, without their values.
pub fn versions(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: SecretId,
    page: &PageRequest<i32>,
) -> Result<Page<VersionInfo, i32>, Failure<SecretError>> {
    let scope = get(reads, ctx, id)?.scope();
    Ok(reads.secrets().versions(scope, id, page)?)
}
