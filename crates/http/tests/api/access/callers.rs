//! Who asks, and whom each rule lets through.

use workforce_http::registry::{Access, Listed, Subject};

/// A caller. Those `WhereTrusted` ask a server where a request without a
/// credential is the board's, the others one where everybody needs one. Drafts
/// are missing since they have no credential: keys are made after the approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Nobody,
    BadCredential,
    /// A run header without a credential is no credential, and not nobody.
    RunHeaderWhereTrusted,
    BadCredentialWhereTrusted,
    /// The worker's key that was revoked.
    RevokedKey,
    RevokedBoardToken,
    TerminatedAgent,
    /// The worker with the token of a run that ended.
    WorkerAfterItsRun,
    /// The agent that requests are about and the issue is assigned to.
    Worker,
    WorkerInItsRun,
    /// Reports to the worker.
    Report,
    /// The worker's manager.
    Manager,
    /// The manager's manager.
    TopManager,
    /// A ceo to whom nobody reports.
    Ceo,
    /// Has `canCreateAgents`.
    Hirer,
    /// Leads the project.
    Lead,
    /// Made the issue.
    Author,
    /// Asked for the approvals.
    Requester,
    /// Uploaded the attachment.
    Uploader,
    /// Has no right of its own.
    Peer,
    /// The board with the token that the server was started with.
    StartToken,
    /// The board with a token that it made.
    BoardToken,
    NobodyWhereTrusted,
}

/// The callers in the order in which they ask: those that nothing is for
/// first, the board last.
pub(super) const CALLERS: &[Caller] = &[
    Caller::Nobody,
    Caller::BadCredential,
    Caller::RunHeaderWhereTrusted,
    Caller::BadCredentialWhereTrusted,
    Caller::RevokedKey,
    Caller::RevokedBoardToken,
    Caller::TerminatedAgent,
    Caller::WorkerAfterItsRun,
    Caller::Worker,
    Caller::WorkerInItsRun,
    Caller::Report,
    Caller::Manager,
    Caller::TopManager,
    Caller::Ceo,
    Caller::Hirer,
    Caller::Lead,
    Caller::Author,
    Caller::Requester,
    Caller::Uploader,
    Caller::Peer,
    Caller::StartToken,
    Caller::BoardToken,
    Caller::NobodyWhereTrusted,
];

/// What a caller is, whatever it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Turned away with 401 and this code.
    Unknown(&'static str),
    Agent,
    Board,
}

impl Caller {
    pub(super) const fn standing(self) -> Standing {
        match self {
            Self::Nobody | Self::RunHeaderWhereTrusted => Standing::Unknown("credential_missing"),
            Self::BadCredential
            | Self::BadCredentialWhereTrusted
            | Self::RevokedKey
            | Self::RevokedBoardToken
            | Self::WorkerAfterItsRun => Standing::Unknown("credential_invalid"),
            Self::TerminatedAgent => Standing::Unknown("agent_inactive"),
            Self::Worker
            | Self::WorkerInItsRun
            | Self::Report
            | Self::Manager
            | Self::TopManager
            | Self::Ceo
            | Self::Hirer
            | Self::Lead
            | Self::Author
            | Self::Requester
            | Self::Uploader
            | Self::Peer => Standing::Agent,
            Self::StartToken | Self::BoardToken | Self::NobodyWhereTrusted => Standing::Board,
        }
    }

    /// True for those who ask the server that trusts whoever is on its machine.
    pub(super) const fn is_where_trusted(self) -> bool {
        matches!(
            self,
            Self::NobodyWhereTrusted
                | Self::BadCredentialWhereTrusted
                | Self::RunHeaderWhereTrusted
        )
    }
}

/// The agents of the company that a rule lets through; `None` for all.
const fn let_through(access: Access) -> Option<&'static [Caller]> {
    use Caller::{
        Author, Ceo, Hirer, Lead, Manager, Requester, TopManager, Uploader, Worker, WorkerInItsRun,
    };
    Some(match access {
        Access::Public | Access::Anyone | Access::Agent => return None,
        Access::Board => &[],
        Access::Itself => &[Worker, WorkerInItsRun],
        Access::OwnRun => &[WorkerInItsRun],
        Access::ItselfOrAbove => &[Worker, WorkerInItsRun, Manager, TopManager],
        Access::Above => &[Manager, TopManager],
        Access::Hirer => &[Ceo, Hirer],
        Access::Manager => &[Worker, WorkerInItsRun, Manager, TopManager, Ceo],
        Access::ProjectLead => &[Lead, Ceo],
        Access::Stakeholder => &[Worker, WorkerInItsRun, Author, Manager, TopManager, Ceo],
        Access::Requester => &[Requester],
        Access::Uploader => &[Uploader, Worker, WorkerInItsRun],
    })
}

/// An agent of the company that a rule lets through.
pub(super) const fn permitted(access: Access) -> Caller {
    match let_through(access) {
        Some([first, ..]) => *first,
        Some([]) | None => Caller::Peer,
    }
}

/// Whose objects a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The company of the agents that ask.
    Own,
    Other,
}

impl Place {
    /// The places that a caller asks a route about. The board belongs to no
    /// company, so that one is like the other.
    pub(super) fn of(route: &Listed, caller: Caller) -> &'static [Self] {
        if route.subject == Subject::Instance || caller.standing() == Standing::Board {
            &[Self::Own]
        } else {
            &[Self::Own, Self::Other]
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Own => "its own",
            Self::Other => "another",
        }
    }
}

/// What comes of a request, as far as it has to do with who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    LetThrough,
    /// Status and code.
    Refused(u16, String),
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LetThrough => f.write_str("let through"),
            Self::Refused(status, code) => write!(f, "{status} {code}"),
        }
    }
}

fn refused(status: u16, code: &str) -> Outcome {
    Outcome::Refused(status, code.to_owned())
}

/// What is settled by who asks alone, whatever the request says; `None` where
/// what it is about matters.
pub(super) fn settled(access: Access, caller: Caller) -> Option<Outcome> {
    if access == Access::Public {
        return Some(Outcome::LetThrough);
    }
    match caller.standing() {
        Standing::Unknown(code) => Some(refused(401, code)),
        Standing::Agent if access == Access::Board => Some(refused(403, "board_required")),
        Standing::Board if access == Access::Agent => Some(refused(401, "agent_required")),
        Standing::Agent | Standing::Board => None,
    }
}

/// What the rule of a route says.
pub(super) fn predicted(route: &Listed, caller: Caller, place: Place) -> Outcome {
    if let Some(outcome) = settled(route.access, caller) {
        return outcome;
    }
    if caller.standing() == Standing::Board {
        return Outcome::LetThrough;
    }
    match (place, route.subject) {
        (Place::Other, Subject::Company) => refused(403, "company_forbidden"),
        (Place::Other, Subject::Object) => refused(404, "not_found"),
        _ => match let_through(route.access) {
            Some(few) if !few.contains(&caller) => refused(403, "forbidden"),
            _ => Outcome::LetThrough,
        },
    }
}
