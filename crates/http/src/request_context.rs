//! One request and its answer: what every handler has in common.

mod agent_by_name;
mod execute;
mod pool;
mod queued_write;
mod request;
mod response;
mod scrubbing;
mod sessions;
mod side_effect;
mod tickets;

pub(crate) use request::{Request, TICKET};

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use workforce_app::{Context, Failure, Refusal};
use workforce_domain::port::{DURABLE_WITHIN, Reads, Store, StoreError, Tx};

use crate::access_rules::Access;
use crate::headers::{LAST_EVENT, NEXT_CURSOR, REPLAYED, WARNING};
use crate::paging::{self, next_link};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::state::State;
use crate::turn::PATIENCE;
use crate::waiting_writes::Room;
use execute::StreamRead;
pub(crate) use execute::caller_name;
pub(crate) use pool::in_pool;
use queued_write::Steps;
use response::Response;

/// An answer below this size is not worth compressing.
const COMPRESSED_FROM: usize = 16 * 1024;

/// A request on its way to an answer. A handler says how the request becomes
/// an input (`parse`), which use case serves it (`act`) and how the outcome is
/// answered (`answer`); all three run on threads that may block.
///
/// The caller is authenticated in the transaction of the use case and before
/// anything about the input is told: 401, 403, then 400 or 404, then the use
/// case's own refusal.
pub(crate) struct RequestContext {
    pub(crate) state: Arc<State>,
    pub(crate) request: Request,
    pub(crate) access: Access,
    /// Held by a write from before it waits for its turn until it is served.
    pub(crate) room: Option<Room>,
}

/// A request and what is answered, or why it is not served.
type Served = Result<(RequestContext, Response), Problem>;

