//! Tokens of the board (docs/access.md#callers). They belong to
//! the instance, so no company's activity tells of them; a token keeps who made
//! it.

use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::board::{BoardMember, BoardToken};
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::BoardTokenId;
use workforce_domain::issue::Assignee;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{BoardTokenCursor, Failure, Reads, TokenKind, Tx};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::Name;

use crate::access::Denied;
use crate::context::Context;
use crate::given_back::{Leaver, give_back};

/// A token just made. The full value is shown this once.
#[derive(Clone, PartialEq, Eq)]
pub struct CreatedBoardToken {
    /// The token as it is kept.
    pub kept: BoardToken,
    /// The full value.
    pub value: String,
}

/// The value is left out.
impl std::fmt::Debug for CreatedBoardToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedBoardToken")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// Makes a token. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    name: Name,
) -> Result<CreatedBoardToken, Failure<Denied>> {
    let Some(created_by) = ctx.actor().board() else {
        return Err(Denied::BoardRequired.into());
    };
    let minted = ctx.tokens.mint(TokenKind::Board);
    let kept = BoardToken {
        id: ctx.id(),
        name,
        prefix: minted.prefix,
        digest: minted.digest,
        created_by,
        created_at: ctx.now,
        last_used_at: None,
        revoked_at: None,
    };
    tx.board_tokens_mut().insert(&kept)?;
    Ok(CreatedBoardToken {
        kept,
        value: minted.token,
    })
}

/// Every token that the board made, without its value, oldest first. The token
/// that the server was started with is not among them. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    page: &PageRequest<BoardTokenCursor>,
) -> Result<Page<BoardToken, BoardTokenCursor>, Failure<Denied>> {
    ctx.require_board()?;
    Ok(reads.board_tokens().list(page)?)
}

/// Revokes a token, and ends its sessions. Revoking again changes nothing. What its bearer was to
/// do is free again, and what it was to review is for whoever revokes it. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`], [`Denied::NotFound`]
pub fn revoke(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: BoardTokenId,
) -> Result<BoardToken, Failure<Denied>> {
    let Some(caller) = ctx.actor().board() else {
        return Err(Denied::BoardRequired.into());
    };
    let seen = tx.board_tokens().find(id)?;
    let Some(token) = seen.filter(|token| token.revoked_at.is_none()) else {
        let revoked = tx.board_tokens_mut().revoke(id, ctx.now)?;
        return revoked.ok_or_else(|| Denied::NotFound("board token").into());
    };
    let member = BoardMember::Token(id);
    // Whoever revokes its own token leaves its reviews to whoever made that.
    let heir = if caller == member {
        token.created_by
    } else {
        caller
    };
    let leaver = Leaver {
        who: Assignee::Board(member),
        told: &format!("The token {} of the board was revoked", &*token.name),
        details: &json!({ "boardTokenRevoked": id }),
        heir: Some(heir),
    };
    let mut page = PageRequest::first();
    loop {
        let all = CompanyStatus::ALL;
        let companies = tx.companies().list(ctx.actor().scope(), all, &page)?;
        for company in &companies.items {
            give_back(tx, ctx, company.scope(), &leaver)?;
        }
        match companies.next {
            Some(after) => page.after = Some(after),
            None => break,
        }
    }
    tx.board_sessions_mut().end_of(member)?;
    tx.board_tokens_mut()
        .revoke(id, ctx.now)?
        .ok_or_else(|| Denied::NotFound("board token").into())
}
