//! A store with everything a use case is called with: a clock that tests set, ids, credentials,
//! and callers of every kind.

mod builders;
mod clock;
mod runs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use workforce_app::{Caller, Context, Failure, Signal};
use workforce_domain::actor::{Actor, AgentActor, AgentCredential, Scope};
use workforce_domain::board::BoardMember;
use workforce_domain::cost::PriceTable;
use workforce_domain::id::{AgentId, Id, InstanceId, RunId};
use workforce_domain::port::{Clock, Ids, Reads, Store, StoreError, Tx, Vault};
use workforce_domain::run::RunKind;
use workforce_domain::time::{Month, Timestamp};
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::tokens::RandomTokens;

pub use builders::{
    description, key_name, label, name, new_agent, new_company, new_goal, new_issue, new_project,
    new_workspace, no_change, report_of, title,
};
pub use clock::SettableClock;
pub use runs::StartedRun;

use crate::store::{Exemptions, TestStore, sqlite_store};

/// A store and what belongs to a call.
pub struct World {
    server: InstanceId,
    store: Arc<dyn Store>,
    clock: SettableClock,
    ids: UuidV7Ids<SettableClock>,
    tokens: RandomTokens,
    vault: Arc<dyn Vault>,
    prices: Arc<PriceTable>,
    strict_secrets: AtomicBool,
    signalled: AtomicBool,
    exemptions: Arc<Exemptions>,
    // Dropped last: it removes the data.
    _data: Option<TestStore>,
}

impl World {
    /// A world on a store of its own, in a SQLite file.
    #[must_use]
    #[track_caller]
    pub fn sqlite() -> Self {
        let store = sqlite_store();
        let mut world = Self::on(&store);
        world._data = Some(store);
        world
    }

    /// A world on a store that outlives it.
    #[must_use]
    pub fn on(store: &TestStore) -> Self {
        Self {
            exemptions: Arc::clone(store.exemptions()),
            ..Self::over(store.shared())
        }
    }

    /// A world on any store.
    #[must_use]
    pub fn over(store: Arc<dyn Store>) -> Self {
        let clock = SettableClock::default();
        let ids = UuidV7Ids::new(clock.clone());
        Self {
            server: ids.next().into(),
            store,
            ids,
            clock,
            tokens: RandomTokens,
            vault: crate::ports::vault(),
            prices: crate::ports::prices(),
            strict_secrets: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
            exemptions: Arc::default(),
            _data: None,
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The clock that calls take the present from.
    #[must_use]
    pub const fn clock(&self) -> &SettableClock {
        &self.clock
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The month of the present.
    #[must_use]
    pub fn month(&self) -> Month {
        Month::of(self.now())
    }

    /// Lets time pass.
    pub fn advance(&self, time: Duration) {
        self.clock.set(self.now().plus(time));
    }

    /// What makes and recognises credentials.
    #[must_use]
    pub const fn tokens(&self) -> &RandomTokens {
        &self.tokens
    }

    /// A new id, which names nothing.
    #[must_use]
    pub fn id<I: Id>(&self) -> I {
        I::from(self.ids.next())
    }

    /// Says that the test breaks these invariants on purpose.
    ///
    /// # Panics
    /// When there is no invariant of such a name.
    #[track_caller]
    pub fn breaks_on_purpose(&self, names: &[&'static str]) {
        self.exemptions.breaks_on_purpose(names);
    }

    /// True when a call since the last look had something for the engine to do at once.
    pub fn take_signal(&self) -> bool {
        self.signalled.swap(false, Ordering::SeqCst)
    }

    /// From now on, values under sensitive names must be secrets.
    pub fn be_strict_about_secrets(&self) {
        self.strict_secrets.store(true, Ordering::SeqCst);
    }

    /// What seals.
    #[must_use]
    pub fn vault(&self) -> &dyn Vault {
        &*self.vault
    }

    /// The board.
    #[must_use]
    pub const fn board(&self) -> Acting<'_> {
        Acting {
            world: self,
            who: Who::Board,
        }
    }

    /// workforce itself.
    #[must_use]
    pub const fn system(&self) -> Acting<'_> {
        Acting {
            world: self,
            who: Who::System,
        }
    }

    /// An agent with a long-lived key, outside of any run.
    #[must_use]
    pub const fn agent(&self, agent: AgentId) -> Acting<'_> {
        Acting {
            world: self,
            who: Who::Key { agent, run: None },
        }
    }

    /// An agent with a long-lived key that names one of its runs.
    #[must_use]
    pub const fn agent_naming(&self, agent: AgentId, run: RunId) -> Acting<'_> {
        Acting {
            world: self,
            who: Who::Key {
                agent,
                run: Some(run),
            },
        }
    }

