//! Sessions of the board (docs/access.md#sessions): what a browser presents to
//! pages in the place of a token. Each is bound to the token that made it and
//! ends with it.

use workforce_domain::board::BoardMember;
use workforce_domain::board_session::{BoardSession, LoginLink};
use workforce_domain::id::BoardSessionId;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{
    BoardSessionCursor, Failure, Reads, StoreError, TokenKind, Tokens, Tx,
};
use workforce_domain::time::Timestamp;

use crate::access::Denied;
use crate::authenticate::{
    AuthError, AuthMode, AuthPolicy, Authenticated, StoredCredential, board, kind_of,
};
use crate::context::Context;
use crate::stream_tickets::bound;

/// A session just made. The full value is shown this once.
#[derive(Clone, PartialEq, Eq)]
pub struct CreatedSession {
    /// The session as it is kept.
    pub kept: BoardSession,
    /// The full value.
    pub value: String,
}

/// The value is left out.
impl std::fmt::Debug for CreatedSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedSession")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// Begins a session of the caller, in the place of the session `former` that its
/// browser had before. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn begin(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    policy: AuthPolicy,
    former: Option<&str>,
) -> Result<CreatedSession, Failure<Denied>> {
    let Some(member) = ctx.actor().board() else {
        return Err(Denied::BoardRequired.into());
    };
    if let Some(former) = former
        && let Some(former) = find(tx.reads(), ctx.tokens, policy, former)?
    {
        tx.board_sessions_mut().end(former.id)?;
    }
    let minted = ctx.tokens.mint(TokenKind::BoardSession);
    let kept = BoardSession {
        id: ctx.id(),
        digest: digest_of(ctx.tokens, policy, member, &minted.token),
        member,
        created_at: ctx.now,
        last_used_at: ctx.now,
        expires_at: BoardSession::expiry(ctx.now, ctx.now),
    };
    tx.board_sessions_mut().insert(&kept)?;
    Ok(CreatedSession {
        kept,
        value: minted.token,
    })
}

/// Every session that has not ended, oldest first. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    page: &PageRequest<BoardSessionCursor>,
) -> Result<Page<BoardSession, BoardSessionCursor>, Failure<Denied>> {
    ctx.require_board()?;
    Ok(reads.board_sessions().list(ctx.now, page)?)
}

/// Ends a session. Board only.
///
/// # Errors
/// [`Denied::BoardRequired`], [`Denied::NotFound`]
pub fn end(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: BoardSessionId,
) -> Result<BoardSession, Failure<Denied>> {
    ctx.require_board()?;
    let ended = tx.board_sessions_mut().end(id)?;
    ended.ok_or_else(|| Denied::NotFound("board session").into())
}

/// Ends every session but those that `is_kept` keeps; how many there were.
/// Board only.
///
/// # Errors
/// [`Denied::BoardRequired`]
pub fn end_others(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    is_kept: impl Fn(&BoardSession) -> bool,
) -> Result<usize, Failure<Denied>> {
    let (mut page, mut ended) = (PageRequest::first(), 0);
    loop {
        let found = list(tx.reads(), ctx, &page)?;
        for session in found.items.iter().filter(|session| !is_kept(session)) {
            tx.board_sessions_mut().end(session.id)?;
            ended += 1;
        }
        match found.next {
            Some(after) => page.after = Some(after),
            None => return Ok(ended),
        }
    }
}

/// The session with this value, ended or not.
///
/// # Errors
/// The store failed.
pub fn find(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    value: &str,
) -> Result<Option<BoardSession>, StoreError> {
    for digest in digests(tokens, policy, TokenKind::BoardSession, value) {
        if let Some(session) = reads.board_sessions().find_by_digest(&digest)? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// Whether this is the session with that value.
pub fn is_of(session: &BoardSession, tokens: &dyn Tokens, policy: AuthPolicy, value: &str) -> bool {
    let mut digests = digests(tokens, policy, TokenKind::BoardSession, value);
    digests.any(|digest| digest == session.digest)
}

/// Finds out whose session this is.
///
/// # Errors
/// [`AuthError::Invalid`]
pub fn authenticate(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    now: Timestamp,
    policy: AuthPolicy,
    value: &str,
) -> Result<Authenticated, Failure<AuthError>> {
    let found = find(reads, tokens, policy, value)?;
    let Some(session) = found.filter(|session| session.is_valid_at(now)) else {
        return Err(Failure::Refused(AuthError::Invalid));
    };
    let known = authenticate_member(reads, policy, session.member)?;
    Ok(Authenticated {
        used: Some(StoredCredential::BoardSession(session.id)),
        ..known
    })
}

/// Finds out whether a member of the board, for whom something was made, may
/// still come in.
///
/// # Errors
/// [`AuthError::Invalid`]
pub fn authenticate_member(
    reads: &mut dyn Reads,
    policy: AuthPolicy,
    member: BoardMember,
) -> Result<Authenticated, Failure<AuthError>> {
    let is_known = match member {
        BoardMember::Local => policy.mode == AuthMode::LocalTrusted,
        // It was found with the token that the server has now.
        BoardMember::StartToken => policy.start_token.is_some(),
        BoardMember::Token(id) => {
            let token = reads.board_tokens().find(id)?;
            token.is_some_and(|token| token.revoked_at.is_none())
        }
        BoardMember::User(_) => false,
    };
    match is_known {
        true => Ok(board(member, None, false)),
        false => Err(Failure::Refused(AuthError::Invalid)),
    }
}

/// The link with this value, while it may be used.
///
/// # Errors
/// The store failed.
pub fn find_link(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    value: &str,
    now: Timestamp,
) -> Result<Option<LoginLink>, StoreError> {
    for digest in digests(tokens, policy, TokenKind::LoginLink, value) {
        if let Some(link) = reads.board_sessions().find_link(&digest)? {
            return Ok(Some(link).filter(|link| link.is_valid_at(now)));
        }
    }
    Ok(None)
}

/// What something of a member is found by. Of the start token it is found by
/// none but servers that were started with the same one.
pub(crate) fn digest_of(
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    member: BoardMember,
    value: &str,
) -> [u8; 32] {
    match (member, policy.start_token) {
        (BoardMember::StartToken, Some(start)) => bound(tokens, value, &start),
        _ => tokens.digest(value),
    }
}

/// What something with this value may be found by; nothing for another kind.
fn digests(
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    kind: TokenKind,
    value: &str,
) -> impl Iterator<Item = [u8; 32]> + use<> {
    let is_such = kind_of(value) == Some(kind);
    let plain = is_such.then(|| tokens.digest(value));
    let start = policy.start_token.filter(|_| is_such);
    let bound = start.map(|start| bound(tokens, value, &start));
    [plain, bound].into_iter().flatten()
}
