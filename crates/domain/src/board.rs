//! Who of the board acts, and who made a record.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::actor::{Actor, ActorKind};
use crate::id::{AgentId, BoardTokenId, UserId};
use crate::text::Name;
use crate::time::Timestamp;

const LOCAL: &str = "local-board";
const START: &str = "start-token";
const TOKEN: &str = "token:";

/// The part of the board that acts, as its credential says. Written down as
/// `local-board`, `start-token`, `token:ID` or the id of a user account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardMember {
    /// Whoever asks without a credential on a `local_trusted` server.
    Local,
    /// The holder of the token that the server was started with.
    StartToken,
    /// The holder of a token that the board made.
    Token(BoardTokenId),
    /// A person with an account.
    User(UserId),
}

impl BoardMember {
    /// The person, where accounts exist.
    pub const fn user(self) -> Option<UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Local | Self::StartToken | Self::Token(_) => None,
        }
    }

    /// What callers name it by: `local-board`, `start-token`, or the id of a
    /// token or of a user account.
    pub fn identity(self) -> String {
        match self {
            Self::Token(token) => token.to_string(),
            member => member.to_string(),
        }
    }

    /// Reads an [`identity`](Self::identity); what it is written down as is
    /// read too. An id is that of a token, as long as nobody has an account.
    ///
    /// # Errors
    /// [`NoBoardMember`]
    pub fn parse_identity(text: &str) -> Result<Self, NoBoardMember> {
        match text.parse()? {
            Self::User(user) => Ok(Self::Token(Uuid::from(user).into())),
            member => Ok(member),
        }
    }
}

impl Serialize for BoardMember {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for BoardMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str(LOCAL),
            Self::StartToken => f.write_str(START),
            Self::Token(token) => write!(f, "{TOKEN}{token}"),
            Self::User(user) => user.fmt(f),
        }
    }
}

/// The text names no part of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this names nobody of the board")]
pub struct NoBoardMember;

impl FromStr for BoardMember {
    type Err = NoBoardMember;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.strip_prefix(TOKEN)) {
            (LOCAL, _) => Ok(Self::Local),
            (START, _) => Ok(Self::StartToken),
            (_, Some(token)) => token.parse().ok().map(Self::Token).ok_or(NoBoardMember),
            (user, None) => user.parse().ok().map(Self::User).ok_or(NoBoardMember),
        }
    }
}

/// A token of the board, without its value. It reaches every company of the
/// instance and belongs to none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BoardToken {
    /// Unique id.
    pub id: BoardTokenId,
    /// What it is for.
    pub name: Name,
    /// How the value begins.
    pub prefix: String,
    /// SHA-256 of the value.
    #[serde(skip)]
    pub digest: [u8; 32],
    /// Who made it: `local-board`, `start-token`, `token:ID` or a user's id.
    #[serde(rename = "createdById")]
    pub created_by: BoardMember,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Who made a record: an [`Actor`] as a record keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Author {
    /// workforce itself.
    #[default]
    System,
    /// Somebody of the board.
    Board(BoardMember),
    /// An agent.
    Agent(AgentId),
}

impl Author {
    /// The agent, when an agent made it.
    pub const fn agent(self) -> Option<AgentId> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::System | Self::Board(_) => None,
        }
    }

    /// The part of the board that made it.
    pub const fn board(self) -> Option<BoardMember> {
        match self {
            Self::Board(member) => Some(member),
            Self::System | Self::Agent(_) => None,
        }
    }

    /// The person, when a person with an account made it.
    pub const fn user(self) -> Option<UserId> {
        match self {
            Self::Board(member) => member.user(),
            Self::System | Self::Agent(_) => None,
        }
    }

    /// The kind of actor.
    pub const fn kind(self) -> ActorKind {
        match self {
            Self::System => ActorKind::System,
            Self::Board(_) => ActorKind::Board,
            Self::Agent(_) => ActorKind::Agent,
        }
    }

    /// The author by name: an agent's id, what [`BoardMember`] is written down
    /// as, or `system`.
    pub fn name(self) -> String {
        match self {
            Self::System => "system".into(),
            Self::Board(member) => member.to_string(),
            Self::Agent(agent) => agent.to_string(),
        }
    }
}

impl From<&Actor> for Author {
    fn from(actor: &Actor) -> Self {
        match actor {
            Actor::Board(member) => Self::Board(*member),
            Actor::Agent(agent) => Self::Agent(agent.agent),
            Actor::System => Self::System,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_written_down_is_read_again() {
        let id = Uuid::from_u128(7);
        for member in [
            BoardMember::Local,
            BoardMember::StartToken,
            BoardMember::Token(id.into()),
            BoardMember::User(id.into()),
        ] {
            assert_eq!(member.to_string().parse(), Ok(member));
        }
        for member in [
            BoardMember::Local,
            BoardMember::StartToken,
            BoardMember::Token(id.into()),
        ] {
            let identity = member.identity();
            assert_eq!(BoardMember::parse_identity(&identity), Ok(member));
            let written = member.to_string();
            assert_eq!(BoardMember::parse_identity(&written), Ok(member));
        }
        for text in ["", "board", "token:", "token:x", "local-board "] {
            assert_eq!(text.parse::<BoardMember>(), Err(NoBoardMember), "{text}");
        }
    }
}
