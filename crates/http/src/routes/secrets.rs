mod bodies;
mod master_key;
mod usage;

use actix_web::HttpResponse;
use workforce_app::secrets::{Converted, UpdateSecret};
use workforce_app::{Code, Codes, secrets};
use workforce_domain::port::SecretCursor;
use workforce_domain::secret::Secret;

use super::Done;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;
pub(crate) use bodies::CreateSecretBody;
use bodies::{ConvertBody, RotateSecretBody};

const TAG: &str = "Secrets";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Board, Codes::NONE, list)
        .add(
            __path_create,
            Access::Board,
            Codes::with(&[Code::SecretProviderUnsupported], &[secrets::CREATE]),
            create,
        )
        .add(__path_get, Access::Board, Codes::NONE, get)
        .add(__path_update, Access::Board, secrets::UPDATE, update)
        .add(__path_delete, Access::Board, secrets::DELETE, delete)
        .add(__path_rotate, Access::Board, secrets::ROTATE, rotate)
        .add(__path_convert, Access::Board, secrets::CONVERT, convert);
    master_key::register(usage::register(endpoints))
}

/// Secrets of a company, oldest first, without their values.
#[utoipa::path(get, path = "/api/companies/{companyId}/secrets", tag = TAG,
    operation_id = "listSecrets",
    params(Paging),
    responses((status = 200, description = "The secrets.", body = Vec<Secret>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<SecretCursor>()?)),
            |reads, ctx, (company, page)| secrets::list(reads, ctx, *company, page),
            Reply::<Vec<Secret>>::page,
        )
        .await
}

/// Makes a secret. Its value is sealed and never shown again.
#[utoipa::path(post, path = "/api/companies/{companyId}/secrets", tag = TAG,
    operation_id = "createSecret",
    request_body = CreateSecretBody,
    responses((status = 201, description = "The secret.", body = Secret)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let command = rq.json::<CreateSecretBody>()?.command()?;
                Ok((rq.id("companyId")?, command))
            },
            |tx, ctx, (company, command)| secrets::create(tx, ctx, *company, command.clone()),
            |secret| Reply::created(secret).sealed(),
        )
        .await
}

/// One secret, without its value.
#[utoipa::path(get, path = "/api/secrets/{secretId}", tag = TAG, operation_id = "getSecret",
    responses((status = 200, description = "The secret.", body = Secret)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("secretId"),
            |reads, ctx, id| secrets::get(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Changes a secret. A value becomes its newest version, which every run that
/// starts from now on is given where its agent refers to `latest`.
#[utoipa::path(patch, path = "/api/secrets/{secretId}", tag = TAG,
    operation_id = "updateSecret",
    request_body = UpdateSecret,
    responses((status = 200, description = "The secret.", body = Secret)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("secretId")?, rq.json::<UpdateSecret>()?)),
            |tx, ctx, (id, command)| secrets::update(tx, ctx, *id, command.clone()),
            Reply::ok,
        )
        .await
}

/// Gives a secret a new version: the same as a PATCH with a value.
#[utoipa::path(post, path = "/api/secrets/{secretId}/rotate", tag = TAG,
    operation_id = "rotateSecret",
    request_body = RotateSecretBody,
    responses((status = 200, description = "The secret.", body = Secret)))]
async fn rotate(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("secretId")?, rq.json::<RotateSecretBody>()?.command())),
            |tx, ctx, (id, command)| secrets::update(tx, ctx, *id, command.clone()),
            |secret| Reply::ok(secret).sealed(),
        )
        .await
}

/// Deletes a secret with all of its versions.
#[utoipa::path(delete, path = "/api/secrets/{secretId}", tag = TAG,
    operation_id = "deleteSecret",
    params(
        ("force" = Option<bool>, Query,
            description = "Deletes it although agents refer to it; their next runs fail."),
    ),
    responses((status = 200, description = "It is deleted.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("secretId")?, rq.query()?.flag("force", false)?)),
            |tx, ctx, (id, force)| secrets::delete(tx, ctx, *id, *force),
            |()| Reply::ok(Done::OK),
        )
        .await
}

/// Makes a secret of a value that stands inline in an agent's environment. A
/// reference takes its place.
#[utoipa::path(post, path = "/api/agents/{agentId}/env/{name}/to-secret", tag = TAG,
    operation_id = "convertToSecret",
    params(("name" = String, Path, description = "The variable.")),
    request_body = ConvertBody,
    responses((status = 201, description = "The secret and where it is used.",
        body = Converted)))]
async fn convert(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let variable = rq.param("name", "variable of this agent")?.to_owned();
                Ok((rq.id("agentId")?, variable, rq.json::<ConvertBody>()?.name))
            },
            |tx, ctx, (agent, variable, name)| {
                secrets::convert(tx, ctx, *agent, variable, name.clone())
            },
            Reply::created,
        )
        .await
}
