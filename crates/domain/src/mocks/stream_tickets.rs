//! Mocks of `port/stream_tickets.rs`.

use mockall::mock;

use crate::actor::CompanyScope;
use crate::port::{StoreError, StreamTicketReads, StreamTicketWrites};
use crate::ticket::{StreamTicket, TicketHolder};
use crate::time::Timestamp;

mock! {
    pub StreamTickets {}

    impl StreamTicketReads for StreamTickets {
        fn find(&mut self, digest: &[u8; 32]) -> Result<Option<StreamTicket>, StoreError>;
        fn waiting(
            &mut self,
            company: CompanyScope,
            holder: TicketHolder,
            now: Timestamp,
        ) -> Result<usize, StoreError>;
    }

    impl StreamTicketWrites for StreamTickets {
        fn insert(&mut self, ticket: &StreamTicket) -> Result<(), StoreError>;
        fn take(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError>;
        fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
    }
}
