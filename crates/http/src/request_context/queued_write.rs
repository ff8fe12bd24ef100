//! A write that waits in line for a store with one writer.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::oneshot;
use workforce_app::{Context, Failure, Refusal};
use workforce_domain::port::{StoreError, Tx, Verdict};

use super::execute::ParsedWrite;
use super::pool::in_pool;
use super::response::ServedWrite;
use super::{Request, RequestContext, Served};
use crate::idempotency::KeyGuard;
use crate::problem::{Problem, into_problem};
use crate::reply::Reply;
use crate::turn::{PATIENCE, Turn};
use crate::write_lane::Job;

/// A request with a longer body is made ready on the blocking pool.
const SMALL_BODY: usize = 64 * 1024;

/// What a handler brings: how its input is read, served and answered.
pub(super) struct Steps<P, A, R> {
    pub(super) parse: P,
    pub(super) act: A,
    pub(super) answer: R,
}

/// A request on its way through the line.
struct QueuedWrite<I, A, R, B> {
    rqctx: RequestContext,
    parsed: ParsedWrite<I>,
    act: A,
    answer: R,
    /// Held until the request is served, and given back before its answer: whoever has the answer
    /// may repeat the request at once.
    claim: Option<KeyGuard>,
    span: tracing::Span,
    /// What the last run of its body led to.
    outcome: Option<Result<ServedWrite<B>, Problem>>,
    served: oneshot::Sender<Result<(RequestContext, ServedWrite<B>), Problem>>,
}

impl<I, T, E, B, A, R> Job for QueuedWrite<I, A, R, B>
where
    I: Send,
    E: Refusal,
    B: Serialize + Send,
    A: Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send,
    R: Fn(T) -> Reply<B> + Send,
{
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        let _entered = self.span.enter();
        let (rqctx, parsed) = (&self.rqctx, &self.parsed);
        let serve = || rqctx.serve_write(tx, parsed, &self.act, &self.answer);
        let outcome = match catch_unwind(AssertUnwindSafe(serve)) {
            Ok(Ok(served)) => Ok(served),
            Ok(Err(Failure::Refused(problem))) => Err(problem),
            Ok(Err(Failure::Store(error))) => return Err(error),
            Err(panic) => Err(panicked(&*panic)),
        };
        let verdict = if outcome.is_ok() {
            Verdict::Commit
        } else {
            Verdict::RollBack
        };
        self.outcome = Some(outcome);
        Ok(verdict)
    }

    fn end(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self {
            rqctx,
            claim,
            outcome: own,
            served,
            ..
        } = *self;
        let served_with = match outcome {
            Ok(()) => own.unwrap_or_else(|| Err(into_problem(StoreError::Contended.into()))),
            Err(error) => Err(into_problem(Failure::Store(error))),
        };
        drop(claim);
        // Nobody waits any more where the client is gone.
        let _unheard = served.send(served_with.map(|served| (rqctx, served)));
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Problem {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no text");
    Problem::internal(&io::Error::other(format!("a write panicked: {text}")))
}

impl RequestContext {
    /// Serves a write through the line of the store's one writer.
    pub(super) async fn write_in_line<I, T, E, B, P, A, R>(
        mut self,
        steps: Steps<P, A, R>,
    ) -> Served
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + Send + 'static,
        P: FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        A: Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        R: Fn(T) -> Reply<B> + Send + 'static,
    {
        let ready = if self.request.body.len() <= SMALL_BODY && self.scrubs_without_store() {
            self.make_ready(steps.parse).map(|ready| (self, ready))
        } else {
            let made = in_pool(PATIENCE, move || {
                let ready = self.make_ready(steps.parse);
                ready.map(|ready| (self, ready))
            });
            made.await
        };
        let (rqctx, (parsed, claim)) = ready?;
        let (served, outcome) = oneshot::channel();
        let state = Arc::clone(&rqctx.state);
        let job = QueuedWrite {
            rqctx,
            parsed,
            act: steps.act,
            answer: steps.answer,
            claim,
            span: tracing::Span::current(),
            outcome: None,
            served,
        };
        let turn = Turn::of(Box::new(job) as Box<dyn Job>);
        state.write_lane.submit(&state.ports.store, turn.clone());
        let outcome = turn.outcome(PATIENCE, PATIENCE, outcome).await;
        let (rqctx, served) = outcome.flatten()?;
        Ok((rqctx, served.response()?))
    }

    /// All that comes before the transaction.
    fn make_ready<I>(
        &mut self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
    ) -> Result<(ParsedWrite<I>, Option<KeyGuard>), Problem> {
        self.scrub()?;
        let parsed = self.parsed_or_refused(parse)?;
        let claim = self.claim(parsed.repeatable.as_ref())?;
        Ok((parsed, claim))
    }
}
