//! Mocks of `port/board_sessions.rs`.

use mockall::mock;

use crate::board::BoardMember;
use crate::board_session::{BoardSession, LoginLink};
use crate::id::BoardSessionId;
use crate::page::{Page, PageRequest};
use crate::port::{BoardSessionCursor, BoardSessionReads, BoardSessionWrites, StoreError};
use crate::time::Timestamp;

mock! {
    pub BoardSessions {}

    impl BoardSessionReads for BoardSessions {
        fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardSession>, StoreError>;
        fn list(
            &mut self,
            now: Timestamp,
            page: &PageRequest<BoardSessionCursor>,
        ) -> Result<Page<BoardSession, BoardSessionCursor>, StoreError>;
        fn find_link(&mut self, digest: &[u8; 32]) -> Result<Option<LoginLink>, StoreError>;
    }

    impl BoardSessionWrites for BoardSessions {
        fn insert(&mut self, session: &BoardSession) -> Result<(), StoreError>;
        fn note_use(&mut self, uses: &[(BoardSessionId, Timestamp)]) -> Result<(), StoreError>;
        fn end(&mut self, id: BoardSessionId) -> Result<Option<BoardSession>, StoreError>;
        fn end_of(&mut self, member: BoardMember) -> Result<usize, StoreError>;
        fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
        fn insert_link(&mut self, link: &LoginLink) -> Result<(), StoreError>;
        fn take_link(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError>;
        fn delete_links_before(
            &mut self,
            before: Timestamp,
            limit: usize,
        ) -> Result<usize, StoreError>;
    }
}
