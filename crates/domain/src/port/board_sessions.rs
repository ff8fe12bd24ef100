use super::StoreError;
use crate::board::BoardMember;
use crate::board_session::{BoardSession, LoginLink};
use crate::id::BoardSessionId;
use crate::page::{CreationKey, Page, PageRequest};
use crate::time::Timestamp;

/// The place of a session of the board in a list.
pub type BoardSessionCursor = CreationKey<BoardSessionId>;

/// Reads of sessions of the board. They belong to the instance, so nothing here
/// has a scope: only the board gets this far.
pub trait BoardSessionReads {
    /// The session with this digest, ended or not.
    fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardSession>, StoreError>;

    /// The sessions that have not ended at `now`, oldest first.
    fn list(
        &mut self,
        now: Timestamp,
        page: &PageRequest<BoardSessionCursor>,
    ) -> Result<Page<BoardSession, BoardSessionCursor>, StoreError>;

    /// The link with this digest, expired or not.
    fn find_link(&mut self, digest: &[u8; 32]) -> Result<Option<LoginLink>, StoreError>;
}

/// Writes of sessions of the board.
pub trait BoardSessionWrites {
    /// Stores a new session.
    fn insert(&mut self, session: &BoardSession) -> Result<(), StoreError>;

    /// Notes that sessions were used, and with it when they end.
    fn note_use(&mut self, uses: &[(BoardSessionId, Timestamp)]) -> Result<(), StoreError>;

    /// Ends a session; what it was, or `None` when there is no such session.
    fn end(&mut self, id: BoardSessionId) -> Result<Option<BoardSession>, StoreError>;

    /// Ends every session of a member; how many there were.
    fn end_of(&mut self, member: BoardMember) -> Result<usize, StoreError>;

    /// Forgets up to `limit` sessions that ended before `before`, the oldest
    /// first; how many there were.
    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;

    /// Stores a new link.
    fn insert_link(&mut self, link: &LoginLink) -> Result<(), StoreError>;

    /// Takes the link with this digest away; true for exactly one of those who
    /// do.
    fn take_link(&mut self, digest: &[u8; 32]) -> Result<bool, StoreError>;

    /// Forgets up to `limit` links that expired before `before`, the oldest
    /// first; how many there were.
    fn delete_links_before(&mut self, before: Timestamp, limit: usize)
    -> Result<usize, StoreError>;
}