impl RequestContext {
    /// Serves a request that changes nothing.
    pub(crate) async fn read<I, T, E, B>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> Reply<B> + Send + 'static,
    ) -> HttpResponse
    where
        E: Refusal,
        B: Serialize,
    {
        self.run_reading(move |rqctx| rqctx.read_now(parse, act, |_, value| Ok(answer(value))))
            .await
    }

    /// Serves a request that changes nothing, and whose answer needs more than
    /// the store: `finish` runs after the transaction.
    pub(crate) async fn read_and<I, T, E, B>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        finish: impl FnOnce(&State, T) -> Result<Reply<B>, Problem> + Send + 'static,
    ) -> HttpResponse
    where
        E: Refusal,
        B: Serialize,
    {
        self.run_reading(move |rqctx| rqctx.read_now(parse, act, finish))
            .await
    }

    /// Serves the part of a request that only looks, for a handler that goes on
    /// by itself with what was found.
    ///
    /// # Errors
    /// The answer, when there is nothing to go on with.
    pub(crate) async fn preflight<I, T, E>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<(Self, T), HttpResponse>
    where
        T: Send + 'static,
        E: Refusal,
    {
        let request_id = self.request.request_id.clone();
        let looked = self.look(parse, act).await;
        looked.map_err(|problem| problem.answer(&request_id))
    }

    /// The same for a caller that answers refusals in its own way.
    ///
    /// # Errors
    /// Why there is nothing to go on with.
    pub(crate) async fn look<I, T, E>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<(Self, T), Problem>
    where
        T: Send + 'static,
        E: Refusal,
    {
        let span = tracing::Span::current();
        let looked = in_pool(Duration::ZERO, move || {
            let _entered = span.enter();
            let found = self.preflight_now(parse, act);
            found.map(|(found, _ignored_run)| (self, found))
        });
        looked.await
    }

    /// The answer to a request that a handler refuses by itself.
    pub(crate) fn refuse(&self, problem: Problem) -> HttpResponse {
        problem.answer(&self.request.request_id)
    }

    /// The same request with a body in the place of the one that was streamed:
    /// a description of what was received, equal for equal requests, so that a
    /// repetition is recognised.
    pub(crate) fn describing(self, received: Vec<u8>) -> Self {
        self.with_body(received.into())
    }

    /// The same request with its body.
    pub(crate) fn with_body(mut self, body: Bytes) -> Self {
        self.request.body = body;
        self
    }

    /// Scopes the stored response to the presented credential: another one of
    /// the same caller does not get it by repeating the request.
    pub(crate) const fn of_credential(mut self) -> Self {
        self.request.is_of_credential = true;
        self
    }

    /// Serves a request that changes something. A repetition under the same
    /// `Idempotency-Key` gets the first answer.
    pub(crate) async fn write<I, T, E, B>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> Reply<B> + Send + 'static,
    ) -> HttpResponse
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + Send + 'static,
    {
        let request_id = self.request.request_id.clone();
        answered(self.written(parse, act, answer).await, &request_id)
    }

    /// Does what the form of a page asks for, and tells what its answer says. A repetition is told
    /// the same as the first time.
    ///
    /// # Errors
    /// Why it was not done.
    pub(crate) async fn act<I, T, E, B>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> Reply<B> + Send + 'static,
    ) -> Result<B, Problem>
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + DeserializeOwned + Send + 'static,
    {
        let (rqctx, served) = self.written(parse, act, answer).await?;
        if served.signal {
            rqctx.state.ports.engine.nudge();
        }
        serde_json::from_slice(&served.body).map_err(|error| Problem::internal(&error))
    }

    async fn written<I, T, E, B>(
        mut self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> Reply<B> + Send + 'static,
    ) -> Served
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + Send + 'static,
    {
        self.take_room()?;
        if self.state.ports.store.has_one_writer() {
            let steps = Steps { parse, act, answer };
            self.write_in_line(steps).await
        } else {
            self.run_writing(move |rqctx| rqctx.write_now(parse, act, answer))
                .await
        }
    }

    /// A look at the store for a stream, which is no answer yet. The first one
    /// counts as a sign of life of the caller.
    ///
    /// # Errors
    /// Why the caller may not, or no longer, read.
    pub(crate) async fn read_for_stream<T, E>(
        self: &Arc<Self>,
        is_first: bool,
        act: impl Fn(&mut dyn Reads, &Context<'_>) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<StreamRead<T>, Problem>
    where
        T: Send + 'static,
        E: Refusal,
    {
        let rqctx = Arc::clone(self);
        in_pool(Duration::ZERO, move || {
            rqctx.read_for_stream_now(is_first, act)
        })
        .await
    }

    /// Takes part in the room of all writes that wait, with the body that the request has now.
    ///
    /// # Errors
    /// `busy` when there is no room for it; `body_too_large` when there never is.
    fn take_room(&mut self) -> Result<(), Problem> {
        self.room = Some(self.state.waiting_writes.room(&self.request.body)?);
        Ok(())
    }

    /// One hop to the threads that read, and back.
    async fn run_reading(
        self,
        serve: impl FnOnce(&Self) -> Result<Response, Problem> + Send + 'static,
    ) -> HttpResponse {
        if !self.state.ports.store.has_one_writer() {
            return self.run_blocking(Duration::ZERO, serve).await;
        }
        let request_id = self.request.request_id.clone();
        let state = Arc::clone(&self.state);
        let store = Arc::clone(&state.ports.store);
        let serve = self.serving(serve);
        let read = state.store_lane.read(move || (serve(), durable(&*store)));
        let served = match read.await {
            Ok((served, durable)) => until(durable).await.and(served),
            Err(problem) => Err(problem),
        };
        answered(served, &request_id)
    }

    /// One hop to the threads that write to a store which has more than one writer, and back.
    async fn run_writing(
        self,
        serve: impl FnOnce(&Self) -> Result<Response, Problem> + Send + 'static,
    ) -> Served {
        let state = Arc::clone(&self.state);
        let served = state.store_lane.write(PATIENCE, self.serving(serve)).await;
        served.flatten()
    }

    /// One hop to the blocking pool and back. It may begin for so long after its client has left.
    async fn run_blocking(
        self,
        when_left: Duration,
        serve: impl FnOnce(&Self) -> Result<Response, Problem> + Send + 'static,
    ) -> HttpResponse {
        let request_id = self.request.request_id.clone();
        let served = in_pool(when_left, self.serving(serve)).await;
        answered(served, &request_id)
    }

    /// What is done on another thread.
    fn serving(
        mut self,
        serve: impl FnOnce(&Self) -> Result<Response, Problem> + Send + 'static,
    ) -> impl FnOnce() -> Served + Send + 'static {
        let span = tracing::Span::current();
        move || {
            let _entered = span.enter();
            let outcome = self.scrub().and_then(|()| serve(&self));
            outcome.map(|response| (self, response))
        }
    }

    fn answer(&self, served: Response) -> HttpResponse {
        if served.signal {
            self.state.ports.engine.nudge();
        }
        let mut response = HttpResponse::build(served.status);
        response.content_type("application/json");
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        if served.body.len() < COMPRESSED_FROM {
            response.insert_header((header::CONTENT_ENCODING, "identity"));
        }
        if let Some(tag) = served.tag {
            response.insert_header((header::ETAG, tag));
        }
        if served.replayed {
            response.insert_header((REPLAYED, "true"));
        }
        if served.ignored_run {
            response.insert_header((
                WARNING,
                "the run header names no run of this agent; ignored",
            ));
        }
        if let Some(warning) = self.request.warning() {
            response.append_header((WARNING, warning));
        }
        if let Some(place) = served.next_place {
            let cursor = paging::cursor(&self.request.path, &place);
            let link = next_link(&self.request.path, &self.request.query, &cursor);
            response.insert_header((header::LINK, link));
            response.insert_header((NEXT_CURSOR, cursor));
        }
        if let Some(number) = served.last_event_id {
            response.insert_header((LAST_EVENT, number.to_string()));
        }
        response.body(served.body)
    }
}

/// Told when all that can be seen now is durable.
fn durable(store: &dyn Store) -> oneshot::Receiver<()> {
    let (sender, told) = oneshot::channel();
    store.when_durable(Box::new(move || {
        // Whoever does not wait any more need not know.
        let _ = sender.send(());
    }));
    told
}

/// Waits for that, but not for a disk that is away.
async fn until(durable: oneshot::Receiver<()>) -> Result<(), Problem> {
    let away = || StoreError::Unavailable("what was seen is not durable".into()).into();
    match tokio::time::timeout(DURABLE_WITHIN, durable).await {
        Ok(told) => told.map_err(|_dropped| away()),
        Err(_elapsed) => Err(away()),
    }
}

fn answered(served: Served, request_id: &str) -> HttpResponse {
    match served {
        Ok((rqctx, response)) => rqctx.answer(response),
        Err(problem) => problem.answer(request_id),
    }
}
