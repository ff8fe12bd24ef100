//! The call that a use case serves: who asks, when, and the sources of ids,
//! credentials and seals, which the rules do not have.

use std::cell::Cell;

use workforce_domain::actor::{Actor, AgentActor, InstanceScope};
use workforce_domain::company::{Company, CompanyStatus};
use workforce_domain::cost::PriceTable;
use workforce_domain::id::{CompanyId, Id, InstanceId};
use workforce_domain::port::{Ids, Tokens, Vault};
use workforce_domain::time::Timestamp;

use crate::denied::Denied;

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub actor: Actor,
    /// The status of an agent's company as the transaction sees it; `None`
    /// for the board and for workforce itself.
    pub company_status: Option<CompanyStatus>,
}

impl Caller {
    /// workforce itself.
    pub const SYSTEM: Self = Self {
        actor: Actor::System,
        company_status: None,
    };
}

/// Tells, after the commit, that the engine has something to do at once.
#[derive(Debug, Default)]
pub struct Signal(Cell<bool>);

impl Signal {
    /// Notes that a wake was queued or a run asked to stop.
    pub fn raise(&self) {
        self.0.set(true);
    }

    /// True when something was noted.
    pub fn is_raised(&self) -> bool {
        self.0.get()
    }
}

/// One call.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// When.
    pub now: Timestamp,
    /// The server that answers it.
    pub server: InstanceId,
    /// New ids.
    pub ids: &'a dyn Ids,
    /// New credentials.
    pub tokens: &'a dyn Tokens,
    /// Seals what may not lie in plain text at rest.
    pub vault: &'a dyn Vault,
    /// What the models cost by list.
    pub prices: &'a PriceTable,
    /// Whether values under sensitive names must be secrets
    /// (docs/secrets.md#strict-mode).
    pub strict_secrets: bool,
    /// What the engine is told after the commit.
    pub signal: &'a Signal,
    /// The company that its transaction found already, which is not looked for again.
    pub company: Option<&'a Company>,
}

impl<'a> Context<'a> {
    /// Who asks.
    pub const fn actor(&self) -> &'a Actor {
        &self.caller.actor
    }

    /// A new id.
    pub fn id<I: Id>(&self) -> I {
        I::from(self.ids.next())
    }

    /// The agent, when an agent asks.
    pub const fn agent(&self) -> Option<&'a AgentActor> {
        self.caller.actor.agent()
    }

    /// The same call as workforce itself: for what a rule does on its own
    /// account.
    pub const fn as_system(self) -> Self {
        Self {
            caller: &Caller::SYSTEM,
            ..self
        }
    }

    /// The same call after its transaction, which only reads, found the company that it is about.
    #[must_use]
    pub const fn within(self, company: &'a Company) -> Self {
        Self {
            company: Some(company),
            ..self
        }
    }

    /// The company that was found already, if it is this one.
    pub fn found(&self, company: CompanyId) -> Option<&'a Company> {
        self.company.filter(|found| found.id == company)
    }

    /// Refuses everyone but the board.
    ///
    /// # Errors
    /// [`Denied::BoardRequired`] for agents.
    pub const fn require_board(&self) -> Result<(), Denied> {
        match self.caller.actor {
            Actor::Agent(_) => Err(Denied::BoardRequired),
            Actor::Board(_) | Actor::System => Ok(()),
        }
    }

    /// Every company of the instance: refuses everyone but the board.
    ///
    /// # Errors
    /// [`Denied::BoardRequired`] for agents.
    pub fn instance(&self) -> Result<InstanceScope, Denied> {
        self.actor().instance().ok_or(Denied::BoardRequired)
    }

    /// Refuses agents whose company does not work at the moment
    /// (docs/access.md#company-switches).
    ///
    /// # Errors
    /// [`Denied::CompanyNotActive`]
    pub const fn require_working_company(&self) -> Result<(), Denied> {
        match self.caller.company_status {
            None | Some(CompanyStatus::Active) => Ok(()),
            Some(status) => Err(Denied::CompanyNotActive { status }),
        }
    }
}
