//! The store, and who calls the use cases on it.

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;
use workforce_app::authenticate::{AuthPolicy, Presented, authenticate};
use workforce_app::{Caller, Code, Context, Refusal, Signal};
use workforce_domain::actor::Actor;
use workforce_domain::board::BoardMember;
use workforce_domain::cost::PriceTable;
use workforce_domain::id::InstanceId;
use workforce_domain::port::{Failure, Reads, Store, StoreError, Tx, Vault};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::{Month, Timestamp};
use workforce_infra::store::MemoryStore;

use crate::seeded::Seeded;

/// Something that must hold did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Names what must hold.
    pub name: &'static str,
    /// What was seen instead.
    pub seen: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.seen)
    }
}

/// Breaks off where something does not hold.
pub(crate) fn demand(
    holds: bool,
    name: &'static str,
    seen: impl FnOnce() -> String,
) -> Result<(), Broken> {
    if holds {
        Ok(())
    } else {
        Err(Broken { name, seen: seen() })
    }
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<T> {
    /// It was done.
    Done(T),
    /// It was refused.
    Refused(Code),
}

impl<T> Answer<T> {
    /// What came of it, unless it was refused.
    pub(crate) fn done(self) -> Option<T> {
        match self {
            Self::Done(value) => Some(value),
            Self::Refused(_) => None,
        }
    }

    /// What became of it, as a word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(code) => code.as_str(),
        }
    }
}

/// The refusal of a call with a credential.
enum Refused<E> {
    Credential(Code),
    Call(E),
}

/// Everything outside of the servers and the agents.
pub(crate) struct World {
    store: Arc<MemoryStore>,
    vault: Arc<dyn Vault>,
    pub(crate) seeded: Seeded,
    signalled: Cell<bool>,
    /// Whether anything may have been written since the last look.
    is_touched: Cell<bool>,
}

impl World {
    /// A world with nothing in its store.
    pub(crate) fn new(
        store: &Arc<MemoryStore>,
        vault: &Arc<dyn Vault>,
        seed: u64,
        now: Timestamp,
    ) -> Result<Self, Broken> {
        store.clear().map_err(|error| failed(&error))?;
        Ok(Self {
            store: Arc::clone(store),
            vault: Arc::clone(vault),
            seeded: Seeded::new(seed, now),
            signalled: Cell::new(false),
            is_touched: Cell::new(true),
        })
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        self.seeded.now()
    }

    /// The month of the present.
    pub(crate) fn month(&self) -> Month {
        Month::of(self.now())
    }

    /// True when a call since the last look had something for the engines to do.
    pub(crate) fn take_signal(&self) -> bool {
        self.signalled.take()
    }

    /// True when a call since the last look may have written something.
    pub(crate) fn take_touch(&self) -> bool {
        self.is_touched.take()
    }

    /// A transaction of a server.
    pub(crate) fn engine<T>(
        &self,
        mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<Infallible>>,
    ) -> Result<T, Broken> {
        let store: &dyn Store = &*self.store;
        store
            .write(|tx| self.calling(&Caller::SYSTEM, |ctx| body(tx, ctx)))
            .map_err(store_error)
    }

    /// Looks at the store.
    pub(crate) fn read<T>(
        &self,
        mut body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>,
    ) -> Result<T, Broken> {
        let store: &dyn Store = &*self.store;
        store
            .read(|reads| Ok::<_, Failure<Infallible>>(body(reads)?))
            .map_err(store_error)
    }

    /// A request of the board.
    pub(crate) fn board<T, E: Refusal>(
        &self,
        mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> Result<Answer<T>, Broken> {
        let caller = Caller {
            actor: Actor::Board(BoardMember::Local),
            company_status: None,
        };
        let store: &dyn Store = &*self.store;
        let outcome = store.write(|tx| self.calling(&caller, |ctx| body(tx, ctx)));
        match outcome {
            Ok(value) => Ok(Answer::Done(value)),
            Err(Failure::Refused(refusal)) => Ok(Answer::Refused(refusal.code())),
            Err(Failure::Store(error)) => Err(failed(&error)),
        }
    }

    /// A request of whoever presents this token, who is found out in its own transaction.
    pub(crate) fn presenting<T, E: Refusal>(
        &self,
        token: &str,
        mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
    ) -> Result<Answer<T>, Broken> {
        let authorization = format!("Bearer {token}");
        let presented = Presented {
            authorization: Some(&authorization),
            run_header: None,
        };
        let store: &dyn Store = &*self.store;
        let outcome = store.write(|tx| {
            let policy = AuthPolicy::LOCAL_TRUSTED;
            let found = authenticate(tx.reads(), &self.seeded, self.now(), policy, presented)
                .map_err(|failure| failure.map(|error| Refused::Credential(error.code())))?;
            self.calling(&found.caller, |ctx| body(tx, ctx))
                .map_err(|failure| failure.map(Refused::Call))
        });
        match outcome {
            Ok(value) => Ok(Answer::Done(value)),
            Err(Failure::Refused(Refused::Credential(code))) => Ok(Answer::Refused(code)),
            Err(Failure::Refused(Refused::Call(error))) => Ok(Answer::Refused(error.code())),
            Err(Failure::Store(error)) => Err(failed(&error)),
        }
    }

    /// Breaks off when an invariant of the store does not hold.
    pub(crate) fn check_store(&self) -> Result<(), Broken> {
        let broken = self
            .store
            .broken_invariants(3)
            .map_err(|error| failed(&error))?;
        demand(broken.is_empty(), "the store's own invariants", || {
            let lines: Vec<_> = broken.iter().map(ToString::to_string).collect();
            lines.join("; ")
        })
    }

    fn calling<T>(&self, caller: &Caller, body: impl FnOnce(&Context<'_>) -> T) -> T {
        let signal = Signal::default();
        self.is_touched.set(true);
        let outcome = body(&Context {
            caller,
            now: self.now(),
            server: InstanceId::from(Uuid::nil()),
            ids: &self.seeded,
            tokens: &self.seeded,
            vault: &*self.vault,
            prices: &PriceTable::EMPTY,
            strict_secrets: false,
            signal: &signal,
            company: None,
        });
        if signal.is_raised() {
            self.signalled.set(true);
        }
        outcome
    }
}

fn store_error(failure: Failure<Infallible>) -> Broken {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Store(error) => failed(&error),
    }
}

/// No store fails here by itself.
fn failed(error: &StoreError) -> Broken {
    Broken {
        name: "the store takes what the use cases write",
        seen: format!("{error:?}"),
    }
}
