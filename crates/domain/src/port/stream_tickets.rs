use super::StoreError;
use crate::actor::CompanyScope;
use crate::ticket::{StreamTicket, TicketHolder};
use crate::time::Timestamp;

/// Reads of tickets for streams of events.
pub trait StreamTicketReads {
    /// The ticket with this digest, expired or not.
    fn find(&mut self, digest: &[u8; 32]) -> Result<Option<StreamTicket>, StoreError>;

    /// How many tickets of a holder may still be used at `now`.
    fn waiting(
        &mut self,
        company: CompanyScope,
        holder: TicketHolder,
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}

/// Writes of tickets for streams of events.
pub trait StreamTicketWrites {
    /// Stores a new ticket.
    fn insert(&mut self, ticket: &StreamTicket) -> Result<(), StoreError>;

    /// Takes the ticket with this digest away; true for exactly one of those
    /// who do.
    fn take(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError>;

    /// Forgets up to `limit` tickets that expired before `before`, the oldest
    /// first; how many there were.
    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
}
