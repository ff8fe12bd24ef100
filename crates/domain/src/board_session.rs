//! Sessions of the board: what a browser presents in the place of a token
//! (docs/access.md#sessions), and the links that make them.

use core::time::Duration;

use serde::Serialize;

use crate::board::BoardMember;
use crate::id::BoardSessionId;
use crate::time::Timestamp;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// A session ends when it was not used for so long.
pub const SESSION_IDLE: Duration = HOUR.saturating_mul(12);
/// And when it is so old, however much it is used.
pub const SESSION_LIFETIME: Duration = HOUR.saturating_mul(14 * 24);
/// For how long a link may be used.
pub const LINK_LIFETIME: Duration = Duration::from_secs(60);

/// A session of the board, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BoardSession {
    /// Unique id.
    pub id: BoardSessionId,
    /// What it is found by: SHA-256 of the value, and of more for a member that
    /// not every server knows.
    #[serde(skip)]
    pub digest: [u8; 32],
    /// Whose it is: `start-token` or `token:ID`. It ends with that token.
    #[serde(rename = "memberId")]
    pub member: BoardMember,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
    /// When it ends unless it is used again.
    pub expires_at: Timestamp,
}

impl BoardSession {
    /// When a session ends that was made and last used then.
    #[must_use]
    pub fn expiry(created_at: Timestamp, last_used_at: Timestamp) -> Timestamp {
        let at_last = created_at.plus(SESSION_LIFETIME);
        at_last.min(last_used_at.plus(SESSION_IDLE))
    }

    /// True until it ends.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// A link that makes a session once, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginLink {
    /// What it is found by, as with sessions.
    pub digest: [u8; 32],
    /// Whose session it makes.
    pub member: BoardMember,
    /// From then on it makes none.
    pub expires_at: Timestamp,
}

impl LoginLink {
    /// True while it may be used.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_unused_and_at_last() {
        let made = Timestamp::from_micros(0);
        let used = |hours| made.plus(HOUR.saturating_mul(hours));
        for (last_used, ends) in [(0, 12), (1, 13), (14 * 24 - 1, 14 * 24)] {
            assert_eq!(BoardSession::expiry(made, used(last_used)), used(ends));
        }
    }
}
