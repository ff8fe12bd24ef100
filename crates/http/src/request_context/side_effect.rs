//! Serving a request whose effect is not the store's alone.

use serde::Serialize;
use workforce_app::{Context, Failure, Refusal, Signal};
use workforce_domain::port::{Reads, Tx};

use super::execute::{Response, caller_name};
use super::{Request, RequestContext};
use crate::problem::{Problem, into_problem};
use crate::reply::Reply;
use crate::state::State;

impl RequestContext {
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
