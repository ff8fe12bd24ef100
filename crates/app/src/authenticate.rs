//! Turning a presented credential into a caller (docs/access.md#callers).

use std::time::Duration;

use workforce_domain::actor::{Actor, AgentActor, AgentCredential, CompanyOwned};
use workforce_domain::agent::AgentState;
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentKeyId, BoardSessionId, BoardTokenId, RunId};
use workforce_domain::port::{CredentialHolder, Failure, Reads, TokenKind, Tokens};
use workforce_domain::run::RunKind;
use workforce_domain::string_enum;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::ticket::TicketHolder;
use workforce_domain::time::Timestamp;

use crate::context::Caller;
use crate::refusal::{Code, Refusal};

/// For how long after its end a run may still be named in the run header.
pub const RECENTLY_ENDED: Duration = Duration::from_secs(60 * 60);

string_enum! {
    /// How callers prove who they are (docs/access.md#callers).
    pub enum AuthMode {
        /// A request without any credential is the board's: a local
        /// installation that listens on loopback only.
        LocalTrusted = "local_trusted",
        /// Every request needs a credential; the board has tokens.
        Token = "token",
    }
}

/// The rules by which a server finds out who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthPolicy {
    /// Whether a request without a credential is anybody's.
    pub mode: AuthMode,
    /// SHA-256 of the board token that the server was started with.
    pub start_token: Option<[u8; 32]>,
}

impl AuthPolicy {
    /// A server that takes a request without a credential for the board's, and
    /// knows no token from its start.
    pub const LOCAL_TRUSTED: Self = Self {
        mode: AuthMode::LocalTrusted,
        start_token: None,
    };

    /// A server where every request needs a credential; `start_token` is
    /// SHA-256 of the one it was started with.
    pub const fn token(start_token: [u8; 32]) -> Self {
        Self {
            mode: AuthMode::Token,
            start_token: Some(start_token),
        }
    }

    /// True for the token that the server was started with. Takes the same
    /// time for every other.
    fn is_start_token(&self, digest: &[u8; 32]) -> bool {
        self.start_token.is_some_and(|start| {
            let differing = start.iter().zip(digest).map(|(one, other)| one ^ other);
            differing.fold(0, |all, bits| all | bits) == 0
        })
    }
}

/// The digest is left out.
impl std::fmt::Debug for AuthPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthPolicy")
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// What a request presents.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// The value of the `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The value of the run header.
    pub run_header: Option<&'a str>,
}

/// A credential that outlives a run and remembers when it was last used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredCredential {
    /// An agent's key.
    AgentKey(AgentKeyId),
    /// A token that the board made.
    BoardToken(BoardTokenId),
    /// A session of the board.
    BoardSession(BoardSessionId),
}

/// An authenticated request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// Who asks.
    pub caller: Caller,
    /// The stored credential that was used, to note its use.
    pub used: Option<StoredCredential>,
    /// The run header named a run that is not the caller's; it was ignored,
    /// since losing a comment is worse than losing its attribution.
    pub ignored_run: bool,
}

/// Why a request was not authenticated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No credential where one is needed. A run header alone is none.
    #[error("present a credential as `Authorization: Bearer ...`")]
    Missing,
    /// A credential that is unknown, revoked or ended. It never falls back to
    /// another identity.
    #[error("the credential is not valid")]
    Invalid,
    /// The credential of a draft or terminated agent.
    #[error("the agent is a draft or terminated")]
    AgentInactive,
    /// The run header does not hold an id.
    #[error("the run header does not hold a run's id")]
    InvalidRunId,
    /// The run header names another run than the run token's.
    #[error("the run header names another run than the credential belongs to")]
    RunMismatch,
}

impl Refusal for AuthError {
    fn code(&self) -> Code {
        match self {
            Self::Missing => Code::CredentialMissing,
            Self::Invalid => Code::CredentialInvalid,
            Self::AgentInactive => Code::AgentInactive,
            Self::InvalidRunId => Code::InvalidRunId,
            Self::RunMismatch => Code::RunMismatch,
        }
    }
}

const fn refused<T>(error: AuthError) -> Result<T, Failure<AuthError>> {
    Err(Failure::Refused(error))
}

