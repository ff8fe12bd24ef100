use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::board_tokens::{self, CreatedBoardToken};
use workforce_domain::board::BoardToken;
use workforce_domain::id::BoardTokenId;
use workforce_domain::port::BoardTokenCursor;
use workforce_domain::text::Name;
use workforce_domain::time::Timestamp;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

const TAG: &str = "Board tokens";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_create, Access::Board, Codes::NONE, create)
        .add(__path_list, Access::Board, Codes::NONE, list)
        .add(__path_revoke, Access::Board, Codes::NONE, revoke)
}

/// A token just made. The value is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreatedBoardToken)]
struct CreatedTokenBody {
    /// Unique id.
    id: BoardTokenId,
    /// What it is for.
    name: Name,
    /// The full value.
    token: String,
    /// How the value begins.
    prefix: String,
    /// When it was made.
    created_at: Timestamp,
}

impl From<CreatedBoardToken> for CreatedTokenBody {
    fn from(CreatedBoardToken { kept, value }: CreatedBoardToken) -> Self {
        Self {
            id: kept.id,
            name: kept.name,
            token: value,
            prefix: kept.prefix,
            created_at: kept.created_at,
        }
    }
}

#[derive(Deserialize, ToSchema)]
struct CreateTokenBody {
    /// What it is for; `default` when left out.
    name: Option<Name>,
}

fn name(rq: &Request) -> Result<Name, Problem> {
    match rq.json::<CreateTokenBody>()?.name {
        Some(name) => Ok(name),
        None => Name::parse("default").map_err(|error| Problem::internal(&error)),
    }
}

/// Makes a token of the board, which reaches every company.
#[utoipa::path(post, path = "/api/board-tokens", tag = TAG,
    operation_id = "createBoardToken",
    request_body = Option<CreateTokenBody>,
    responses((status = 201, description = "The token with its value.", body = CreatedTokenBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            name,
            |tx, ctx, name| board_tokens::create(tx, ctx, name.clone()),
            |created| Reply::credential(CreatedTokenBody::from(created)),
        )
        .await
}

/// The tokens that the board made, oldest first, revoked ones too. The token
/// that the server was started with is not among them.
#[utoipa::path(get, path = "/api/board-tokens", tag = TAG,
    operation_id = "listBoardTokens",
    params(Paging),
    responses((status = 200, description = "The tokens.", body = Vec<BoardToken>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            Request::page::<BoardTokenCursor>,
            board_tokens::list,
            Reply::<Vec<BoardToken>>::page,
        )
        .await
}

/// Revokes a token that the board made. The token that the server was started
/// with has no id: change it and start the server again.
#[utoipa::path(delete, path = "/api/board-tokens/{tokenId}", tag = TAG,
    operation_id = "revokeBoardToken",
    responses((status = 200, description = "The revoked token.", body = BoardToken)))]
async fn revoke(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("tokenId"),
            |tx, ctx, id| board_tokens::revoke(tx, ctx, *id),
            Reply::ok,
        )
        .await
}
