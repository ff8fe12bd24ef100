//! Turning a presented credential into a caller (contract section 5).

use std::time::Duration;

use workforce_domain::actor::{Actor, AgentActor, AgentCredential};
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentKeyId, RunId};
use workforce_domain::port::{CredentialHolder, Failure, Reads, Tokens};
use workforce_domain::run::RunKind;
use workforce_domain::time::Timestamp;

use crate::call::Caller;
use crate::refusal::{Code, Refusal};

/// For how long after its end a run may still be named in the run header.
pub const RECENTLY_ENDED: Duration = Duration::from_secs(60 * 60);

/// Who a request without any credential is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnonymousPolicy {
    /// The board: a local installation that listens on loopback only.
    Board,
    /// Nobody.
    Refused,
}

/// What a request presents.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// The value of the `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The value of the run header.
    pub run_header: Option<&'a str>,
}

/// An authenticated request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// Who asks.
    pub caller: Caller,
    /// The key that was used, to note its use.
    pub key: Option<AgentKeyId>,
    /// The run header named a run that is not the agent's; it was ignored,
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

fn bearer(authorization: &str) -> Option<&str> {
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

/// Finds out who asks. A presented credential that is not valid is refused,
/// never answered as somebody else.
///
/// # Errors
/// [`AuthError`]
pub fn authenticate(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    now: Timestamp,
    anonymous: AnonymousPolicy,
    presented: Presented<'_>,
) -> Result<Authenticated, Failure<AuthError>> {
    let Some(authorization) = presented.authorization else {
        return match anonymous {
            AnonymousPolicy::Board if presented.run_header.is_none() => Ok(Authenticated {
                caller: Caller {
                    actor: Actor::Board(BoardMember::Local),
                    company_status: None,
                },
                key: None,
                ignored_run: false,
            }),
            AnonymousPolicy::Board | AnonymousPolicy::Refused => refused(AuthError::Missing),
        };
    };
    let Some(token) = bearer(authorization) else {
        return refused(AuthError::Invalid);
    };
    if token.starts_with("wfr_") {
        with_run_token(reads, tokens, presented.run_header, token)
    } else if token.starts_with("wfk_") {
        with_key(reads, tokens, now, presented.run_header, token)
    } else {
        refused(AuthError::Invalid)
    }
}

fn with_run_token(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    run_header: Option<&str>,
    token: &str,
) -> Result<Authenticated, Failure<AuthError>> {
    let Some(found) = reads.credentials().run_token(&tokens.digest(token))? else {
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
        key: None,
        ignored_run: false,
    })
}

fn with_key(
    reads: &mut dyn Reads,
    tokens: &dyn Tokens,
    now: Timestamp,
    run_header: Option<&str>,
    token: &str,
) -> Result<Authenticated, Failure<AuthError>> {
    let Some(found) = reads.credentials().key(&tokens.digest(token))? else {
        return refused(AuthError::Invalid);
    };
    // Its keys were revoked with it, yet whoever has one learns why.
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
            .named_run(found.key.company, run)?
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
        key: Some(found.key.id),
        ignored_run: named.is_some() && run.is_none(),
    })
}

fn caller(holder: CredentialHolder, credential: AgentCredential) -> Result<Caller, AuthError> {
    match holder.agent.lifecycle {
        AgentLifecycle::Enabled | AgentLifecycle::Paused { .. } => Ok(Caller {
            actor: Actor::Agent(AgentActor {
                company: holder.agent.company,
                agent: holder.agent.id,
                role: holder.agent.role,
                can_create_agents: holder.agent.can_create_agents,
                credential,
            }),
            company_status: Some(holder.company_status),
        }),
        AgentLifecycle::PendingApproval | AgentLifecycle::Terminated { .. } => {
            Err(AuthError::AgentInactive)
        }
    }
}