/// The credential in an `Authorization` header of the one scheme there is.
pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn named_run(header: Option<&str>) -> Result<Option<RunId>, AuthError> {
    header
        .map(|text| {
            text.trim()
                .parse::<RunId>()
                .map_err(|_malformed| AuthError::InvalidRunId)
        })
        .transpose()
}

/// Who asks, where that is known without the store: the board of a local installation, or with the
/// token that the server was started with. `None` of whoever has to be looked up.
///
/// # Errors
/// [`AuthError::Missing`], [`AuthError::Invalid`], [`AuthError::InvalidRunId`]
pub fn known_at_sight(
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    presented: Presented<'_>,
) -> Result<Option<Authenticated>, AuthError> {
    let Some(authorization) = presented.authorization else {
        return match policy.mode {
            AuthMode::LocalTrusted if presented.run_header.is_none() => {
                Ok(Some(board(BoardMember::Local, None, false)))
            }
            AuthMode::LocalTrusted | AuthMode::Token => Err(AuthError::Missing),
        };
    };
    let token = bearer(authorization).ok_or(AuthError::Invalid)?;
    // The operator may have chosen any text for it.
    if policy.is_start_token(&tokens.digest(token)) {
        let named = named_run(presented.run_header)?;
        return Ok(Some(board(BoardMember::StartToken, None, named.is_some())));
    }
    Ok(None)
}

/// Finds out who asks. A presented credential that is not valid is refused,
/// never answered as somebody else.
pub fn authenticate(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    now: Timestamp,
    policy: AuthPolicy,
    presented: Presented<'_>,
) -> Result<Authenticated, Failure<AuthError>> {
    if let Some(known) = known_at_sight(tokens, policy, presented).map_err(Failure::Refused)? {
        return Ok(known);
    }
    let token = presented.authorization.and_then(bearer).unwrap_or_default();
    let digest = tokens.digest(token);
    let run_header = presented.run_header;
    match kind_of(token) {
        Some(TokenKind::Run) => with_run_token(reads, run_header, &digest),
        Some(TokenKind::AgentKey) => with_key(reads, now, run_header, &digest),
        Some(TokenKind::Board) => with_board_token(reads, run_header, &digest),
        // A ticket opens a stream, a session shows pages, a link makes a session; none of them is
        // a credential for anything else.
        Some(TokenKind::StreamTicket | TokenKind::BoardSession | TokenKind::LoginLink) | None => {
            refused(AuthError::Invalid)
        }
    }
}

/// The holder of a ticket that is made for this credential; `None` when it is no
/// credential that a ticket may stand for.
pub fn ticket_holder(
    tokens: &dyn Tokens,
    policy: AuthPolicy,
    presented: Presented<'_>,
) -> Option<TicketHolder> {
    let Some(authorization) = presented.authorization else {
        return Some(TicketHolder::LocalBoard);
    };
    let token = bearer(authorization)?;
    let digest = tokens.digest(token);
    if policy.is_start_token(&digest) {
        return Some(TicketHolder::StartToken);
    }
    match kind_of(token)? {
        TokenKind::Run => Some(TicketHolder::Run(digest)),
        TokenKind::AgentKey => Some(TicketHolder::AgentKey(digest)),
        TokenKind::Board => Some(TicketHolder::BoardToken(digest)),
        TokenKind::StreamTicket | TokenKind::BoardSession | TokenKind::LoginLink => None,
    }
}

/// Finds out who uses a ticket: its holder, if the credential that asked for it
/// is valid now.
///
/// # Errors
/// [`AuthError::Invalid`], [`AuthError::AgentInactive`]
pub fn authenticate_holder(
    reads: &mut dyn Reads,
    now: Timestamp,
    policy: AuthPolicy,
    holder: TicketHolder,
) -> Result<Authenticated, Failure<AuthError>> {
    match holder {
        TicketHolder::LocalBoard if policy.mode == AuthMode::LocalTrusted => {
            Ok(board(BoardMember::Local, None, false))
        }
        TicketHolder::StartToken if policy.start_token.is_some() => {
            Ok(board(BoardMember::StartToken, None, false))
        }
        TicketHolder::LocalBoard | TicketHolder::StartToken => refused(AuthError::Invalid),
        TicketHolder::BoardToken(digest) => with_board_token(reads, None, &digest),
        TicketHolder::AgentKey(digest) => with_key(reads, now, None, &digest),
        TicketHolder::Run(digest) => with_run_token(reads, None, &digest),
    }
}

