//! Pooled connections that are given up when something went wrong on them.

use core::time::Duration;

use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use workforce_domain::port::{Connections, StoreError};

/// How long a caller waits for a free connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// How one connection is opened and prepared.
type Connect<C> = dyn Fn() -> Result<C, ConnectError> + Send + Sync;

/// Why a connection could not be opened.
pub(super) type ConnectError = Box<dyn core::error::Error + Send + Sync>;

/// Opens connections for a pool.
pub(super) struct Manager<C> {
    connect: Box<Connect<C>>,
}

/// A connection of a pool.
pub(super) struct Pooled<C> {
    /// Where statements run.
    pub(super) conn: C,
    /// Set while a transaction is open. A connection that comes back with it set was left by a
    /// panic or by a failed roll-back, and is closed.
    pub(super) in_transaction: bool,
}

/// Any error of the pool.
#[derive(Debug, thiserror::Error)]
#[error("failed to connect to the database")]
pub(super) struct ManagerError(#[source] ConnectError);

impl<C: Send + 'static> ManageConnection for Manager<C> {
    type Connection = Pooled<C>;
    type Error = ManagerError;

    fn connect(&self) -> Result<Pooled<C>, ManagerError> {
        let conn = (self.connect)().map_err(ManagerError)?;
        Ok(Pooled {
            conn,
            in_transaction: false,
        })
    }

    fn is_valid(&self, _conn: &mut Pooled<C>) -> Result<(), ManagerError> {
        Ok(())
    }

    fn has_broken(&self, conn: &mut Pooled<C>) -> bool {
        conn.in_transaction
    }
}

/// A pool of at most `size` connections, each opened when it is first needed. A connection is not
/// tested before it is used, since that would be one more round trip per transaction.
pub(super) fn pool<C: Send + 'static>(
    size: u32,
    connect: impl Fn() -> Result<C, ConnectError> + Send + Sync + 'static,
) -> Pool<Manager<C>> {
    Pool::builder()
        .max_size(size.max(1))
        .min_idle(Some(0))
        .test_on_check_out(false)
        .connection_timeout(PATIENCE)
        // A failure to connect reaches whoever asks for a connection.
        .error_handler(Box::new(NopErrorHandler))
        .build_unchecked(Manager {
            connect: Box::new(connect),
        })
}

/// A connection of the pool.
pub(super) fn take<C: Send + 'static>(
    pool: &Pool<Manager<C>>,
) -> Result<PooledConnection<Manager<C>>, StoreError> {
    pool.get()
        .map_err(|error| StoreError::Unavailable(Box::new(error)))
}

/// How the pool is used.
pub(super) fn connections<C: Send + 'static>(pool: &Pool<Manager<C>>) -> Connections {
    let state = pool.state();
    Connections {
        open: state.connections,
        idle: state.idle_connections,
        most: pool.max_size(),
    }
}
