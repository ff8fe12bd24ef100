//! Events over a WebSocket.

use std::sync::Arc;

use actix_web::HttpResponse;

use super::pump::EventPump;
use super::transport::Transport;
use super::{Opened, TAG, open};
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::streamed_request::StreamedRequest;
use crate::streams::accept;

/// The same events over a WebSocket: each text message is one event as in the
/// list.
///
/// The first message has the type `position`: its `id` is what the reader would send as `after` next time,
/// and so is the `id` of every message; another one comes when events that
/// `types` leaves out went by. A message of the type `reset` says that what the
/// reader has not seen is not kept any more. What the reader sends is ignored,
/// within bounds. The server closes with 1008 when the reader may read no
/// longer, or sends too much, with 1009 when it sends a frame above 4 KiB,
/// and with 1001 when the server stops.
#[utoipa::path(get, path = "/api/companies/{companyId}/events/ws", tag = TAG,
    operation_id = "openEventSocket",
    params(
        ("after" = Option<u64>, Query,
            description = "Begins after the event with this number; 0 begins with the oldest. \
                Left out, it begins with what happens next."),
        ("types" = Option<String>, Query,
            description = "Kinds of events, separated by commas; all when left out."),
        ("ticket" = Option<String>, Query,
            description = "A ticket, in the place of a credential."),
        ("Last-Event-ID" = Option<u64>, Header,
            description = "The same as `after`, and wins over it."),
    ),
    responses((status = 101, description = "The WebSocket is open.")))]
pub(super) async fn socket(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    let request_id = rqctx.request.request_id.clone();
    let accepted = accepted(rqctx, connection).await;
    accepted.unwrap_or_else(|problem| problem.answer(&request_id))
}

async fn accepted(
    rqctx: RequestContext,
    connection: StreamedRequest,
) -> Result<HttpResponse, Problem> {
    let rqctx = Arc::new(rqctx.redeem().await?);
    let Opened {
        params,
        opening,
        caller,
    } = open(&rqctx).await?;
    let streams = rqctx.state.streams();
    let (socket, client, response) = accept(connection, || streams.enter(&caller))?;
    let channel = streams.channel(&rqctx.state.ports.store, opening.company);
    let keep_alive = streams.limits().keep_alive;
    let pump = EventPump::new(Arc::clone(&rqctx), params, opening, channel, keep_alive);
    actix_web::rt::spawn(pump.run(Transport::Socket(socket), client.gone()));
    Ok(response)
}
