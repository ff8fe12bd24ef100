use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::secrets::master_key::{self, KeyStatus};
use workforce_app::{Code, Codes, Context, Failure};
use workforce_domain::port::{KeyChangeError, KeySource, Reads};

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::state::{KeyRotation, State};

/// What a change of the master key is refused with.
const ROTATE: Codes = Codes::of(&[Code::KeyRotationInProgress, Code::KeyRotationUnavailable]);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_status, Access::Board, Codes::NONE, status)
        .add(__path_rotate, Access::Board, ROTATE, rotate)
}

/// Where a change of the master key stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyStatus)]
struct StatusBody {
    /// The id of the key that seals. It tells nothing of the key.
    current_key_id: String,
    /// The ids of keys that only open, until nothing is sealed under them.
    former_key_ids: Vec<String>,
    /// `file` when the server keeps its keys itself, `environment` when the
    /// operator gives them.
    #[schema(pattern = "^(file|environment)$")]
    source: &'static str,
    /// How many values are still sealed under former keys.
    #[schema(minimum = 0)]
    remaining: i64,
    /// Whether nothing is left to do. With keys from the environment, the
    /// former one is not needed any more when `remaining` is 0.
    complete: bool,
}

impl From<KeyStatus> for StatusBody {
    fn from(status: KeyStatus) -> Self {
        Self {
            current_key_id: status.current.to_string(),
            complete: match status.source {
                KeySource::File => status.former.is_empty(),
                KeySource::Given => status.remaining == 0,
            },
            former_key_ids: status.former.iter().map(ToString::to_string).collect(),
            source: match status.source {
                KeySource::File => "file",
                KeySource::Given => "environment",
            },
            remaining: status.remaining,
        }
    }
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
struct RotateBody {
    /// Says that no other server uses this database. Needed where one could.
    only_server: bool,
}

/// Where a change of the master key stands.
#[utoipa::path(get, path = "/api/secrets/rotate-key", tag = TAG,
    operation_id = "getMasterKeyStatus",
    responses((status = 200, description = "Where it stands.", body = StatusBody)))]
async fn status(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |_rq| Ok(()),
            |reads, ctx, ()| key_status(reads, ctx),
            |status| Reply::ok(StatusBody::from(status)),
        )
        .await
}

/// Changes the master key while the server works. A new one is made, and what
/// is sealed under the present one is sealed anew, little by little. Both open
/// until that is complete.
#[utoipa::path(post, path = "/api/secrets/rotate-key", tag = TAG,
    operation_id = "rotateMasterKey",
    request_body = RotateBody,
    responses((status = 202, description = "It has begun.", body = StatusBody)))]
async fn rotate(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write_with_side_effect(
            |rq| rq.json::<RotateBody>(),
            |reads, ctx, _body| key_status(reads, ctx),
            |state, body, status| begin(state, &status, body.only_server),
            |_tx, _call, _body, begun| Ok::<_, Failure<Problem>>(begun.clone()),
            |_state, _body, begun| Reply::accepted(StatusBody::from(begun)),
        )
        .await
}

fn key_status(reads: &mut dyn Reads, ctx: &Context<'_>) -> Result<KeyStatus, Failure<Problem>> {
    ctx.require_board()
        .map_err(|denied| Failure::Refused(Problem::refused(denied)))?;
    Ok(master_key::status(reads, ctx.vault)?)
}

fn begin(state: &State, status: &KeyStatus, only_server: bool) -> Result<KeyStatus, Problem> {
    if status.source == KeySource::File && state.key_rotation == KeyRotation::Shared && !only_server
    {
        return Err(Problem::new(
            Code::KeyRotationUnavailable,
            "other servers may use this database and would need the new key first: stop them and \
             say {\"onlyServer\": true}, then give them the new master.key; or give every server \
             its key as WORKFORCE_MASTER_KEY and the other as WORKFORCE_MASTER_KEY_PREVIOUS",
        ));
    }
    let former = status.current;
    let vault = &state.ports.vault;
    match vault.change_key() {
        Ok(current) => {
            tracing::info!(%former, %current, "the master key is being changed");
            Ok(KeyStatus {
                current,
                former: vault.former_keys(),
                ..*status
            })
        }
        Err(KeyChangeError::Given) => Err(Problem::new(
            Code::KeyRotationUnavailable,
            "the master key comes from WORKFORCE_MASTER_KEY: start the server with the new key \
             there and the present one in WORKFORCE_MASTER_KEY_PREVIOUS; it seals everything anew \
             by itself",
        )),
        Err(error @ KeyChangeError::InProgress) => {
            Err(Problem::new(Code::KeyRotationInProgress, error.to_string()))
        }
        Err(error @ KeyChangeError::Failed(_)) => Err(Problem::internal(&error)),
    }
}
