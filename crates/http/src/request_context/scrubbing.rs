//! The one place where what agents write is cleaned
//! (docs/secrets.md#scrubbing): the body of a request that is made for a run is
//! freed of the values of the run's secrets before anything reads it, text by
//! text. So no use case, no row, no event and no error ever sees them, whatever
//! field they came in.

use std::sync::Arc;

use actix_web::web::Bytes;
use workforce_app::agents::sensitive_inline_values;
use workforce_app::authenticate::{authenticate, bearer, kind_of};
use workforce_app::{Failure, secrets};
use workforce_domain::actor::Actor;
use workforce_domain::id::RunId;
use workforce_domain::port::{Reads, StoreError, TextScrubber, TokenKind};
use workforce_scrub::Patterns;

use super::RequestContext;
use crate::problem::{Problem, into_problem};

impl RequestContext {
    /// Takes the values of the caller's secrets out of the request: those of
    /// its run, and the credential it presents.
    ///
    /// # Errors
    /// When the store fails: what cannot be cleaned is not read either.
    pub(super) fn scrub(&mut self) -> Result<(), Problem> {
        if matches!(self.request.method.as_str(), "GET" | "HEAD") {
            return Ok(());
        }
        let Some(token) = self.request.presented().authorization.and_then(bearer) else {
            return Ok(());
        };
        let token = token.to_owned();
        if let Some(scrubber) = self.scrubber(&token)? {
            self.clean(&*scrubber);
        }
        if contains(&self.request.body, token.as_bytes()) {
            self.clean(&Patterns::of([token.as_str()]));
        }
        Ok(())
    }

    /// Whether [`Self::scrub`] knows all that it needs without a look at the store.
    pub(super) fn scrubs_without_store(&self) -> bool {
        let token = self.request.presented().authorization.and_then(bearer);
        token.is_none_or(|token| self.scrubber_at_hand(token).is_some())
    }

    fn clean(&mut self, scrubber: &dyn TextScrubber) {
        if let Some(clean) = scrubber.scrub_json(&self.request.body) {
            self.request.body = Bytes::from(clean);
        }
        // It is kept with the answer.
        let key = self.request.idempotency_key.as_deref();
        if let Some(clean) = key.and_then(|key| scrubber.scrub(key)) {
            self.request.idempotency_key = Some(clean);
        }
    }

    /// What cleans the texts of the run that the caller acts for, if there is one; nothing when
    /// only the store tells.
    fn scrubber_at_hand(&self, token: &str) -> Option<Option<Arc<dyn TextScrubber>>> {
        let ports = &self.state.ports;
        // The engine knows what it gave out; a token tells its run by itself.
        let digest = ports.tokens.digest(token);
        if let Some(scrubber) = ports.engine.scrubber_of_token(&digest) {
            return Some(Some(scrubber));
        }
        let presented = self.request.presented();
        // Nobody else can act for a run: a look at the store would find none.
        (presented.run_header.is_none() && kind_of(token) != Some(TokenKind::Run)).then_some(None)
    }

    /// The same, with a look at the store where it takes one.
    fn scrubber(&self, token: &str) -> Result<Option<Arc<dyn TextScrubber>>, Problem> {
        if let Some(at_hand) = self.scrubber_at_hand(token) {
            return Ok(at_hand);
        }
        let (ports, presented) = (&self.state.ports, self.request.presented());
        let now = ports.clock.now();
        ports
            .store
            .read(|reads| {
                let auth = self.state.auth;
                let caller = match authenticate(reads, &*ports.tokens, now, auth, presented) {
                    Ok(authenticated) => authenticated.caller,
                    // The transaction of the request tells it so.
                    Err(Failure::Refused(_nobody)) => return Ok(None),
                    Err(Failure::Store(error)) => return Err(Failure::Store(error)),
                };
                let Some(run) = caller.actor.run() else {
                    return Ok(None);
                };
                // Whoever names a run in the header has proven that it is its own.
                if let Some(scrubber) = ports.engine.scrubber_of(run) {
                    return Ok(Some(scrubber));
                }
                let patterns = self.patterns_from_store(reads, &caller.actor, run)?;
                Ok(Some(Arc::new(patterns) as Arc<dyn TextScrubber>))
            })
            .map_err(into_problem)
    }

    /// The same for a run that is live on another server, or has just ended:
    /// what the store knows of it.
    fn patterns_from_store(
        &self,
        reads: &mut dyn Reads,
        actor: &Actor,
        run: RunId,
    ) -> Result<Patterns, StoreError> {
        let mut values = Vec::new();
        if let Some(run) = reads.runs().find(actor.scope(), run)? {
            values = secrets::values_of_run(reads, &*self.state.ports.vault, &run)?;
            if let Some(agent) = reads.agents().find(actor.scope(), run.agent)? {
                let inline = sensitive_inline_values(&agent.adapter_config);
                values.extend(inline.map(str::to_owned));
            }
        }
        Ok(Patterns::of(values.iter().map(String::as_str)))
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    // Only texts worth a look: an empty part is in every text.
    !part.is_empty() && memchr::memmem::find(text, part).is_some()
}
