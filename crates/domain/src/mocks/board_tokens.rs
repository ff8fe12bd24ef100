//! Mocks of `port/board_tokens.rs`.

use mockall::mock;

use crate::board::BoardToken;
use crate::id::BoardTokenId;
use crate::page::{Page, PageRequest};
use crate::port::{BoardTokenCursor, BoardTokenReads, BoardTokenWrites, StoreError};
use crate::time::Timestamp;

mock! {
    pub BoardTokens {}

    impl BoardTokenReads for BoardTokens {
        fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardToken>, StoreError>;
        fn find(&mut self, id: BoardTokenId) -> Result<Option<BoardToken>, StoreError>;
        fn list(
            &mut self,
            page: &PageRequest<BoardTokenCursor>,
        ) -> Result<Page<BoardToken, BoardTokenCursor>, StoreError>;
    }

    impl BoardTokenWrites for BoardTokens {
        fn insert(&mut self, token: &BoardToken) -> Result<(), StoreError>;
        fn revoke(
            &mut self,
            id: BoardTokenId,
            now: Timestamp,
        ) -> Result<Option<BoardToken>, StoreError>;
        fn note_use(&mut self, uses: &[(BoardTokenId, Timestamp)]) -> Result<(), StoreError>;
    }
}
