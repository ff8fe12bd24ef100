mod bodies;

use actix_web::HttpResponse;
use serde::Serialize;
use workforce_app::agents::instructions::{self, BundleView, DeleteFile, PutFile};
use workforce_app::{Code, Codes};
use workforce_domain::id::AgentId;
use workforce_domain::instructions::BundlePath;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::state::State;
use bodies::{
    BundleBody, DeletedBody, FileBody, PatchBundleBody, PathBody, SetPathBody, WrittenBody,
};
pub(crate) use bodies::{PutFileBody, path};

const TAG: &str = "Instructions";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_get, Access::ItselfOrAbove, Codes::NONE, get)
        .add(__path_patch, Access::Itself, instructions::PATCH, patch)
        .add(__path_file, Access::ItselfOrAbove, instructions::FILE, file)
        .add(__path_put, Access::Itself, instructions::PUT_FILE, put)
        .add(
            __path_delete,
            Access::Itself,
            instructions::DELETE_FILE,
            delete,
        )
        .add(
            __path_set_path,
            Access::Board,
            instructions::SET_PATH,
            set_path,
        )
}

/// The path in the query, which has to be there.
fn named(rq: &Request) -> Result<BundlePath, Problem> {
    const POINTER: &str = "?path";
    match rq.query()?.exact("path")? {
        Some(text) => path(text, POINTER),
        None => Err(Problem::at(Code::InvalidField, POINTER, "is required")),
    }
}

/// Where the instructions of an agent are, and which files they have. For the
/// board, the agent itself and those above it.
#[utoipa::path(get, path = "/api/agents/{agentId}/instructions-bundle", tag = TAG,
    operation_id = "getInstructionsBundle",
    responses((status = 200, description = "The bundle.", body = BundleBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read_and(
            |rq| rq.id("agentId"),
            |reads, ctx, id| instructions::get(reads, ctx, *id),
            |state, view| {
                let view = view.completed(&*state.ports.instructions);
                Ok(Reply::ok(BundleBody::from(view)))
            },
        )
        .await
}

/// Changes who keeps the instructions of an agent, where, and the entry file.
/// An agent may choose the entry file of its own managed bundle; the rest is
/// the board's.
#[utoipa::path(patch, path = "/api/agents/{agentId}/instructions-bundle", tag = TAG,
    operation_id = "updateInstructionsBundle",
    request_body = PatchBundleBody,
    responses((status = 200, description = "The bundle.", body = BundleBody)))]
async fn patch(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write_with_side_effect(
            |rq| Ok((rq.id("agentId")?, rq.json::<PatchBundleBody>()?.command()?)),
            |reads, ctx, (id, command)| instructions::plan_patch(reads, ctx, *id, command),
            |state, _, plan| {
                instructions::prepare(&*state.ports.instructions, plan).map_err(Problem::refused)
            },
            |tx, ctx, (id, command), prepared| instructions::patch(tx, ctx, *id, command, prepared),
            |state, _, view| {
                let view = view.completed(&*state.ports.instructions);
                Reply::ok(BundleBody::from(view))
            },
        )
        .await
}

/// A file of an agent's instructions.
#[utoipa::path(get, path = "/api/agents/{agentId}/instructions-bundle/file", tag = TAG,
    operation_id = "getInstructionsFile",
    params(
        ("path" = String, Query, description = "The path of the file within the bundle."),
    ),
    responses((status = 200, description = "The file.", body = FileBody)))]
async fn file(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read_and(
            |rq| Ok((rq.id("agentId")?, named(rq)?)),
            |reads, ctx, (id, path)| instructions::file(reads, ctx, *id, path),
            |state, found| {
                let file = instructions::load(found, &*state.ports.instructions)
                    .map_err(Problem::refused)?;
                Ok(Reply::ok(FileBody::from(file)))
            },
        )
        .await
}

/// Writes a file of an agent's instructions, which is made when it is not
/// there. In an external bundle only the entry file is made.
#[utoipa::path(put, path = "/api/agents/{agentId}/instructions-bundle/file", tag = TAG,
    operation_id = "putInstructionsFile",
    request_body = PutFileBody,
    responses((status = 200, description = "The file and its bundle.", body = WrittenBody)))]
