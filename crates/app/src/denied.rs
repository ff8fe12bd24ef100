//! Refusals that many use cases share.

use serde_json::{Value, json};
use workforce_domain::company::CompanyStatus;
use workforce_domain::port::Failure;

use crate::refusal::{Code, Refusal};

/// Why a caller is turned away before a use case begins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The object does not exist, or belongs to another company: one answer
    /// for both, so that ids cannot be probed.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The company in the path is not the caller's.
    #[error("this company is out of your reach")]
    CompanyForbidden,
    /// Only the board may do this.
    #[error("only the board may do this")]
    BoardRequired,
    /// The caller may not do this to this object.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Only an agent can ask this.
    #[error("authenticate as an agent to ask this")]
    AgentRequired,
    /// The agent's company does not work at the moment.
    #[error("the company is {status}, so its agents cannot change anything")]
    CompanyNotActive {
        /// Its status.
        status: CompanyStatus,
    },
}

impl Refusal for Denied {
    fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::CompanyForbidden => Code::CompanyForbidden,
            Self::BoardRequired => Code::BoardRequired,
            Self::Forbidden(_) => Code::Forbidden,
            Self::AgentRequired => Code::AgentRequired,
            Self::CompanyNotActive { .. } => Code::CompanyNotActive,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::CompanyNotActive { status } => Some(json!({ "status": status })),
            _ => None,
        }
    }
}

impl<E: From<Denied>> From<Denied> for Failure<E> {
    fn from(denied: Denied) -> Self {
        Self::Refused(denied.into())
    }
}
