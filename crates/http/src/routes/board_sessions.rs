use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::board_sessions;
use workforce_app::login_links::{self, IssuedLink};
use workforce_domain::board_session::BoardSession;
use workforce_domain::port::BoardSessionCursor;
use workforce_domain::time::Timestamp;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

const TAG: &str = "Board sessions";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Board, Codes::NONE, list)
        .add(__path_end, Access::Board, Codes::NONE, end)
        .add(__path_link, Access::Board, Codes::NONE, link)
}

/// Browsers in which the board is signed in, oldest first.
///
/// Sessions that have ended are left out.
#[utoipa::path(get, path = "/api/board-sessions", tag = TAG,
    operation_id = "listBoardSessions",
    params(Paging),
    responses((status = 200, description = "The sessions.", body = Vec<BoardSession>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            Request::page::<BoardSessionCursor>,
            board_sessions::list,
            Reply::<Vec<BoardSession>>::page,
        )
        .await
}

/// Ends a session: whoever has it signs in again.
#[utoipa::path(delete, path = "/api/board-sessions/{sessionId}", tag = TAG,
    operation_id = "endBoardSession",
    responses((status = 200, description = "The session as it was.", body = BoardSession)))]
async fn end(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("sessionId"),
            |tx, ctx, id| board_sessions::end(tx, ctx, *id),
            Reply::ok,
        )
        .await
}

/// A link just made. It is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoginLink)]
struct LinkBody {
    /// The page to open on this server, with all that it needs to know.
    path: String,
    /// The same with the address under which the server is known; `null` when it was told none.
    url: Option<String>,
    /// From then on it signs nobody in.
    expires_at: Timestamp,
}

impl LinkBody {
    fn of(issued: IssuedLink, public_url: Option<&str>) -> Self {
        Self {
            url: public_url.map(|url| format!("{url}{}", issued.path)),
            path: issued.path,
            expires_at: issued.expires_at,
        }
    }
}

/// Makes a link that signs a browser in as the caller. It does so once, within
/// 60 seconds.
#[utoipa::path(post, path = "/api/login-links", tag = TAG,
    operation_id = "createLoginLink",
    responses((status = 201, description = "The link.", body = LinkBody)))]
async fn link(rqctx: RequestContext) -> HttpResponse {
    let (policy, public_url) = (rqctx.state.auth, rqctx.state.public_url.clone());
    rqctx
        .of_credential()
        .write(
            |rq| rq.no_body(),
            move |tx, ctx, ()| login_links::issue(tx, ctx, policy),
            move |issued| Reply::credential(LinkBody::of(issued, public_url.as_deref())),
        )
        .await
}
