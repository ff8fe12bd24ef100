//! Work on the blocking threads of the worker that has the request.

use std::time::Duration;

use actix_web::rt::task::spawn_blocking;

use crate::problem::Problem;
use crate::turn::{PATIENCE, Turn};

/// What `work` leads to on a thread that may block. When whoever waited for it leaves, it goes on if
/// it has begun, and may begin for as long as `when_left` says.
///
/// # Errors
/// Its own. `busy` when no thread comes to it in time, such as when what all of them ask is locked:
/// then it is not begun. When it panicked.
pub(crate) async fn in_pool<T: Send + 'static>(
    when_left: Duration,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (turn, done) = Turn::of_work(work);
    let its = turn.clone();
    spawn_blocking(move || its.take().map(|work| work()));
    turn.outcome(PATIENCE, when_left, done).await.flatten()
}
