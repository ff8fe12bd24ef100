use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::board::{BoardMember, NoBoardMember};
use workforce_domain::board_session::{BoardSession, LoginLink};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::BoardSessionId;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    BoardSessionCursor, BoardSessionReads, BoardSessionWrites, StoreError,
};
use workforce_domain::time::Timestamp;

use super::super::LoadingMode;
use super::super::transaction::Transaction;
use super::page::{fetch_limit, page_of, row_limit};
use super::row::{Row, one};
use crate::store::columns::{DigestColumn, IdColumn, Instant, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{board_sessions, login_links};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = board_sessions)]
struct SessionRow {
    id: IdColumn<BoardSessionId>,
    session_hash: DigestColumn,
    member: String,
    created_at: InstantColumn,
    last_used_at: InstantColumn,
    expires_at: InstantColumn,
}

impl Row for SessionRow {
    type Record = BoardSession;

    fn weight(&self) -> usize {
        self.member.len()
    }

    fn restore(self) -> Result<BoardSession, Corrupt> {
        Ok(BoardSession {
            id: self.id.0,
            digest: self.session_hash.0,
            member: member("board session", &self.member)?,
            created_at: self.created_at.0,
            last_used_at: self.last_used_at.0,
            expires_at: self.expires_at.0,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = login_links)]
struct LinkRow {
    link_hash: DigestColumn,
    member: String,
    expires_at: InstantColumn,
}

impl Row for LinkRow {
    type Record = LoginLink;

    fn weight(&self) -> usize {
        self.member.len()
    }

    fn restore(self) -> Result<LoginLink, Corrupt> {
        Ok(LoginLink {
            digest: self.link_hash.0,
            member: member("login link", &self.member)?,
            expires_at: self.expires_at.0,
        })
    }
}

fn member(kind: &'static str, text: &str) -> Result<BoardMember, Corrupt> {
    let parsed = text.parse();
    parsed.map_err(|error: NoBoardMember| Corrupt::new(kind, error.to_string()))
}

impl BoardSessionReads for Transaction<'_> {
    fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardSession>, StoreError> {
        let row = board_sessions::table
            .filter(board_sessions::session_hash.eq(DigestColumn(*digest)))
            .select(SessionRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        now: Timestamp,
        page: &PageRequest<BoardSessionCursor>,
    ) -> Result<Page<BoardSession, BoardSessionCursor>, StoreError> {
        let mut query = board_sessions::table
            .filter(board_sessions::expires_at.gt(InstantColumn(now)))
            .select(SessionRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(board_sessions::created_at.ge(at)).filter(
                board_sessions::created_at
                    .gt(at)
                    .or(board_sessions::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((board_sessions::created_at, board_sessions::id))
            .limit(fetch_limit(page))
            .load_iter::<SessionRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |session| CreationKey {
            at: session.created_at.micros(),
            id: session.id,
        })
    }

    fn find_link(&mut self, digest: &[u8; 32]) -> Result<Option<LoginLink>, StoreError> {
        let row = login_links::table
            .find(DigestColumn(*digest))
            .select(LinkRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }
}

impl BoardSessionWrites for Transaction<'_> {
    fn insert(&mut self, session: &BoardSession) -> Result<(), StoreError> {
        diesel::insert_into(board_sessions::table)
            .values(SessionRow {
                id: IdColumn(session.id),
                session_hash: DigestColumn(session.digest),
                member: session.member.to_string(),
                created_at: InstantColumn(session.created_at),
                last_used_at: InstantColumn(session.last_used_at),
                expires_at: InstantColumn(session.expires_at),
            })
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn note_use(&mut self, uses: &[(BoardSessionId, Timestamp)]) -> Result<(), StoreError> {
        let mut uses = uses.to_vec();
        // In one order everywhere, so that two servers do not cross.
        uses.sort_unstable();
        for (id, at) in uses {
            let made: Option<InstantColumn> = board_sessions::table
                .find(IdColumn(id))
                .select(board_sessions::created_at)
                .first(self.conn)
                .optional()
                .map_err(failed)?;
            let Some(made) = made else { continue };
            let expiry = BoardSession::expiry(made.0, at);
            diesel::update(board_sessions::table.find(IdColumn(id)))
                .filter(board_sessions::last_used_at.lt(InstantColumn(at)))
                .set((
                    board_sessions::last_used_at.eq(InstantColumn(at)),
                    board_sessions::expires_at.eq(InstantColumn(expiry)),
                ))
                .execute(self.conn)
                .map_err(failed)?;
        }
        Ok(())
    }

    fn end(&mut self, id: BoardSessionId) -> Result<Option<BoardSession>, StoreError> {
        let row = board_sessions::table
            .find(IdColumn(id))
            .select(SessionRow::as_select())
            .first(self.conn)
            .optional();
        let found = one(row.map_err(failed)?)?;
        diesel::delete(board_sessions::table.find(IdColumn(id)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(found)
    }

    fn end_of(&mut self, member: BoardMember) -> Result<usize, StoreError> {
        let of_member = board_sessions::table.filter(board_sessions::member.eq(member.to_string()));
        diesel::delete(of_member).execute(self.conn).map_err(failed)
    }

    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        sql_query(
            "DELETE FROM board_sessions WHERE id IN (
                SELECT id FROM board_sessions
                WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
            )",
        )
        .bind::<Instant, _>(InstantColumn(before))
        .bind::<BigInt, _>(row_limit(limit))
        .execute(self.conn)
        .map_err(failed)
    }

    fn insert_link(&mut self, link: &LoginLink) -> Result<(), StoreError> {
        diesel::insert_into(login_links::table)
            .values(LinkRow {
                link_hash: DigestColumn(link.digest),
                member: link.member.to_string(),
                expires_at: InstantColumn(link.expires_at),
            })
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn take_link(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError> {
        let taken = diesel::delete(login_links::table.find(DigestColumn(*digest)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(taken == 1)
    }

    fn delete_links_before(
        &mut self,
        before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        sql_query(
            "DELETE FROM login_links WHERE link_hash IN (
                SELECT link_hash FROM login_links
                WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
            )",
        )
        .bind::<Instant, _>(InstantColumn(before))
        .bind::<BigInt, _>(row_limit(limit))
        .execute(self.conn)
        .map_err(failed)
    }
}
