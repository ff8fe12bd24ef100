use actix_web::HttpResponse;
use serde::Deserialize;
use std::time::Duration;
use utoipa::ToSchema;
use workforce_app::Context;
use workforce_app::agents::{self, AgentError, CheckAdapter};
use workforce_domain::Document;
use workforce_domain::adapter_check::AdapterCheck;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::AgentId;
use workforce_domain::port::{AdapterCheckError, AdapterChecks, AdapterToCheck, Failure, Reads};

use super::TAG;
use super::requests::adapter;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

/// When a place for another check may be free.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_check, Access::ItselfOrAbove, agents::CHECK, check)
        .add(
            __path_check_draft,
            Access::Board,
            agents::CHECK_DRAFT,
            check_draft,
        )
}

/// Looks at whether an agent could run as it is configured. Is its program there,
/// which version is it, is it signed in, and where does it work? Nothing is changed,
/// and no model is called. With a configuration it is looked at as it would be after that
/// change, which the board alone may ask for. At most two checks go on at once on a server;
/// others wait, and are told 429 `rate_limited` in the end.
#[utoipa::path(post, path = "/api/agents/{agentId}/adapter-check", tag = TAG,
    operation_id = "checkAgentAdapter",
    request_body = Option<CheckAdapterBody>,
    responses((status = 200, description = "What was found, also when something is missing.",
        body = AdapterCheck)))]
async fn check(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| {
        let body = rq.json::<CheckAdapterBody>()?;
        let change = (!body.is_empty()).then(|| body.command()).transpose()?;
        Ok((rq.id("agentId")?, change))
    };
    let planned = rqctx
        .plan(parse, |reads, ctx, (id, change)| {
            present_or_changed(reads, ctx, *id, change.as_ref())
        })
        .await;
    let (rqctx, found) = match look(planned).await {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    rqctx
        .write(
            parse,
            |tx, ctx, (id, change)| {
                present_or_changed(tx.reads(), ctx, *id, change.as_ref()).map(drop)
            },
            // A configuration may carry credentials.
            move |()| Reply::ok(found.clone()).sealed(),
        )
        .await
}

fn present_or_changed(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    change: Option<&CheckAdapter>,
) -> Result<AdapterToCheck, Failure<AgentError>> {
    match change {
        None => agents::to_check(reads, ctx, id),
        Some(change) => agents::change_to_check(reads, ctx, id, change),
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckAdapterBody {
    /// How the agent is to be run; `process`, or as before, when left out.
    #[schema(value_type = Option<AdapterType>)]
    adapter_type: Option<String>,
    /// Configuration of the adapter; of an agent that there is, changes of it, merged key by key.
    adapter_config: Option<Document>,
}

impl CheckAdapterBody {
    const fn is_empty(&self) -> bool {
        self.adapter_type.is_none() && self.adapter_config.is_none()
    }

    pub(crate) fn command(self) -> Result<CheckAdapter, Problem> {
        Ok(CheckAdapter {
            adapter_type: self.adapter_type.as_deref().map(adapter).transpose()?,
            adapter_config: self.adapter_config.unwrap_or_default(),
        })
    }
}

/// Looks in the same way at an agent that is not hired yet. Its configuration is
/// checked as when it is hired.
#[utoipa::path(post, path = "/api/companies/{companyId}/adapter-check", tag = TAG,
    operation_id = "checkAdapter",
    request_body = CheckAdapterBody,
    responses((status = 200, description = "What was found, also when something is missing.",
        body = AdapterCheck)))]
async fn check_draft(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| {
        Ok((
            rq.id("companyId")?,
            rq.json::<CheckAdapterBody>()?.command()?,
        ))
    };
    let planned = rqctx
        .plan(parse, |reads, ctx, (company, draft)| {
            agents::draft_to_check(reads, ctx, *company, draft)
        })
        .await;
    let (rqctx, found) = match look(planned).await {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    rqctx
        .write(
            parse,
            |tx, ctx, (company, draft)| agents::draft_to_check(tx.reads(), ctx, *company, draft),
            // A configuration may carry credentials.
            move |_adapter| Reply::ok(found.clone()).sealed(),
        )
        .await
}

/// Has done what was planned; the answer when there is nothing to go on with.
async fn look(
    planned: Result<(RequestContext, AdapterToCheck), HttpResponse>,
) -> Result<(RequestContext, AdapterCheck), HttpResponse> {
    let (rqctx, adapter) = planned?;
    match found(&*rqctx.state.ports.adapters, adapter).await {
        Ok(found) => Ok((rqctx, found)),
        Err(problem) => Err(rqctx.refuse(problem)),
    }
}

/// What a check finds.
pub(crate) async fn found(
    checks: &dyn AdapterChecks,
    adapter: AdapterToCheck,
) -> Result<AdapterCheck, Problem> {
    checks.check(adapter).await.map_err(|error| match error {
        AdapterCheckError::Busy => Problem::rate_limited(AGAIN_AFTER),
        AdapterCheckError::Store(error) => error.into(),
    })
}
