use workforce_domain::actor::CompanyOwned;
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, RunFilter, Tx};
use workforce_domain::run::RunStatus;

use super::{CompanyError, lock};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`delete`] refuses with.
pub const DELETE: Codes = Codes::of(&[Code::CompanyNotArchived, Code::CompanyHasLiveRuns]);

/// Deletes an archived company for good, with everything it has
/// (docs/operations.md#stopping-companies-and-agents). Board only.
pub fn delete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<(), Failure<CompanyError>> {
    let company = lock(tx, ctx, id)?;
    if company.status() != CompanyStatus::Archived {
        return Err(Failure::Refused(CompanyError::NotArchived));
    }
    let live = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let one = PageRequest {
        limit: 1,
        ..PageRequest::first()
    };
    // Nobody would know of their processes any more.
    if !tx
        .runs()
        .list(company.scope(), &live, &one)?
        .items
        .is_empty()
    {
        return Err(Failure::Refused(CompanyError::LiveRuns));
    }
    // Its activity goes with it, so that none is recorded.
    Ok(tx.companies_mut().delete(company)?)
}
