//! Serving a request whose effect is not the store's alone.

use serde::Serialize;
use workforce_app::{Call, Failure, Refusal, Signal};
use workforce_domain::port::{Reads, Tx};

use super::serve::{Served, caller_name};
use super::{Exchange, Incoming};
use crate::problem::{Problem, settled};
use crate::reply::Reply;
use crate::state::State;

impl Exchange {
    pub(super) fn write_around_now<I, P, X, T, E: Refusal, B: Serialize>(
        &self,
        parse: impl FnOnce(&Incoming) -> Result<I, Problem>,
        plan: impl Fn(&mut dyn Reads, &Call<'_>, &I) -> Result<P, Failure<E>>,
        outside: impl FnOnce(&State, &I, P) -> Result<X, Problem>,
        act: impl Fn(&mut dyn Tx, &Call<'_>, &I, &X) -> Result<T, Failure<E>>,
        finish: impl FnOnce(&State, &I, T) -> Reply<B>,
    ) -> Result<Served, Problem> {
        let ports = &self.state.ports;
        let parsed = self.parsed(parse);
        let looked = self.look_with(&parsed, |reads, call, (input, _repeatable)| {
            Ok((caller_name(call.actor()), plan(reads, call, input)?))
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
                .map_err(settled)?;
            if let Some(first) = first {
                return Ok(Served::again(first, ignored_run));
            }
        }
        let outcome = outside(&self.state, &input, planned)?;
        let (value, ignored_run, raised) = ports
            .store
            .write(|tx| {
                let now = ports.clock.now();
                let caller = self.admit(tx.reads(), now)?;
                let signal = Signal::default();
                let value = act(tx, &self.call(&caller, now, &signal), &input, &outcome)
                    .map_err(|failure| failure.map(Problem::refused))?;
                Ok((value, caller.ignored_run, signal.is_raised()))
            })
            .map_err(settled)?;
        let mut served = Served::encode(&finish(&self.state, &input, value), ignored_run)?;
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
