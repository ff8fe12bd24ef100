//! What happens on threads that may block.

use serde::Serialize;
use workforce_app::access::Denied;
use workforce_app::authenticate::{
    AuthError, Authenticated, authenticate, authenticate_holder, known_at_sight,
};
use workforce_app::{Code, Context, Failure, Refusal, Signal, board_sessions};
use workforce_domain::actor::Actor;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::time::Timestamp;

use super::response::{Response, ServedWrite};
use super::{Request, RequestContext};
use crate::access_rules::Access;
use crate::idempotency::{IdempotentRequest, KeyGuard};
use crate::problem::{Problem, into_problem};
use crate::reply::Reply;
use crate::state::State;

/// What a request that changes something says.
pub(super) struct ParsedWrite<I> {
    pub(super) input: I,
    /// The request as one that may be a repetition, when it carries a key.
    pub(super) repeatable: Option<IdempotentRequest>,
}

impl RequestContext {
    /// Serves a read. Its answer may show what is not durable yet.
    pub(super) fn read_now<I, T, E: Refusal, B: Serialize>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>>,
        finish: impl FnOnce(&State, T) -> Result<Reply<B>, Problem>,
    ) -> Result<Response, Problem> {
        let now = self.state.ports.clock.now();
        let input = self.request.input(parse);
        let store = &self.state.ports.store;
        let (value, ignored_run) = store
            .read_early(|reads| self.look_within(reads, now, &input, &act))
            .map_err(into_problem)?;
        Response::encode(&finish(&self.state, value)?, ignored_run)
    }

    /// What `act` finds, and whether the run header was ignored.
    pub(super) fn preflight_now<I, T, E: Refusal>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>>,
    ) -> Result<(T, bool), Problem> {
        self.look_with(&parse(&self.request), act)
    }

    /// The same for an input that is parsed already.
    pub(super) fn look_with<I, T, E: Refusal>(
        &self,
        input: &Result<I, Problem>,
        act: impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>>,
    ) -> Result<(T, bool), Problem> {
        let now = self.state.ports.clock.now();
        let store = &self.state.ports.store;
        store
            .read(|reads| self.look_within(reads, now, input, &act))
            .map_err(into_problem)
    }

    /// A look at the store within its transaction. Who asks is found out before
    /// what is wrong with the input is told.
    fn look_within<I, T, E: Refusal>(
        &self,
        reads: &mut dyn Reads,
        now: Timestamp,
        input: &Result<I, Problem>,
        act: &impl Fn(&mut dyn Reads, &Context<'_>, &I) -> Result<T, Failure<E>>,
    ) -> Result<(T, bool), Failure<Problem>> {
        let caller = self.admit(reads, now)?;
        let input = match input {
            Ok(input) => input,
            Err(problem) => return Err(self.told_by_name(reads, &caller, now, problem)),
        };
        let signal = Signal::default();
        let value = act(reads, &self.context(&caller, now, &signal), input)
            .map_err(|failure| failure.map(Problem::refused))?;
        Ok((value, caller.ignored_run))
    }

    pub(super) fn write_now<I, T, E: Refusal, B: Serialize>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>>,
        answer: impl Fn(T) -> Reply<B>,
    ) -> Result<Response, Problem> {
        let parsed = self.parsed_or_refused(parse)?;
        let _claim = self.claim(parsed.repeatable.as_ref())?;
        let store = &self.state.ports.store;
        store
            .write(|tx| self.serve_write(tx, &parsed, &act, &answer))
            .map_err(into_problem)?
            .response()
    }

    /// The input of a request that changes something. What cannot be served must not queue for
    /// the right to write: who asks is found out before its fault is told.
    pub(super) fn parsed_or_refused<I>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
    ) -> Result<ParsedWrite<I>, Problem> {
        let parsed = self.parsed(parse);
        parsed
            .map(|(input, repeatable)| ParsedWrite { input, repeatable })
            .map_err(|problem| {
                let ports = &self.state.ports;
                let now = ports.clock.now();
                let told = ports.store.read(|reads| {
                    let caller = self.admit(reads, now)?;
                    Ok(self.told_by_name(reads, &caller, now, &problem))
                });
                told.map_or_else(into_problem, into_problem)
            })
    }

    /// Serves a write within its transaction.
    pub(super) fn serve_write<I, T, E: Refusal, B: Serialize>(
        &self,
        tx: &mut dyn Tx,
        parsed: &ParsedWrite<I>,
        act: &impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>>,
        answer: &impl Fn(T) -> Reply<B>,
    ) -> Result<ServedWrite<B>, Failure<Problem>> {
        let ParsedWrite { input, repeatable } = parsed;
        let vault = &*self.state.ports.vault;
        let now = self.state.ports.clock.now();
        let caller = self.admit(tx.reads(), now)?;
        let name = caller_name(&caller.caller.actor);
        if let Some(repeatable) = repeatable
            && let Some(first) = repeatable.find(tx, vault, &name, now)?
        {
            let response = Response::replay(first, caller.ignored_run);
            return Ok(ServedWrite::Response(response));
        }
        let signal = Signal::default();
        let value = act(tx, &self.context(&caller, now, &signal), input)
            .map_err(|failure| failure.map(Problem::refused))?;
        let served = ServedWrite::Reply {
            reply: answer(value),
            ignored_run: caller.ignored_run,
            signal: signal.is_raised(),
        };
        let Some(repeatable) = repeatable else {
            return Ok(served);
        };
        let response = served.response().map_err(Failure::Refused)?;
        repeatable.keep(tx, vault, &name, now, response.kept())?;
        Ok(ServedWrite::Response(response))
    }

    /// The input of a request that changes something, and its key.
    pub(super) fn parsed<I>(
        &self,
        parse: impl FnOnce(&Request) -> Result<I, Problem>,
    ) -> Result<(I, Option<IdempotentRequest>), Problem> {
        let input = self.request.input(parse)?;
        Ok((input, self.request.repeatable()?))
    }

    /// Takes the key of a request until it is served.
    pub(super) fn claim(
        &self,
        repeatable: Option<&IdempotentRequest>,
    ) -> Result<Option<KeyGuard>, Problem> {
        let credential = self.request.presented().authorization;
        let claim = |it: &IdempotentRequest| self.state.in_flight.claim(credential, it.key());
        repeatable.map(claim).transpose()
    }

    pub(super) fn context<'a>(
        &'a self,
        caller: &'a Authenticated,
        now: Timestamp,
        signal: &'a Signal,
    ) -> Context<'a> {
        Context {
            caller: &caller.caller,
            now,
            server: self.state.ports.governed.server(),
            ids: &*self.state.ports.ids,
            tokens: &*self.state.ports.tokens,
            vault: &*self.state.ports.vault,
            prices: &self.state.ports.prices,
            strict_secrets: self.state.strict_secrets,
            signal,
            company: None,
        }
    }

    /// Looks at the store for a stream: who asks, and what `act` finds. A look
    /// that is not the first one is no sign of life of the caller.
    pub(super) fn read_for_stream_now<T, E: Refusal>(
        &self,
        is_first: bool,
        act: impl Fn(&mut dyn Reads, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> Result<StreamRead<T>, Problem> {
        let ports = &self.state.ports;
        let now = ports.clock.now();
        ports
            .store
            .read(|reads| {
                let caller = if is_first {
                    self.admit(reads, now)?
                } else {
                    self.identify(reads, now)?
                };
                let signal = Signal::default();
                let value = act(reads, &self.context(&caller, now, &signal))
                    .map_err(|failure| failure.map(Problem::refused))?;
                Ok(StreamRead {
                    caller: caller_name(&caller.caller.actor),
                    value,
                })
            })
            .map_err(into_problem)
    }

    /// Finds out who asks and whether the route is for them, and notes that
    /// they did.
    pub(super) fn admit(
        &self,
        reads: &mut dyn Reads,
        now: Timestamp,
    ) -> Result<Authenticated, Failure<Problem>> {
        let caller = self.identify(reads, now)?;
        if let Some(used) = caller.used {
            self.state.credential_uses().note(used, now);
        }
        // A run that calls is alive, even when it prints nothing.
        if let Some(run) = caller.caller.actor.run() {
            self.state.ports.engine.run_is_active(run);
        }
        Ok(caller)
    }

    /// Whether the board asks, as far as that is known without the store.
    pub(crate) fn is_board_at_sight(&self) -> bool {
        let presented = self.request.presented();
        let (state, tokens) = (&*self.state, &*self.state.ports.tokens);
        let known = known_at_sight(tokens, state.auth, presented);
        let is_board = matches!(known, Ok(Some(_))) && !self.request.brings_ticket();
        if let (true, Some(limiter), Some(authorization)) =
            (is_board, &state.limiter, presented.authorization)
        {
            limiter.learn(authorization, true);
        }
        is_board
    }

    /// Finds out who asks and whether the route is for them.
    fn identify(
        &self,
        reads: &mut dyn Reads,
        now: Timestamp,
    ) -> Result<Authenticated, Failure<Problem>> {
        let state = &*self.state;
        let presented = self.request.presented();
        let tokens = &*state.ports.tokens;
        let outcome = match (&self.request.ticket, &self.request.session) {
            (Some(ticket), _) => authenticate_holder(reads, now, state.auth, ticket.holder),
            // A ticket on a route that takes none is an invalid credential, even
            // beside a valid one.
            (None, _) if self.request.brings_ticket() => {
                return Err(Failure::Refused(Problem::refused(AuthError::Invalid)));
            }
            (None, Some(session)) => {
                board_sessions::authenticate(reads, tokens, now, state.auth, session)
            }
            (None, None) => authenticate(reads, tokens, now, state.auth, presented),
        };
        if let (Some(limiter), Some(authorization)) = (&state.limiter, presented.authorization) {
            match outcome {
                Ok(_) => limiter.learn(authorization, true),
                Err(Failure::Refused(AuthError::Invalid | AuthError::AgentInactive)) => {
                    limiter.learn(authorization, false);
                }
                Err(Failure::Refused(_) | Failure::Store(_)) => {}
            }
        }
        let caller = outcome.map_err(|failure| failure.map(Problem::refused))?;
        let actor = &caller.caller.actor;
        let elsewhere = self.request.ticket.as_ref().is_some_and(|ticket| {
            let named = self.request.id::<CompanyId>("companyId");
            named.ok() != Some(ticket.company)
        });
        if elsewhere {
            let denied = Denied::CompanyForbidden;
            return Err(Failure::Refused(Problem::refused(denied)));
        }
        let refused = match self.access {
            Access::Board => (!actor.is_board())
                .then(|| Problem::new(Code::BoardRequired, "only the board may do this")),
            Access::Agent => actor
                .agent()
                .is_none()
                .then(|| Problem::new(Code::AgentRequired, "authenticate as an agent to ask this")),
            // The rest is the use case's to check, which has the object at hand.
            _ => None,
        };
        if let Some(problem) = refused {
            return Err(Failure::Refused(problem));
        }
        Ok(caller)
    }
}

/// What a look at the store found.
pub(crate) struct StreamRead<T> {
    /// A name for the caller.
    pub(crate) caller: String,
    /// What was found.
    pub(crate) value: T,
}

/// Whose requests an idempotency key belongs to: an agent may repeat in a later
/// run what its last one did not see the answer to.
pub(crate) fn caller_name(actor: &Actor) -> String {
    format!("{}:{}", actor.kind(), actor.name())
}
