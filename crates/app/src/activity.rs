//! Reading what happened (docs/activity.md#what-changed).

use serde_json::Value;
use workforce_domain::activity::Activity;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::CompanyId;
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{ActivityCursor, ActivityFilter, Failure, Reads};

use crate::access::{self, Denied};
use crate::context::Context;
use crate::refusal::{Code, Refusal};

/// Why a call about activity is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct ActivityError(#[from] pub Denied);

impl Refusal for ActivityError {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn details(&self) -> Option<Value> {
        self.0.details()
    }
}

/// Activity of a company, newest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    filter: &ActivityFilter,
    page: &PageRequest<ActivityCursor>,
) -> Result<Page<Activity, ActivityCursor>, Failure<ActivityError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.activity().list(scope, filter, page)?)
}

/// Activity of one issue, newest first.
pub fn of_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    page: &PageRequest<ActivityCursor>,
) -> Result<Page<Activity, ActivityCursor>, Failure<ActivityError>> {
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    Ok(reads
        .activity()
        .list(issue.scope(), &ActivityFilter::of_issue(issue.id), page)?)
}