async fn put(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| Ok((rq.id("agentId")?, rq.json::<PutFileBody>()?.command()?));
    let request_id = rqctx.request.request_id.clone();
    let answer = written(rqctx, parse, |state, (_, command), view| {
        let view = view.completed(&*state.ports.instructions);
        Reply::ok(WrittenBody {
            file: instructions::written(command, &view).into(),
            bundle: view.into(),
        })
    })
    .await;
    answer.unwrap_or_else(|problem| problem.answer(&request_id))
}

/// Writes the file of an agent's instructions that `parse` reads from a request.
///
/// # Errors
/// Why it was not done.
pub(crate) async fn written<B: Serialize>(
    rqctx: RequestContext,
    parse: impl FnOnce(&Request) -> Result<(AgentId, PutFile), Problem> + Send + 'static,
    finish: impl FnOnce(&State, &(AgentId, PutFile), BundleView) -> Reply<B> + Send + 'static,
) -> Result<HttpResponse, Problem> {
    rqctx
        .act_with_side_effect(
            parse,
            |reads, ctx, (id, command)| instructions::plan_put(reads, ctx, *id, command),
            |state, (_, command), deed| {
                let disk = &*state.ports.instructions;
                instructions::do_outside(disk, &deed, &command.path, Some(command))
                    .map_err(Problem::refused)?;
                Ok(deed)
            },
            |tx, ctx, (id, command), deed| instructions::put_file(tx, ctx, *id, command, deed),
            finish,
        )
        .await
}

/// Deletes a file of an agent's instructions; the entry file cannot be.
#[utoipa::path(delete, path = "/api/agents/{agentId}/instructions-bundle/file", tag = TAG,
    operation_id = "deleteInstructionsFile",
    params(
        ("path" = String, Query, description = "The path of the file within the bundle."),
    ),
    responses((status = 200, description = "The bundle.", body = DeletedBody)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    let parse = |rq: &Request| Ok((rq.id("agentId")?, DeleteFile { path: named(rq)? }));
    let request_id = rqctx.request.request_id.clone();
    let answer = deleted(rqctx, parse, |state, _, view| {
        let bundle = view.completed(&*state.ports.instructions).into();
        Reply::ok(DeletedBody { ok: true, bundle })
    })
    .await;
    answer.unwrap_or_else(|problem| problem.answer(&request_id))
}

/// Deletes the file of an agent's instructions that `parse` reads from a request.
///
/// # Errors
/// Why it was not done.
pub(crate) async fn deleted<B: Serialize>(
    rqctx: RequestContext,
    parse: impl FnOnce(&Request) -> Result<(AgentId, DeleteFile), Problem> + Send + 'static,
    finish: impl FnOnce(&State, &(AgentId, DeleteFile), BundleView) -> Reply<B> + Send + 'static,
) -> Result<HttpResponse, Problem> {
    rqctx
        .act_with_side_effect(
            parse,
            |reads, ctx, (id, command)| instructions::plan_delete(reads, ctx, *id, command),
            |state, (_, command), deed| {
                let disk = &*state.ports.instructions;
                instructions::do_outside(disk, &deed, &command.path, None)
                    .map_err(Problem::refused)?;
                Ok(deed)
            },
            |tx, ctx, (id, command), deed| instructions::delete_file(tx, ctx, *id, command, deed),
            finish,
        )
        .await
}

/// Says by the path of one file where an agent's instructions are. Where that
/// file is in a folder that may hold a bundle, the bundle is that folder.
#[utoipa::path(patch, path = "/api/agents/{agentId}/instructions-path", tag = TAG,
    operation_id = "setInstructionsPath",
    request_body = SetPathBody,
    responses((status = 200, description = "The path and the bundle.", body = PathBody)))]
async fn set_path(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write_with_side_effect(
            |rq| Ok((rq.id("agentId")?, rq.json::<SetPathBody>()?.command())),
            |reads, ctx, (id, _)| instructions::get(reads, ctx, *id),
            |state, (_, command), _seen| {
                instructions::infer(&*state.ports.instructions, command).map_err(Problem::refused)
            },
            |tx, ctx, (id, command), inferred| {
                instructions::set_path(tx, ctx, *id, command, inferred)
            },
            |state, _, mut set| {
                set.bundle = set.bundle.completed(&*state.ports.instructions);
                Reply::ok(PathBody::from(set))
            },
        )
        .await
}
