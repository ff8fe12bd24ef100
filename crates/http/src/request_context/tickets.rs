//! A ticket in the place of a credential (docs/events.md#tickets). It stands in
//! the address, where a browser can put it, and opens one stream.

use workforce_app::Failure;
use workforce_app::authenticate::AuthError;
use workforce_app::stream_tickets;
use workforce_domain::ticket::StreamTicket;

use super::RequestContext;
use super::pool::in_pool;
use super::request::TICKET;
use crate::problem::{Problem, into_problem};
use crate::turn::PATIENCE;

impl RequestContext {
    /// Uses up the ticket that the request brings, if it brings one: from then
    /// on it asks as the ticket's holder. A ticket is used up whatever comes of
    /// the request.
    ///
    /// # Errors
    /// `credential_invalid`, or the failure of the store.
    pub(crate) async fn redeem(mut self) -> Result<Self, Problem> {
        if !self.request.brings_ticket() {
            return Ok(self);
        }
        let redeemed = in_pool(PATIENCE, move || {
            self.request.ticket = Some(self.redeem_now()?);
            Ok(self)
        });
        redeemed.await
    }

    fn redeem_now(&self) -> Result<StreamTicket, Problem> {
        let ports = &self.state.ports;
        let invalid = || Problem::refused(AuthError::Invalid);
        let query = self.request.query()?;
        let value = query.text(TICKET)?.ok_or_else(invalid)?;
        // Of two credentials neither is.
        if self.request.presented().authorization.is_some() {
            return Err(invalid());
        }
        let now = ports.clock.now();
        let (tokens, policy) = (&*ports.tokens, self.state.auth);
        // Looked up with a read first: an invalid ticket must not queue for the right to
        // write.
        let found = ports
            .store
            .read(|reads| {
                stream_tickets::find(reads, tokens, policy, value, now).map_err(Failure::Store)
            })
            .map_err(into_problem)?;
        let ticket = found.ok_or_else(invalid)?;
        let is_taken = ports
            .store
            .write(|tx| stream_tickets::take(tx, &ticket).map_err(Failure::Store))
            .map_err(into_problem)?;
        is_taken.then_some(ticket).ok_or_else(invalid)
    }
}
