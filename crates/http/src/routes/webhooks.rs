use actix_web::HttpResponse;
use actix_web::http::header::HeaderName;
use utoipa::ToSchema;
use workforce_app::{Code, Codes, Failure};
use workforce_domain::forge::ForgeKind;
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

/// How the forges of one kind send messages. Of headers that say the same the first one
/// counts that is there.
struct Sender {
    forge: ForgeKind,
    /// The headers that say what a message is about.
    event: &'static [&'static str],
    /// The headers that prove whom it is from.
    proof: &'static [&'static str],
}

const GITHUB: Sender = Sender {
    forge: ForgeKind::GitHub,
    event: &["x-github-event"],
    proof: &["x-hub-signature-256"],
};

const GITLAB: Sender = Sender {
    forge: ForgeKind::GitLab,
    event: &["x-gitlab-event"],
    proof: &["x-gitlab-token"],
};

/// Some versions of Gitea leave the first header empty with a status.
const GITEA: Sender = Sender {
    forge: ForgeKind::Gitea,
    event: &["x-gitea-event", "x-forgejo-event", "x-gitea-event-type"],
    proof: &["x-gitea-signature", "x-forgejo-signature"],
};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add_streaming(__path_github, Access::Public, TAKE, github)
        .add_streaming(__path_gitlab, Access::Public, TAKE, gitlab)
        .add_streaming(__path_gitea, Access::Public, TAKE, gitea)
}

/// A message of a forge, which describes its fields.
#[derive(ToSchema)]
struct ForgeMessage {}

/// Takes a message of GitHub about a repository.
///
/// Its signature stands in the place of a credential; nothing is read before it is
/// checked. What the message says is not believed: pull requests that it is about are
/// looked at soon. One that means nothing is taken all the same, and one that was taken
/// before is refused. 404 where the operator named no secret.
#[utoipa::path(post, path = "/api/webhooks/github", tag = TAG, operation_id = "takeGithubMessage",
    params(
        ("X-GitHub-Event" = Option<String>, Header, description = "What the message is about."),
        ("X-Hub-Signature-256" = Option<String>, Header,
            description = "`sha256=` and the HMAC of the body with the secret, in hexadecimal digits."),
    ),
    request_body(content = ForgeMessage, description = "The message, at most 1 MiB."),
    responses((status = 202, description = "It was taken.", body = Done)))]
async fn github(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    answer(rqctx, connection, &GITHUB).await
}

/// Takes a message of GitLab about a project.
///
/// The secret stands in the place of a credential; nothing is read before it is checked.
/// What the message says is not believed: merge requests that it is about are looked at
/// soon. One that means nothing is taken all the same, and one that was taken before is
/// refused. 404 where the operator named no secret.
#[utoipa::path(post, path = "/api/webhooks/gitlab", tag = TAG, operation_id = "takeGitlabMessage",
    params(
        ("X-Gitlab-Event" = Option<String>, Header,
            description = "What the message is about. Its `object_kind` counts."),
        ("X-Gitlab-Token" = Option<String>, Header, description = "The secret."),
    ),
    request_body(content = ForgeMessage, description = "The message, at most 1 MiB."),
    responses((status = 202, description = "It was taken.", body = Done)))]
async fn gitlab(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    answer(rqctx, connection, &GITLAB).await
}

/// Takes a message of Gitea or Forgejo about a repository.
///
/// Its signature stands in the place of a credential; nothing is read before it is
/// checked. What the message says is not believed: pull requests that it is about are
/// looked at soon. One that means nothing is taken all the same, and one that was taken
/// before is refused. 404 where the operator named no secret.
#[utoipa::path(post, path = "/api/webhooks/gitea", tag = TAG, operation_id = "takeGiteaMessage",
    params(
        ("X-Gitea-Event" = Option<String>, Header,
            description = "What the message is about; else `X-Forgejo-Event` or `X-Gitea-Event-Type`."),
        ("X-Gitea-Signature" = Option<String>, Header,
            description = "The HMAC of the body with the secret, in hexadecimal digits; else \
                `X-Forgejo-Signature`."),
    ),
    request_body(content = ForgeMessage, description = "The message, at most 1 MiB."),
    responses((status = 202, description = "It was taken.", body = Done)))]
async fn gitea(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    answer(rqctx, connection, &GITEA).await
}

async fn answer(
    rqctx: RequestContext,
    connection: StreamedRequest,
    sender: &Sender,
) -> HttpResponse {
    match take(&rqctx, connection, sender).await {
        Ok(()) => HttpResponse::Accepted().json(Done::OK),
        Err(problem) => rqctx.refuse(problem),
    }
}

async fn take(
    rqctx: &RequestContext,
    connection: StreamedRequest,
    sender: &Sender,
) -> Result<(), Problem> {
    let state = &rqctx.state;
    let webhooks = &state.ports.webhooks;
    if !webhooks.is_configured(sender.forge) {
        return Err(Problem::missing("webhook"));
    }
    let (event, proof) = (
        first_of(&connection, sender.event),
        first_of(&connection, sender.proof),
    );
    let mut body = IncomingBody::of(connection, "a message", MAX_MESSAGE, state.body_deadline)?;
    let _slot = if body.take_small().await? {
        None
    } else {
        Some(state.large_bodies.take(ANYBODY).await?)
    };
    let body = body.take_rest().await?;
    let delivery = ForgeDelivery {
        forge: sender.forge,
        event,
        proof,
        body: body.to_vec(),
    };
    let refused = |detail: &str| Err(Problem::new(Code::CredentialInvalid, detail));
    match webhooks.take(delivery).await {
        Ok(DeliveryOutcome::Taken) => Ok(()),
        Ok(DeliveryOutcome::NotConfigured) => Err(Problem::missing("webhook")),
        Ok(DeliveryOutcome::Forged) => {
            refused("the message does not prove that its sender knows the secret of this server")
        }
        Ok(DeliveryOutcome::Repeated) => refused("the message was taken already"),
        Err(error) => Err(into_problem(Failure::<Problem>::Store(error))),
    }
}

/// The first of these headers that says anything; nothing where none does.
fn first_of(connection: &StreamedRequest, names: &[&'static str]) -> String {
    let values = names
        .iter()
        .filter_map(|name| connection.header(HeaderName::from_static(name)));
    let told = values.into_iter().find(|value| !value.is_empty());
    told.unwrap_or_default().to_owned()
}
