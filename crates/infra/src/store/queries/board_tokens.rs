use diesel::prelude::*;
use workforce_domain::board::{BoardToken, NoBoardMember};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::BoardTokenId;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{BoardTokenCursor, BoardTokenReads, BoardTokenWrites, StoreError};
use workforce_domain::time::Timestamp;

use super::super::LoadingMode;
use super::super::transaction::Transaction;
use super::page::{fetch_limit, page_of};
use super::row::{Row, admit, one};
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::board_tokens;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = board_tokens, treat_none_as_default_value = false)]
struct TokenRow {
    id: IdColumn<BoardTokenId>,
    name: String,
    prefix: String,
    token_hash: DigestColumn,
    created_by: String,
    created_at: InstantColumn,
    last_used_at: Option<InstantColumn>,
    revoked_at: Option<InstantColumn>,
}

impl Row for TokenRow {
    type Record = BoardToken;

    fn weight(&self) -> usize {
        self.name.len()
    }

    fn restore(self) -> Result<BoardToken, Corrupt> {
        const KIND: &str = "board token";
        Ok(BoardToken {
            id: self.id.0,
            name: admit(KIND, self.name)?,
            prefix: self.prefix,
            digest: self.token_hash.0,
            created_by: self
                .created_by
                .parse()
                .map_err(|error: NoBoardMember| Corrupt::new(KIND, error.to_string()))?,
            created_at: self.created_at.0,
            last_used_at: self.last_used_at.map(|at| at.0),
            revoked_at: self.revoked_at.map(|at| at.0),
        })
    }
}

impl From<&BoardToken> for TokenRow {
    fn from(token: &BoardToken) -> Self {
        Self {
            id: IdColumn(token.id),
            name: token.name.to_string(),
            prefix: token.prefix.clone(),
            token_hash: DigestColumn(token.digest),
            created_by: token.created_by.to_string(),
            created_at: InstantColumn(token.created_at),
            last_used_at: token.last_used_at.map(InstantColumn),
            revoked_at: token.revoked_at.map(InstantColumn),
        }
    }
}

impl BoardTokenReads for Transaction<'_> {
    fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardToken>, StoreError> {
        let row = board_tokens::table
            .filter(board_tokens::token_hash.eq(DigestColumn(*digest)))
            .select(TokenRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn find(&mut self, id: BoardTokenId) -> Result<Option<BoardToken>, StoreError> {
        let row = board_tokens::table
            .find(IdColumn(id))
            .select(TokenRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        page: &PageRequest<BoardTokenCursor>,
    ) -> Result<Page<BoardToken, BoardTokenCursor>, StoreError> {
        let mut query = board_tokens::table
            .select(TokenRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(board_tokens::created_at.ge(at)).filter(
                board_tokens::created_at
                    .gt(at)
                    .or(board_tokens::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((board_tokens::created_at, board_tokens::id))
            .limit(fetch_limit(page))
            .load_iter::<TokenRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |token| CreationKey {
            at: token.created_at.micros(),
            id: token.id,
        })
    }
}

impl BoardTokenWrites for Transaction<'_> {
    fn insert(&mut self, token: &BoardToken) -> Result<(), StoreError> {
        diesel::insert_into(board_tokens::table)
            .values(TokenRow::from(token))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn revoke(
        &mut self,
        id: BoardTokenId,
        now: Timestamp,
    ) -> Result<Option<BoardToken>, StoreError> {
        diesel::update(board_tokens::table.find(IdColumn(id)))
            .filter(board_tokens::revoked_at.is_null())
            .set(board_tokens::revoked_at.eq(InstantColumn(now)))
            .execute(self.conn)
            .map_err(failed)?;
        let row = board_tokens::table
            .find(IdColumn(id))
            .select(TokenRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn note_use(&mut self, uses: &[(BoardTokenId, Timestamp)]) -> Result<(), StoreError> {
        let mut uses = uses.to_vec();
        // In one order everywhere, so that two servers do not cross.
        uses.sort_unstable();
        for (token, at) in uses {
            let at = InstantColumn(at);
            diesel::update(board_tokens::table.find(IdColumn(token)))
                .filter(
                    board_tokens::last_used_at
                        .is_null()
                        .or(board_tokens::last_used_at.lt(at)),
                )
                .set(board_tokens::last_used_at.eq(at))
                .execute(self.conn)
                .map_err(failed)?;
        }
        Ok(())
    }
}
