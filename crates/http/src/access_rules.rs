//! Who may call a route, as data: the documentation is made from it, and a test
//! (`tests/api/access.rs`) asks every route as every kind of caller and compares
//! (docs/access.md#rights).

use workforce_domain::string_enum;

string_enum! {
    /// Who may call a route. `Board` and `Agent` are checked before the use case
    /// begins. The use case checks what depends on the object in question.
    /// Whatever the rule, nobody but the board reaches another company.
    pub enum Access {
        /// Anybody, without a credential.
        Public = "public",
        /// The board, and every agent of the company.
        Anyone = "anyone",
        /// The board.
        Board = "board",
        /// Agents, about themselves.
        Agent = "agent",
        /// The board, and the agent that the request is about: named in its
        /// path or body.
        Itself = "itself",
        /// The board, and the run that the request is about, with its token.
        OwnRun = "own_run",
        /// The board, the agent that the request is about, and the managers
        /// above it.
        ItselfOrAbove = "itself_or_above",
        /// The board, and the managers above the agent that the request is
        /// about.
        Above = "above",
        /// The board, and agents that may hire: the ceo and those with
        /// `canCreateAgents`.
        Hirer = "hirer",
        /// The board, the ceo, and agents that others report to.
        Manager = "manager",
        /// The board, the lead of the project, and the ceo.
        ProjectLead = "project_lead",
        /// The board, the assignee and author, the managers above the
        /// assignee, and the ceo.
        Stakeholder = "stakeholder",
        /// The board, and the agent that asked for the approval.
        Requester = "requester",
        /// The board, whoever uploaded the attachment, and the assignee of its
        /// issue.
        Uploader = "uploader",
    }
}

impl Access {
    /// True for a rule that some agents of a company meet and others do not:
    /// the latter are told 403 `forbidden`, once their place is looked up.
    pub const fn depends_on_place(self) -> bool {
        match self {
            Self::Public | Self::Anyone | Self::Board | Self::Agent => false,
            Self::Itself
            | Self::OwnRun
            | Self::ItselfOrAbove
            | Self::Above
            | Self::Hirer
            | Self::Manager
            | Self::ProjectLead
            | Self::Stakeholder
            | Self::Requester
            | Self::Uploader => true,
        }
    }

    /// The rule as a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Public => "Anybody, without a credential.",
            Self::Anyone => "The board, and every agent of the company.",
            Self::Board => "The board.",
            Self::Agent => "Agents, about themselves.",
            Self::Itself => "The board, and the agent that the request is about.",
            Self::OwnRun => "The board, and the run that the request is about, with its token.",
            Self::ItselfOrAbove => {
                "The board, the agent that the request is about, and the managers above it."
            }
            Self::Above => "The board, and the managers above the agent that the request is about.",
            Self::Hirer => {
                "The board, and agents that may hire: the ceo and those with `canCreateAgents`."
            }
            Self::Manager => "The board, the ceo, and agents that others report to.",
            Self::ProjectLead => "The board, the lead of the project, and the ceo.",
            Self::Stakeholder => {
                "The board, the issue's assignee and author, the managers above the assignee, and \
                 the ceo."
            }
            Self::Requester => "The board, and the agent that asked for the approval.",
            Self::Uploader => {
                "The board, whoever uploaded the attachment, and the assignee of its issue."
            }
        }
    }
}

/// What the path of a route leads to, and with it what an agent of another
/// company is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The instance: the path names nothing.
    Instance,
    /// The company in the path; another company's agent is told 403.
    Company,
    /// An object; another company's agent is told that there is none.
    Object,
}

impl Subject {
    /// The subject of a path with its parameters in braces.
    pub fn of(path: &str) -> Self {
        if path.contains("{companyId}") {
            Self::Company
        } else if path.contains('{') {
            Self::Object
        } else {
            Self::Instance
        }
    }
}
