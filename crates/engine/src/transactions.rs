use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::Notify;
use workforce_app::{Caller, Context, Signal};
use workforce_domain::actor::Actor;
use workforce_domain::id::InstanceId;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};

use crate::config::Ports;

/// Makes the engine look at once.
#[derive(Debug, Default)]
pub(crate) struct Notifiers {
    /// For whoever starts runs.
    pub(crate) dispatch: Notify,
    /// For whoever stops them.
    pub(crate) stops: Notify,
    /// For whoever asks forges.
    pub(crate) forges: Notify,
    /// For whoever looks what there is to do.
    pub(crate) changes: Notify,
}

impl Notifiers {
    pub(crate) fn nudge(&self) {
        self.dispatch.notify_one();
        self.stops.notify_one();
        self.changes.notify_one();
    }
}

/// The store for asynchronous code. Every transaction runs on the blocking pool,
/// with workforce itself as the actor.
#[derive(Clone)]
pub(crate) struct Transactions {
    /// The server.
    pub(crate) instance: InstanceId,
    pub(crate) ports: Ports,
    pub(crate) notifiers: Arc<Notifiers>,
}

impl Transactions {
    /// Runs `body` in a transaction of its own, commits it, and passes on what
    /// it signalled.
    pub(crate) async fn write<T, F>(&self, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<Infallible>> + Send + 'static,
    {
        self.write_as(Actor::System, body)
            .await
            .map_err(store_error)
    }

    /// The same for somebody else, whom the rules may refuse.
    pub(crate) async fn write_as<T, E, F>(&self, actor: Actor, mut body: F) -> Result<T, Failure<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>> + Send + 'static,
    {
        let Self {
            instance,
            ports,
            notifiers,
        } = self.clone();
        blocking(move || {
            let signal = Signal::default();
            let caller = Caller {
                actor,
                company_status: None,
            };
            let ctx = Context {
                caller: &caller,
                now: ports.clock.now(),
                server: instance,
                ids: &*ports.ids,
                tokens: &*ports.tokens,
                vault: &*ports.vault,
                prices: &ports.prices,
                strict_secrets: false,
                signal: &signal,
                company: None,
            };
            let outcome = ports.store.write(|tx| body(tx, &ctx))?;
            notifiers.changes.notify_one();
            if signal.is_raised() {
                notifiers.nudge();
            }
            Ok(outcome)
        })
        .await
    }

    /// Runs `body` in a read-only transaction.
    pub(crate) async fn read<T, F>(&self, mut body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Reads) -> Result<T, StoreError> + Send + 'static,
    {
        let store = Arc::clone(&self.ports.store);
        blocking(move || store.read(|reads| Ok::<_, Failure<Infallible>>(body(reads)?)))
            .await
            .map_err(store_error)
    }
}

fn store_error(failure: Failure<Infallible>) -> StoreError {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Store(error) => error,
    }
}

async fn blocking<T: Send + 'static, E: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure<E>> + Send + 'static,
) -> Result<T, Failure<E>> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StoreError::Failed(error.into()).into()))
}
