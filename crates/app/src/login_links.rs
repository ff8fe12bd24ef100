//! Links that sign a browser in to the board: good once and for a minute
//! (docs/access.md#sessions).

use workforce_domain::board_session::{LINK_LIFETIME, LoginLink};
use workforce_domain::port::{Failure, TokenKind, Tx};
use workforce_domain::time::Timestamp;

use crate::access::Denied;
use crate::authenticate::AuthPolicy;
use crate::board_sessions::digest_of;
use crate::context::Context;

/// The page that takes a link.
pub const PAGE: &str = "/login/link";
/// The parameter that holds its value.
pub const PARAMETER: &str = "key";

/// A link just made. It is shown this once.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedLink {
    /// The page to open on this server, with all that it needs to know.
    pub path: String,
    /// From then on it signs nobody in.
    pub expires_at: Timestamp,
}

/// The value is left out.
impl std::fmt::Debug for IssuedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedLink")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Makes a link that begins a session of the caller. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn issue(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    policy: AuthPolicy,
) -> Result<IssuedLink, Failure<Denied>> {
    let Some(member) = ctx.actor().board() else {
        return Err(Denied::BoardRequired.into());
    };
    let minted = ctx.tokens.mint(TokenKind::LoginLink);
    let link = LoginLink {
        digest: digest_of(ctx.tokens, policy, member, &minted.token),
        member,
        expires_at: ctx.now.plus(LINK_LIFETIME),
    };
    tx.board_sessions_mut().insert_link(&link)?;
    Ok(IssuedLink {
        path: format!("{PAGE}?{PARAMETER}={}", minted.token),
        expires_at: link.expires_at,
    })
}
