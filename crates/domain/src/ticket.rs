//! Tickets: what opens a company's stream of events once, in the place of a
//! credential that a browser cannot send.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::id::CompanyId;
use crate::time::Timestamp;

/// For how long a ticket may be used.
pub const TICKET_LIFETIME: Duration = Duration::from_secs(60);
/// So many tickets of one holder may wait for their use.
pub const TICKETS_WAITING: usize = 64;

const LOCAL: &str = "local-board";
const START: &str = "start-token";
const BOARD: &str = "board-token:";
const KEY: &str = "agent-key:";
const RUN: &str = "run:";

/// Whose ticket it is: the credential that asked for it, by its digest. Whoever
/// uses the ticket is that caller, for as long as the credential is valid.
/// Written down as `local-board`, `start-token`, `board-token:DIGEST`,
/// `agent-key:DIGEST` or `run:DIGEST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketHolder {
    /// Whoever asked without a credential on a `local_trusted` server.
    LocalBoard,
    /// The token that the server was started with. Its digest is not kept: an
    /// operator may have chosen a text that can be guessed.
    StartToken,
    /// A token that the board made.
    BoardToken([u8; 32]),
    /// An agent's key.
    AgentKey([u8; 32]),
    /// The token of a run.
    Run([u8; 32]),
}

impl fmt::Display for TicketHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, digest) = match self {
            Self::LocalBoard => return f.write_str(LOCAL),
            Self::StartToken => return f.write_str(START),
            Self::BoardToken(digest) => (BOARD, digest),
            Self::AgentKey(digest) => (KEY, digest),
            Self::Run(digest) => (RUN, digest),
        };
        f.write_str(kind)?;
        digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text names no holder of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this names no holder of a ticket")]
pub struct NoTicketHolder;

impl FromStr for TicketHolder {
    type Err = NoTicketHolder;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        type Make = fn([u8; 32]) -> TicketHolder;
        const KINDS: [(&str, Make); 3] = [
            (BOARD, TicketHolder::BoardToken),
            (KEY, TicketHolder::AgentKey),
            (RUN, TicketHolder::Run),
        ];
        match text {
            LOCAL => Ok(Self::LocalBoard),
            START => Ok(Self::StartToken),
            _ => KINDS
                .iter()
                .find_map(|(kind, make)| text.strip_prefix(kind).and_then(digest).map(make))
                .ok_or(NoTicketHolder),
        }
    }
}

/// A digest from its lower-case hexadecimal form.
fn digest(text: &str) -> Option<[u8; 32]> {
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some((nibble(*high)? << 4) | nibble(*low)?),
            _ => None,
        })
        .collect();
    bytes?.try_into().ok()
}

/// A ticket, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamTicket {
    /// What it is found by: SHA-256 of the value, and of more for a holder that
    /// not every server knows.
    pub digest: [u8; 32],
    /// The company whose stream it opens.
    pub company: CompanyId,
    /// Whose it is.
    pub holder: TicketHolder,
    /// From then on it opens nothing.
    pub expires_at: Timestamp,
}

impl StreamTicket {
    /// True while it may be used.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_holder_is_what_it_is_written_down_as() {
        let mut digest = [0xa7; 32];
        digest[0] = 0x0f;
        for holder in [
            TicketHolder::LocalBoard,
            TicketHolder::StartToken,
            TicketHolder::BoardToken(digest),
            TicketHolder::AgentKey(digest),
            TicketHolder::Run(digest),
        ] {
            assert_eq!(holder.to_string().parse(), Ok(holder));
        }
    }

    #[test]
    fn no_other_text_names_a_holder() {
        let digest = "0f".repeat(32);
        for text in [
            "".to_string(),
            "local".to_string(),
            "run:".to_string(),
            alloc::format!("run:{digest}0"),
            alloc::format!("run:{digest}00"),
            alloc::format!("run:{}", digest.to_uppercase()),
            alloc::format!("user:{digest}"),
        ] {
            assert_eq!(text.parse::<TicketHolder>(), Err(NoTicketHolder), "{text}");
        }
    }

    #[test]
    fn a_ticket_is_valid_until_it_expires() {
        let ticket = StreamTicket {
            digest: [1; 32],
            company: CompanyId::from(uuid::Uuid::from_u128(1)),
            holder: TicketHolder::LocalBoard,
            expires_at: Timestamp::from_micros(10),
        };
        assert!(ticket.is_valid_at(Timestamp::from_micros(9)));
        assert!(!ticket.is_valid_at(Timestamp::from_micros(10)));
    }
}
