//! Tickets for the stream of a company's events: good once and for a minute, so
//! that nothing lasting stands in an address (docs/events.md#tickets).

use serde::Serialize;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{Failure, Reads, StoreError, TokenKind, Tokens, Tx};
use workforce_domain::ticket::{StreamTicket, TICKET_LIFETIME, TICKETS_WAITING, TicketHolder};
use workforce_domain::time::Timestamp;

use crate::access::{self, Denied};
use crate::authenticate::{AuthPolicy, kind_of};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why no ticket is given out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// The caller may not, or there is no such company.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Too many of the caller's tickets wait for their use.
    #[error(
        "{TICKETS_WAITING} of your tickets were not used yet; use one, or wait until one expires"
    )]
    TooMany,
}

impl Refusal for TicketError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::TooMany => Code::TooManyStreams,
        }
    }

    fn details(&self) -> Option<serde_json::Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::TooMany => None,
        }
    }
}

/// A ticket just made. The full value is shown this once.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = StreamTicket))]
#[serde(rename_all = "camelCase")]
pub struct IssuedTicket {
    /// The full value: what to send as `?ticket=`.
    #[serde(rename = "ticket")]
    pub value: String,
    /// From then on it opens nothing.
    pub expires_at: Timestamp,
}

/// The value is left out.
impl std::fmt::Debug for IssuedTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedTicket")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// What [`issue`] refuses with.
pub const ISSUE: Codes = Codes::of(&[Code::TooManyStreams]);

/// Gives the caller, who presented the credential of `holder`, a ticket for the
/// stream of a company that it may read.
pub fn issue(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    policy: AuthPolicy,
    company: CompanyId,
    holder: TicketHolder,
) -> Result<IssuedTicket, Failure<TicketError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    ctx.require_working_company()?;
    if tx.stream_tickets().waiting(scope, holder, ctx.now)? >= TICKETS_WAITING {
        return Err(Failure::Refused(TicketError::TooMany));
    }
    let minted = ctx.tokens.mint(TokenKind::StreamTicket);
    let digest = match (holder, policy.start_token) {
        (TicketHolder::StartToken, Some(start)) => bound(ctx.tokens, &minted.token, &start),
        _ => minted.digest,
    };
    let ticket = StreamTicket {
        digest,
        company,
        holder,
        expires_at: ctx.now.plus(TICKET_LIFETIME),
    };
    tx.stream_tickets_mut().insert(&ticket)?;
    Ok(IssuedTicket {
        value: minted.token,
        expires_at: ticket.expires_at,
    })
}

/// The ticket with this value, while it may be used.
pub fn find(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    value: &str,
    now: Timestamp,
) -> Result<Option<StreamTicket>, StoreError> {
    if kind_of(value) != Some(TokenKind::StreamTicket) {
        return Ok(None);
    }
    let start_token = policy.start_token.map(|start| bound(tokens, value, &start));
    for digest in [Some(tokens.digest(value)), start_token]
        .into_iter()
        .flatten()
    {
        if let Some(ticket) = reads.stream_tickets().find(&digest)? {
            return Ok(Some(ticket).filter(|ticket| ticket.is_valid_at(now)));
        }
    }
    Ok(None)
}

/// Uses a ticket up; true for exactly one of those who try.
pub fn take(tx: &mut dyn Tx, ticket: &StreamTicket) -> Result<bool, StoreError> {
    tx.stream_tickets_mut().take(&ticket.digest)
}

/// The digest of what belongs to the start token: none but servers that were
/// started with the same one find it.
pub(crate) fn bound(tokens: &dyn Tokens, value: &str, start_token: &[u8; 32]) -> [u8; 32] {
    let start_token = start_token.iter().map(|byte| format!("{byte:02x}"));
    tokens.digest(&format!("{value} {}", start_token.collect::<String>()))
}
