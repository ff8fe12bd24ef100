use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{StoreError, StreamTicketReads, StreamTicketWrites};
use workforce_domain::ticket::{NoTicketHolder, StreamTicket, TicketHolder};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::page::row_limit;
use super::row::{Row, one};
use crate::store::columns::{DigestColumn, IdColumn, Instant, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::stream_tickets;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = stream_tickets)]
struct TicketRow {
    ticket_hash: DigestColumn,
    company_id: IdColumn<CompanyId>,
    holder: String,
    expires_at: InstantColumn,
}

impl Row for TicketRow {
    type Record = StreamTicket;

    fn weight(&self) -> usize {
        self.holder.len()
    }

    fn restore(self) -> Result<StreamTicket, Corrupt> {
        Ok(StreamTicket {
            digest: self.ticket_hash.0,
            company: self.company_id.0,
            holder: self
                .holder
                .parse()
                .map_err(|error: NoTicketHolder| Corrupt::new("ticket", error.to_string()))?,
            expires_at: self.expires_at.0,
        })
    }
}

impl StreamTicketReads for Transaction<'_> {
    fn find(&mut self, digest: &[u8; 32]) -> Result<Option<StreamTicket>, StoreError> {
        let row = stream_tickets::table
            .find(DigestColumn(*digest))
            .select(TicketRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn waiting(
        &mut self,
        company: CompanyScope,
        holder: TicketHolder,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let waiting: i64 = stream_tickets::table
            .filter(stream_tickets::company_id.eq(IdColumn(company.company())))
            .filter(stream_tickets::holder.eq(holder.to_string()))
            .filter(stream_tickets::expires_at.gt(InstantColumn(now)))
            .count()
            .get_result(self.conn)
            .map_err(failed)?;
        Ok(usize::try_from(waiting).unwrap_or(usize::MAX))
    }
}

impl StreamTicketWrites for Transaction<'_> {
    fn insert(&mut self, ticket: &StreamTicket) -> Result<(), StoreError> {
        diesel::insert_into(stream_tickets::table)
            .values(TicketRow {
                ticket_hash: DigestColumn(ticket.digest),
                company_id: IdColumn(ticket.company),
                holder: ticket.holder.to_string(),
                expires_at: InstantColumn(ticket.expires_at),
            })
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn take(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError> {
        let taken = diesel::delete(stream_tickets::table.find(DigestColumn(*digest)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(taken == 1)
    }

    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        sql_query(
            "DELETE FROM stream_tickets WHERE ticket_hash IN (
                SELECT ticket_hash FROM stream_tickets
                WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
            )",
        )
        .bind::<Instant, _>(InstantColumn(before))
        .bind::<BigInt, _>(row_limit(limit))
        .execute(self.conn)
        .map_err(failed)
    }
}
