//! Serving a request whose effect is not the store's alone.

use actix_web::HttpResponse;
use serde::Serialize;
use workforce_app::{Context, Failure, Refusal, Signal};
use workforce_domain::port::{Reads, Tx};

use super::execute::caller_name;
use super::pool::in_pool;
use super::response::Response;
use super::{Request, RequestContext};
use crate::problem::{Problem, into_problem};
use crate::reply::Reply;
use crate::state::State;
use crate::turn::PATIENCE;

/// What a request that changes something finds before it is served.
enum Planned<T> {
    /// What it asked for.
    Found(T),
    /// The answer to an earlier request with its key.
    Answered(Box<Response>),
}

impl RequestContext {
    /// Serves a request that changes something in the store and outside of it,
    /// such as a file. Nothing outside is touched within a transaction: `plan`
    /// looks at the store and checks the caller, `outside` does what is to be
    /// done there, `act` checks again and writes, and `finish` runs after the
    /// commit. The answer to a request with a key is kept last of all: whoever
    /// lost it to a crash in between finds what is done.
    pub(crate) async fn write_with_side_effect<I, P, X, T, E, B>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        plan: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<P, Failure<E>> + Send + 'static,
        outside: impl FnOnce(&State, &I, P) -> Result<X, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I, &X) -> Result<T, Failure<E>> + Send + 'static,
        finish: impl FnOnce(&State, &I, T) -> Reply<B> + Send + 'static,
    ) -> HttpResponse
    where
        E: Refusal,
        B: Serialize,
    {
        let request_id = self.request.request_id.clone();
        let written = self.act_with_side_effect(parse, plan, outside, act, finish);
        let answer = written.await;
        answer.unwrap_or_else(|problem| problem.answer(&request_id))
    }

    /// The same for a caller that answers refusals in its own way.
    ///
    /// # Errors
    /// Why it was not done.
    pub(crate) async fn act_with_side_effect<I, P, X, T, E, B>(
        mut self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        plan: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<P, Failure<E>> + Send + 'static,
        outside: impl FnOnce(&State, &I, P) -> Result<X, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I, &X) -> Result<T, Failure<E>> + Send + 'static,
        finish: impl FnOnce(&State, &I, T) -> Reply<B> + Send + 'static,
    ) -> Result<HttpResponse, Problem>
    where
        E: Refusal,
        B: Serialize,
    {
        self.take_room()?;
        let serve = self.serving(move |rqctx| {
            rqctx.write_with_side_effect_now(parse, plan, outside, act, finish)
        });
        let (rqctx, response) = in_pool(PATIENCE, serve).await?;
        Ok(rqctx.answer(response))
    }

    /// The part of a request that looks, for a handler that does something lengthy
    /// outside of the store before it lets [`write`](Self::write) serve the request. A
    /// request that was served already is answered as it was.
    ///
    /// # Errors
    /// The answer, when there is nothing to go on with.
    pub(crate) async fn plan<I, T, E>(
        mut self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<(Self, T), HttpResponse>
    where
        T: Send + 'static,
        E: Refusal,
    {
        if let Err(problem) = self.take_room() {
            return Err(self.refuse(problem));
        }
        let request_id = self.request.request_id.clone();
        let span = tracing::Span::current();
        let planned = in_pool(PATIENCE, move || {
            let _entered = span.enter();
            let planned = self.scrub().and_then(|()| self.plan_now(parse, act));
            planned.map(|planned| (self, planned))
        });
        match planned.await {
            Ok((mut rqctx, Planned::Found(found))) => {
                // It waits for nothing while the handler does something else.
                rqctx.room = None;
                Ok((rqctx, found))
            }
            Ok((rqctx, Planned::Answered(response))) => Err(rqctx.answer(*response)),
            Err(problem) => Err(problem.answer(&request_id)),
        }
    }

    fn plan_now<I, T, E: Refusal>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>>,
    ) -> Result<Planned<T>, Problem> {
        let ports = &self.state.ports;
        let parsed = self.parsed(parse);
        if let Ok((_, Some(repeatable))) = &parsed {
            let _claim = self.claim(Some(repeatable))?;
            let first = ports.store.write(|tx| {
                let now = ports.clock.now();
                let caller = self.admit(tx.reads(), now)?;
                let name = caller_name(&caller.caller.actor);
                let first = repeatable.find(tx, &*ports.vault, &name, now)?;
                Ok(first.map(|first| Response::replay(first, caller.ignored_run)))
            });
            if let Some(first) = first.map_err(into_problem)? {
                return Ok(Planned::Answered(Box::new(first)));
            }
        }
        let looked = self.look_with(&parsed, |reads, ctx, (input, _repeatable)| {
            act(reads, ctx, input)
        });
        looked.map(|(found, _ignored_run)| Planned::Found(found))
    }

    /// A part of a request that writes, for a handler that does something lengthy
    /// outside of the store afterwards and then lets [`write`](Self::write) or
    /// [`read`](Self::read) serve the request. It is committed whatever comes then.
    ///
    /// # Errors
    /// The answer, when there is nothing to go on with.
    pub(crate) async fn write_part<I, T, E>(
        self,
        parse: impl FnOnce(&Request) -> Result<I, Problem> + Send + 'static,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<(Self, T), HttpResponse>
    where
        T: Send + 'static,
        E: Refusal,
    {
        let request_id = self.request.request_id.clone();
        let span = tracing::Span::current();
        let written = in_pool(PATIENCE, move || {
            let _entered = span.enter();
            let written = self
                .request
                .input(parse)
                .and_then(|input| self.write_part_now(&input, act));
            written.map(|written| (self, written))
        });
        written.await.map_err(|problem| problem.answer(&request_id))
    }

    fn write_part_now<I, T, E: Refusal>(
        &self,
        input: &I,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>>,
    ) -> Result<T, Problem> {
        let ports = &self.state.ports;
        let written = ports.store.write(|tx| {
            let now = ports.clock.now();
            let caller = self.admit(tx.reads(), now)?;
            let signal = Signal::default();
            let value = act(tx, &self.context(&caller, now, &signal), input)
                .map_err(|failure| failure.map(Problem::refused))?;
            Ok((value, signal.is_raised()))
        });
        let (value, raised) = written.map_err(into_problem)?;
        if raised {
            ports.engine.nudge();
        }
        Ok(value)
    }

    pub(super) fn write_with_side_effect_now<I, P, X, T, E: Refusal, B: Serialize>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
        plan: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<P, Failure<E>>,
        outside: impl FnOnce(&State, &I, P) -> Result<X, Problem>,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I, &X) -> Result<T, Failure<E>>,
        finish: impl FnOnce(&State, &I, T) -> Reply<B>,
    ) -> Result<Response, Problem> {
        let ports = &self.state.ports;
        let parsed = self.parsed(parse);
        let looked = self.look_with(&parsed, |reads, ctx, (input, _repeatable)| {
            Ok((caller_name(ctx.actor()), plan(reads, ctx, input)?))
        });
        let ((name, planned), ignored_run) = looked?;
        let (input, repeatable) = parsed?;
        let vault = &*ports.vault;
        let _claim = self.claim(repeatable.as_ref())?;
        let now = ports.clock.now();
        if let Some(repeatable) = &repeatable {
            let first = ports
                .store
                .write(|tx| repeatable.find(tx, vault, &name, now))
                .map_err(into_problem)?;
            if let Some(first) = first {
                return Ok(Response::replay(first, ignored_run));
            }
        }
        let outcome = outside(&self.state, &input, planned)?;
        let (value, ignored_run, raised) = ports
            .store
            .write(|tx| {
                let now = ports.clock.now();
                let caller = self.admit(tx.reads(), now)?;
                let signal = Signal::default();
                let value = act(tx, &self.context(&caller, now, &signal), &input, &outcome)
                    .map_err(|failure| failure.map(Problem::refused))?;
                Ok((value, caller.ignored_run, signal.is_raised()))
            })
            .map_err(into_problem)?;
        let mut served = Response::encode(&finish(&self.state, &input, value), ignored_run)?;
        served.signal = raised;
        if let Some(repeatable) = &repeatable {
            let kept: Result<(), Failure<Problem>> = ports
                .store
                .write(|tx| repeatable.keep(tx, vault, &name, now, served.kept()));
            // What was asked for is done, and that is the answer.
            if let Err(error) = kept {
                tracing::warn!(%error, "an answer is not kept for a repetition of its request");
            }
        }
        Ok(served)
    }
}