    /// The agent of a run, with the run's token.
    #[must_use]
    pub const fn run_of(&self, run: RunId) -> Acting<'_> {
        Acting {
            world: self,
            who: Who::Run(run),
        }
    }
}

/// Somebody who calls use cases. Each call is one transaction, in which the caller is looked up
/// as a server does it with a credential.
#[derive(Clone, Copy)]
pub struct Acting<'w> {
    world: &'w World,
    who: Who,
}

#[derive(Clone, Copy)]
enum Who {
    Board,
    System,
    Key { agent: AgentId, run: Option<RunId> },
    Run(RunId),
}

impl Acting<'_> {
    /// Calls a use case that writes.
    pub fn write<T, E>(
        &self,
        mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> Result<T, Failure<E>> {
        self.world.store.write(|tx| {
            let caller = self.caller(tx.reads())?;
            self.with(&caller, |ctx| body(tx, ctx))
        })
    }

    /// Calls a use case that reads.
    pub fn read<T, E>(
        &self,
        mut body: impl FnMut(&mut dyn Reads, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> Result<T, Failure<E>> {
        self.world.store.read(|reads| {
            let caller = self.caller(reads)?;
            self.with(&caller, |ctx| body(reads, ctx))
        })
    }

    fn with<T>(&self, caller: &Caller, body: impl FnOnce(&Context<'_>) -> T) -> T {
        let signal = Signal::default();
        let world = self.world;
        let outcome = body(&Context {
            caller,
            now: world.now(),
            server: world.server,
            ids: &world.ids,
            tokens: &world.tokens,
            vault: &*world.vault,
            prices: &world.prices,
            strict_secrets: world.strict_secrets.load(Ordering::SeqCst),
            signal: &signal,
            company: None,
        });
        if signal.is_raised() {
            world.signalled.store(true, Ordering::SeqCst);
        }
        outcome
    }

    fn caller(&self, reads: &mut dyn Reads) -> Result<Caller, StoreError> {
        let (agent, credential) = match self.who {
            Who::Board => {
                return Ok(Caller {
                    actor: Actor::Board(BoardMember::Local),
                    company_status: None,
                });
            }
            Who::System => return Ok(Caller::SYSTEM),
            Who::Key { agent, run } => (
                agent,
                AgentCredential::Key {
                    key: self.world.id(),
                    run,
                },
            ),
            Who::Run(id) => {
                let run = there(reads.runs().find(Scope::SYSTEM, id)?, "run");
                let consult = run.kind == RunKind::Consult;
                (run.agent, AgentCredential::Run { run: id, consult })
            }
        };
        let agent = there(reads.agents().find(Scope::SYSTEM, agent)?, "agent");
        let company = there(
            reads.companies().find(Scope::SYSTEM, agent.company)?,
            "company",
        );
        Ok(Caller {
            actor: Actor::Agent(AgentActor {
                company: agent.company,
                agent: agent.id,
                role: agent.role,
                can_create_agents: agent.can_create_agents,
                credential,
            }),
            company_status: Some(company.status()),
        })
    }
}

#[track_caller]
fn there<T>(found: Option<T>, kind: &str) -> T {
    found.unwrap_or_else(|| panic!("no such {kind}"))
}

/// The value of a call that a test does not expect to fail.
///
/// # Panics
/// When the call was refused or the store failed.
#[track_caller]
pub fn done<T, E: std::fmt::Debug>(outcome: Result<T, Failure<E>>) -> T {
    outcome.unwrap_or_else(|failure| panic!("{failure:?}"))
}

/// The refusal of a call that a test expects to be refused.
///
/// # Panics
/// When the call succeeded or the store failed.
#[track_caller]
pub fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(outcome: Result<T, Failure<E>>) -> E {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}
