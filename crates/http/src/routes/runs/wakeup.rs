use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::runs::{self, InvokeOutcome, TriggerDetail, WakeUp, WakeUpOutcome};
use workforce_domain::Document;
use workforce_domain::text::Label;
use workforce_domain::wake::WakeSource;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_wake_up, Access::ItselfOrAbove, runs::ASK, wake_up)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WakeUpBody {
    /// What kind of thing causes it; `on_demand` when left out.
    source: Option<WakeSource>,
    /// How it came about, for the agent to know.
    trigger_detail: Option<TriggerDetail>,
    /// Why: one of the reasons that runs show, or any text for the agent to
    /// know.
    reason: Option<Label>,
    /// What else the agent is to know; at most 16 KiB.
    payload: Option<Document>,
    /// A repetition of the request under the same key within 24 hours gets the
    /// first answer, as with the header `Idempotency-Key`, which goes before.
    #[expect(dead_code, reason = "it is read from the body itself")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    idempotency_key: Option<String>,
}

impl WakeUpBody {
    fn command(self) -> WakeUp {
        WakeUp {
            source: self.source.unwrap_or(WakeSource::OnDemand),
            trigger_detail: self.trigger_detail,
            reason: self.reason,
            payload: self.payload.unwrap_or_default(),
        }
    }
}

/// What a request to wake an agent led to: a run, or `status: "skipped"`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = WokenAgent)]
enum WokenBody {
    Asked(Box<InvokeOutcome>),
    Skipped(SkippedBody),
}

/// Nothing was queued.
#[derive(Serialize, ToSchema)]
#[schema(as = SkippedWake)]
struct SkippedBody {
    /// Always `skipped`, which no run is.
    status: SkippedStatus,
    /// Why.
    reason: SkippedReason,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SkippedStatus {
    Skipped,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SkippedReason {
    WakeOnDemandOff,
}

impl From<WakeUpOutcome> for WokenBody {
    fn from(outcome: WakeUpOutcome) -> Self {
        match outcome {
            WakeUpOutcome::Asked(asked) => Self::Asked(asked),
            WakeUpOutcome::Skipped => Self::Skipped(SkippedBody {
                status: SkippedStatus::Skipped,
                reason: SkippedReason::WakeOnDemandOff,
            }),
        }
    }
}

/// Wakes an agent for a reason. Repeated calls lead to one run. The board
/// wakes anyone, an agent itself and those below it.
#[utoipa::path(post, path = "/api/agents/{agentId}/wakeup", tag = TAG,
    operation_id = "wakeAgent",
    request_body = WakeUpBody,
    responses((status = 202, description = "The queued run.", body = WokenBody)))]
async fn wake_up(mut rqctx: RequestContext) -> HttpResponse {
    rqctx.request.adopt_idempotency_key();
    rqctx
        .write(
            |rq| Ok((rq.id("agentId")?, rq.json::<WakeUpBody>()?.command())),
            |tx, ctx, (agent, command)| runs::wake_up(tx, ctx, *agent, command.clone()),
            |outcome| Reply::accepted(WokenBody::from(outcome)),
        )
        .await
}
