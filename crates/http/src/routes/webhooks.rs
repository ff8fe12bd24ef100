use actix_web::HttpResponse;
use actix_web::http::header::HeaderName;
use utoipa::ToSchema;
use workforce_app::{Code, Codes, Failure};
use workforce_domain::port::{DeliveryOutcome, ForgeDelivery};

use super::Done;
use crate::access_rules::Access;
use crate::body::incoming::IncomingBody;
use crate::endpoints::Endpoints;
use crate::problem::{Problem, into_problem};
use crate::request_context::RequestContext;
use crate::slots::ANYBODY;
use crate::streamed_request::StreamedRequest;

const TAG: &str = "Webhooks";

/// What GitHub calls a message.
const EVENT: HeaderName = HeaderName::from_static("x-github-event");
/// What proves that it is from GitHub.
const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");

/// A message is at most so many bytes (docs/tickets.md#webhook).
const MAX_MESSAGE: usize = 1024 * 1024;

/// What a message is refused with.
const TAKE: Codes = Codes::of(&[
    Code::BodyTooLarge,
    Code::Busy,
    Code::Contended,
    Code::CredentialInvalid,
    Code::InvalidRequest,
    Code::NotFound,
    Code::OutcomeUnknown,
    Code::StorageFull,
    Code::StoreUnavailable,
]);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add_streaming(__path_github, Access::Public, TAKE, github)
}

/// A message of GitHub, which describes its fields.
#[derive(ToSchema)]
struct GithubMessage {}

/// Takes a message of GitHub about a repository.
///
/// Its signature stands in the place of a credential; nothing is read before it is
/// checked. What the message says is not believed: pull requests that it is about are
/// looked at soon. One that means nothing is taken all the same, and a repetition does
/// no harm. 404 where the operator named no secret.
#[utoipa::path(post, path = "/api/webhooks/github", tag = TAG, operation_id = "takeGithubMessage",
    params(
        ("X-GitHub-Event" = Option<String>, Header, description = "What the message is about."),
        ("X-Hub-Signature-256" = Option<String>, Header,
            description = "`sha256=` and the HMAC of the body with the secret, in hexadecimal digits."),
    ),
    request_body(content = GithubMessage, description = "The message, at most 1 MiB."),
    responses((status = 202, description = "It was taken.", body = Done)))]
async fn github(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    match take(&rqctx, connection).await {
        Ok(()) => HttpResponse::Accepted().json(Done::OK),
        Err(problem) => rqctx.refuse(problem),
    }
}

async fn take(rqctx: &RequestContext, connection: StreamedRequest) -> Result<(), Problem> {
    let state = &rqctx.state;
    let webhooks = &state.ports.webhooks;
    if !webhooks.is_configured() {
        return Err(Problem::missing("webhook"));
    }
    let header = |name| connection.header(name).unwrap_or_default().to_owned();
    let (event, signature) = (header(EVENT), header(SIGNATURE));
    let mut body = IncomingBody::of(connection, "a message", MAX_MESSAGE, state.body_deadline)?;
    let _slot = if body.take_small().await? {
        None
    } else {
        Some(state.large_bodies.take(ANYBODY).await?)
    };
    let body = body.take_rest().await?;
    let delivery = ForgeDelivery {
        event,
        signature,
        body: body.to_vec(),
    };
    match webhooks.take(delivery).await {
        Ok(DeliveryOutcome::Taken) => Ok(()),
        Ok(DeliveryOutcome::NotConfigured) => Err(Problem::missing("webhook")),
        Ok(DeliveryOutcome::Forged) => {
            let detail = "the message is not signed with the secret of this server";
            Err(Problem::new(Code::CredentialInvalid, detail))
        }
        Err(error) => Err(into_problem(Failure::<Problem>::Store(error))),
    }
}
