//! Who acts, and how far a credential reaches.

use alloc::string::String;

use crate::board::{Author, BoardMember};
use crate::id::{AgentId, AgentKeyId, CompanyId, RunId, UserId};
use crate::string_enum;
use crate::text::Role;

/// Whoever causes a change. Built from a credential alone, never from what a
/// request body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The board: people who review.
    Board(BoardMember),
    /// An agent that authenticated with a key or with its run's token.
    Agent(AgentActor),
    /// workforce itself: the engine and the budget rules.
    System,
}

/// An authenticated agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentActor {
    /// The agent's company; it reaches no other.
    pub company: CompanyId,
    /// The agent.
    pub agent: AgentId,
    /// Its role; only `ceo` carries a privilege.
    pub role: Role,
    /// May hire.
    pub can_create_agents: bool,
    /// What it authenticated with.
    pub credential: AgentCredential,
}

/// What an agent authenticated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentCredential {
    /// A long-lived key; `run` is the run the caller named, when that is a run
    /// of this agent that is live or ended recently.
    Key {
        /// The key.
        key: AgentKeyId,
        /// The run named in the run header.
        run: Option<RunId>,
    },
    /// The token of a run, valid only while the run is running.
    Run {
        /// The run.
        run: RunId,
        /// True for a run that may read and comment but not check out.
        consult: bool,
    },
}

impl AgentActor {
    /// The run on whose behalf the agent acts, if any.
    pub const fn run(&self) -> Option<RunId> {
        match self.credential {
            AgentCredential::Key { run, .. } => run,
            AgentCredential::Run { run, .. } => Some(run),
        }
    }

    /// True for the one role that may assign tasks to anyone.
    pub fn is_ceo(&self) -> bool {
        self.role.as_str() == "ceo"
    }
}

impl Actor {
    /// The companies this actor's look-ups reach.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Board(_) | Self::System => Scope::Instance(InstanceScope(())),
            Self::Agent(agent) => Scope::Company(CompanyScope(agent.company)),
        }
    }

    /// Every company of the instance, or `None` for an agent.
    pub const fn instance(&self) -> Option<InstanceScope> {
        match self.scope() {
            Scope::Instance(instance) => Some(instance),
            Scope::Company(_) => None,
        }
    }

    /// The scope of one company, or `None` when it is out of reach.
    pub fn enter(&self, company: CompanyId) -> Option<CompanyScope> {
        match self.scope() {
            Scope::Instance(instance) => Some(instance.enter(company)),
            Scope::Company(own) => (own.0 == company).then_some(own),
        }
    }

    /// The agent, when an agent acts.
    pub const fn agent(&self) -> Option<&AgentActor> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Board(_) | Self::System => None,
        }
    }

    /// The agent's id, when an agent acts.
    pub fn agent_id(&self) -> Option<AgentId> {
        self.agent().map(|agent| agent.agent)
    }

    /// The run on whose behalf an agent acts.
    pub fn run(&self) -> Option<RunId> {
        self.agent().and_then(AgentActor::run)
    }

    /// The person of the board, where accounts exist.
    pub const fn user(&self) -> Option<UserId> {
        match self {
            Self::Board(member) => member.user(),
            Self::Agent(_) | Self::System => None,
        }
    }

    /// The part of the board that acts, when the board acts.
    pub const fn board(&self) -> Option<BoardMember> {
        match self {
            Self::Board(member) => Some(*member),
            Self::Agent(_) | Self::System => None,
        }
    }

    /// The actor as the author of a record.
    pub fn author(&self) -> Author {
        Author::from(self)
    }

    /// True for the board.
    pub const fn is_board(&self) -> bool {
        matches!(self, Self::Board(_))
    }

    /// The actor as a recorded row names it.
    pub fn kind(&self) -> ActorKind {
        self.author().kind()
    }

    /// The actor's name in a recorded row (see [`Author::name`]).
    pub fn name(&self) -> String {
        self.author().name()
    }
}

string_enum! {
    /// The kind of actor, as recorded rows and events name it.
    pub enum ActorKind {
        /// A person of the board.
        Board = "board",
        /// An agent.
        Agent = "agent",
        /// workforce itself.
        System = "system",
    }
}

/// How far a look-up by object id reaches. Comes from a credential
/// ([`Actor::scope`]) or narrows from a [`CompanyScope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every company of the instance.
    Instance(InstanceScope),
    /// One company; objects of others do not exist.
    Company(CompanyScope),
}

impl Scope {
    /// The reach of workforce itself (see [`InstanceScope::SYSTEM`]).
    pub const SYSTEM: Self = Self::Instance(InstanceScope::SYSTEM);

    /// The one company in reach, or `None` for all of them.
    pub const fn company(self) -> Option<CompanyId> {
        match self {
            Self::Instance(_) => None,
            Self::Company(CompanyScope(company)) => Some(company),
        }
    }
}

impl From<CompanyScope> for Scope {
    fn from(scope: CompanyScope) -> Self {
        Self::Company(scope)
    }
}

impl From<InstanceScope> for Scope {
    fn from(scope: InstanceScope) -> Self {
        Self::Instance(scope)
    }
}

/// Every company of the instance, proven to be within reach: no agent's
/// credential leads here. It comes from [`Actor::instance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceScope(());

impl InstanceScope {
    /// The reach of workforce itself. For the engine, the upkeep of the
    /// instance and the start of a server only; the rules of the repository
    /// refuse it elsewhere.
    pub const SYSTEM: Self = Self(());

    /// Narrows to one company.
    pub const fn enter(self, company: CompanyId) -> CompanyScope {
        CompanyScope(company)
    }
}

/// One company, proven to be within a caller's reach. It comes from
/// [`Actor::enter`], or from a record that was found within a [`Scope`].
///
/// It cannot be made from an id:
///
/// ```compile_fail,E0423
/// use workforce_domain::actor::CompanyScope;
/// use workforce_domain::id::CompanyId;
///
/// fn forged(company: CompanyId) -> CompanyScope {
///     CompanyScope(company)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompanyScope(CompanyId);

impl CompanyScope {
    /// The company.
    pub const fn company(self) -> CompanyId {
        self.0
    }
}

/// A record that belongs to a company; having found it proves the scope. Only
/// records of this crate do:
///
/// ```compile_fail,E0277
/// use workforce_domain::actor::CompanyOwned;
/// use workforce_domain::id::CompanyId;
///
/// struct Forged(CompanyId);
///
/// impl CompanyOwned for Forged {
///     fn company(&self) -> CompanyId {
///         self.0
///     }
/// }
/// ```
pub trait CompanyOwned: sealed::Sealed {
    /// The company that owns the record.
    fn company(&self) -> CompanyId;

    /// The scope of the owning company.
    fn scope(&self) -> CompanyScope {
        CompanyScope(self.company())
    }
}

pub(crate) mod sealed {
    use uuid::Uuid;

    /// What no other crate can implement.
    pub trait Sealed {
        /// What the record is and stays, whatever else of it changes.
        fn identity(&self) -> Uuid;
    }
}

/// Says that a record belongs to the company in one of its fields.
macro_rules! company_owned {
    ($record:ty, $($company:ident).+) => {
        impl $crate::actor::sealed::Sealed for $record {
            fn identity(&self) -> uuid::Uuid {
                self.id.into()
            }
        }

        impl $crate::actor::CompanyOwned for $record {
            fn company(&self) -> $crate::id::CompanyId {
                self.$($company).+
            }
        }
    };
}
pub(crate) use company_owned;
