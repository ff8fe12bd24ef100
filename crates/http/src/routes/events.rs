mod params;
mod pump;
mod socket;
mod tickets;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use params::EventParams;

use crate::streams::EventView;
use actix_web::HttpResponse;
use actix_web::http::header;
use workforce_app::events::{self, EventPage, Opening};
use workforce_app::{Code, Codes, stream_tickets};

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::streams::{self, EVENT_STREAM};
use pump::EventPump;
use transport::Transport;

const TAG: &str = "Events";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(
            __path_events,
            Access::Anyone,
            Codes::with(&[], &[events::PAGE, streams::ENTER]),
            events,
        )
        .add_streaming(
            socket::__path_socket,
            Access::Anyone,
            Codes::with(&[Code::InvalidRequest], &[streams::ENTER, streams::UPGRADE]),
            socket::socket,
        )
        .add(
            tickets::__path_ticket,
            Access::Anyone,
            stream_tickets::ISSUE,
            tickets::ticket,
        )
}

/// What happens in a company, as it happens. It is a stream of server-sent
/// events, each with its number as `id`, its kind as `event` and the event
/// object as `data`. First comes what happened after the number that the reader
/// has seen, then the rest as it comes, without gaps and without repetition; a
/// reader that lost the connection comes back with `Last-Event-ID`. When what
/// it has not seen is not kept any more, an event `reset` says so first: the
/// reader then looks at everything anew. Asked for as `application/json`, it is
/// a list that ends, for callers that ask again and again.
#[utoipa::path(get, path = "/api/companies/{companyId}/events", tag = TAG,
    operation_id = "streamEvents",
    params(
        ("after" = Option<u64>, Query,
            description = "Begins after the event with this number; 0 begins with the oldest. \
                Left out, a stream begins with what happens next and a list with the oldest."),
        ("types" = Option<String>, Query,
            description = "Kinds of events, separated by commas; all when left out."),
        ("ticket" = Option<String>, Query,
            description = "Of a stream: a ticket, in the place of a credential."),
        ("limit" = Option<u16>, Query, minimum = 1, maximum = 500,
            description = "A list looks at so many events at most; 1000 when left out."),
        ("cursor" = Option<String>, Query,
            description = "Continues a list: its `X-Next-Cursor`."),
        ("Last-Event-ID" = Option<u64>, Header,
            description = "The same as `after`, and wins over it."),
    ),
    responses(
        (status = 200, description = "The events.",
            content((Vec<EventView> = "application/json"), (String = "text/event-stream")),
            headers(("X-Last-Event-Id" = i64,
                description = "Of a list: what to send as `after` next time."))),
    ))]
async fn events(rqctx: RequestContext) -> HttpResponse {
    if rqctx.request.wants_stream(true) {
        let request_id = rqctx.request.request_id.clone();
        let opened = stream(rqctx).await;
        return opened.unwrap_or_else(|problem| problem.answer(&request_id));
    }
    rqctx
        .read(
            |rq| {
                let page = rq.page::<i64>()?;
                let mut params = EventParams::parse(rq)?;
                params.after = page.after.or(params.after);
                Ok((params, page.limit))
            },
            |reads, ctx, (params, limit)| {
                let page = events::page(reads, ctx, params.company, params.after, *limit)?;
                Ok((page, params.clone()))
            },
            |(page, params)| listed(page, &params),
        )
        .await
}

fn listed(page: EventPage, params: &EventParams) -> Reply<Vec<EventView>> {
    let EventPage {
        events,
        next_after,
        more,
    } = page;
    let events = events
        .into_iter()
        .filter(|numbered| params.has(numbered.event.kind))
        .map(EventView::from);
    let mut reply = Reply::ok(events.collect());
    reply.next_place = more.then(|| paging::place(&next_after)).flatten();
    reply.last_event_id = Some(next_after);
    reply
}

/// What a stream begins with.
struct Opened {
    params: EventParams,
    opening: Opening,
    /// A name for the caller.
    caller: String,
}

/// Looks who asks, and where the stream begins.
async fn open(rqctx: &Arc<RequestContext>) -> Result<Opened, Problem> {
    let params = EventParams::parse(&rqctx.request);
    let asked = params.clone();
    let looked = rqctx
        .read_for_stream(true, move |reads, ctx| {
            let params = asked.clone().map_err(workforce_app::Failure::Refused)?;
            events::open(reads, ctx, params.company, params.after)
                .map_err(|failure| failure.map(Problem::refused))
        })
        .await?;
    Ok(Opened {
        params: params?,
        opening: looked.value,
        caller: looked.caller,
    })
}

pub(crate) async fn stream(rqctx: RequestContext) -> Result<HttpResponse, Problem> {
    let keep_alive = rqctx.state.streams().limits().keep_alive;
    stream_kept_alive(rqctx, keep_alive).await
}

/// The same stream for a reader who is sent something whenever so much time passes in silence.
/// That somebody left is noticed soon after that only.
pub(crate) async fn stream_kept_alive(
    rqctx: RequestContext,
    keep_alive: Duration,
) -> Result<HttpResponse, Problem> {
    let rqctx = Arc::new(rqctx.redeem().await?);
    let Opened {
        params,
        opening,
        caller,
    } = open(&rqctx).await?;
    if rqctx.request.method == "HEAD" {
        return Ok(HttpResponse::Ok()
            .content_type(EVENT_STREAM)
            .insert_header((header::CACHE_CONTROL, "no-store, no-transform"))
            .finish());
    }
    let streams = rqctx.state.streams();
    let permit = streams.enter(&caller)?;
    let channel = streams.channel(&rqctx.state.ports.store, opening.company);
    let (sender, response) = streams::answer(permit, EVENT_STREAM);
    let gone = sender.gone();
    let pump = EventPump::new(Arc::clone(&rqctx), params, opening, channel, keep_alive);
    actix_web::rt::spawn(pump.run(Transport::Sse(sender), gone));
    Ok(response)
}
