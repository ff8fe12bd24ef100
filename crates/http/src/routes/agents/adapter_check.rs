use actix_web::HttpResponse;
use serde::Deserialize;
use std::time::Duration;
use utoipa::ToSchema;
use workforce_app::agents::{self, CheckAdapter};
use workforce_domain::Document;
use workforce_domain::adapter_check::AdapterCheck;
use workforce_domain::agent::AdapterType;
use workforce_domain::port::{AdapterCheckError, AdapterToCheck};

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
/// and no model is called. At most two checks go on at once on a server;
/// others wait, and are told 429 `rate_limited` in the end.
#[utoipa::path(post, path = "/api/agents/{agentId}/adapter-check", tag = TAG,
    operation_id = "checkAgentAdapter",
    responses((status = 200, description = "What was found, also when something is missing.",
        body = AdapterCheck)))]
async fn check(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| {
        rq.no_body()?;
        rq.id("agentId")
    };
    let planned = rqctx
        .plan(parse, |reads, ctx, id| agents::to_check(reads, ctx, *id))
        .await;
    let (rqctx, found) = match look(planned).await {
        Ok(looked) => looked,
        Err(answer) => return answer,
    };
    rqctx
        .write(
            parse,
            |tx, ctx, id| agents::to_check(tx.reads(), ctx, *id),
            move |_adapter| Reply::ok(found.clone()),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CheckAdapterBody {
    /// How the agent is to be run; `process` when left out.
    #[schema(value_type = Option<AdapterType>)]
    adapter_type: Option<String>,
    /// Configuration of the adapter.
    adapter_config: Option<Document>,
}

impl CheckAdapterBody {
    fn command(self) -> Result<CheckAdapter, Problem> {
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
    match rqctx.state.ports.adapters.check(adapter).await {
        Ok(found) => Ok((rqctx, found)),
        Err(AdapterCheckError::Busy) => Err(rqctx.refuse(Problem::rate_limited(AGAIN_AFTER))),
        Err(AdapterCheckError::Store(error)) => Err(rqctx.refuse(error.into())),
    }
}
