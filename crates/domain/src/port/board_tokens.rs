use super::StoreError;
use crate::board::BoardToken;
use crate::id::BoardTokenId;
use crate::page::{CreationKey, Page, PageRequest};
use crate::time::Timestamp;

/// The place of a board token in a list.
pub type BoardTokenCursor = CreationKey<BoardTokenId>;

/// Reads of board tokens. They belong to the instance, so nothing here has a
/// scope: only the board gets this far.
pub trait BoardTokenReads {
    /// The token with this digest, revoked or not.
    fn find_by_digest(&mut self, digest: &[u8; 32]) -> Result<Option<BoardToken>, StoreError>;

    /// The token with this id, revoked or not.
    fn find(&mut self, id: BoardTokenId) -> Result<Option<BoardToken>, StoreError>;

    /// Every token, oldest first, revoked ones too.
    fn list(
        &mut self,
        page: &PageRequest<BoardTokenCursor>,
    ) -> Result<Page<BoardToken, BoardTokenCursor>, StoreError>;
}

/// Writes of board tokens.
pub trait BoardTokenWrites {
    /// Stores a new token.
    fn insert(&mut self, token: &BoardToken) -> Result<(), StoreError>;

    /// Revokes a token; the token afterwards, or `None` when there is no such
    /// token. Revoking again keeps the first instant.
    fn revoke(
        &mut self,
        id: BoardTokenId,
        now: Timestamp,
    ) -> Result<Option<BoardToken>, StoreError>;

    /// Notes that tokens were used.
    fn note_use(&mut self, uses: &[(BoardTokenId, Timestamp)]) -> Result<(), StoreError>;
}