pub(crate) const fn board(
    member: BoardMember,
    used: Option<StoredCredential>,
    ignored_run: bool,
) -> Authenticated {
    Authenticated {
        caller: Caller {
            actor: Actor::Board(member),
            company_status: None,
        },
        used,
        ignored_run,
    }
}

fn with_board_token(
    reads: &mut dyn Reads,
    run_header: Option<&str>,
    digest: &[u8; 32],
) -> Result<Authenticated, Failure<AuthError>> {
    let found = reads.board_tokens().find_by_digest(digest)?;
    let Some(token) = found.filter(|token| token.revoked_at.is_none()) else {
        return refused(AuthError::Invalid);
    };
    // The board acts for itself, whichever run it names.
    let named = named_run(run_header).map_err(Failure::Refused)?;
    let used = StoredCredential::BoardToken(token.id);
    Ok(board(
        BoardMember::Token(token.id),
        Some(used),
        named.is_some(),
    ))
}

fn with_run_token(
    reads: &mut dyn Reads,
    run_header: Option<&str>,
    digest: &[u8; 32],
) -> Result<Authenticated, Failure<AuthError>> {
    let Some(found) = reads.credentials().run_token(digest)? else {
        return refused(AuthError::Invalid);
    };
    if named_run(run_header)
        .map_err(Failure::Refused)?
        .is_some_and(|named| named != found.run)
    {
        return refused(AuthError::RunMismatch);
    }
    let credential = AgentCredential::Run {
        run: found.run,
        consult: found.kind == RunKind::Consult,
    };
    Ok(Authenticated {
        caller: caller(found.holder, credential).map_err(Failure::Refused)?,
        used: None,
        ignored_run: false,
    })
}

fn with_key(
    reads: &mut dyn Reads,
    now: Timestamp,
    run_header: Option<&str>,
    digest: &[u8; 32],
) -> Result<Authenticated, Failure<AuthError>> {
    let Some(found) = reads.credentials().key(digest)? else {
        return refused(AuthError::Invalid);
    };
    // Termination revokes the keys; this answer says why.
    let revoked = found.key.revoked_at.is_some();
    if !found.holder.agent.is_employed() {
        return refused(AuthError::AgentInactive);
    }
    if revoked {
        return refused(AuthError::Invalid);
    }
    let named = named_run(run_header).map_err(Failure::Refused)?;
    let run = match named {
        Some(run) => reads
            .credentials()
            .named_run(found.key.scope(), run)?
            .filter(|row| row.agent == found.key.agent)
            .filter(|row| {
                let recent = |at| now.since(at) <= RECENTLY_ENDED;
                row.status.is_live() || row.finished_at.is_some_and(recent)
            })
            .map(|_row| run),
        None => None,
    };
    let credential = AgentCredential::Key {
        key: found.key.id,
        run,
    };
    Ok(Authenticated {
        caller: caller(found.holder, credential).map_err(Failure::Refused)?,
        used: Some(StoredCredential::AgentKey(found.key.id)),
        ignored_run: named.is_some() && run.is_none(),
    })
}

fn caller(holder: CredentialHolder, credential: AgentCredential) -> Result<Caller, AuthError> {
    match holder.agent.lifecycle.state() {
        AgentState::Enabled | AgentState::Paused => Ok(Caller {
            actor: Actor::Agent(AgentActor {
                company: holder.agent.company,
                agent: holder.agent.id,
                role: holder.agent.role,
                can_create_agents: holder.agent.can_create_agents,
                credential,
            }),
            company_status: Some(holder.company_status),
        }),
        AgentState::PendingApproval | AgentState::Terminated => Err(AuthError::AgentInactive),
    }
}

/// What a token says it is, by its first letters.
pub fn kind_of(token: &str) -> Option<TokenKind> {
    token.split('_').next().and_then(TokenKind::parse)
}
