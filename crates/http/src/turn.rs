//! Requests that wait for their turn, and only so long.
//!
//! A store that stands still would otherwise be asked for clients that left long ago.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use workforce_app::Code;

use crate::problem::Problem;

/// So long a request waits for its turn: longer than one before it may wait for a lock of the
/// database.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Something that waits for its turn. It is done by whoever comes first, or not at all: the thread
/// that carries it out takes it, and so does the one that waits no longer.
pub(crate) struct Turn<J>(Arc<Mutex<Option<J>>>);

impl<J> Clone for Turn<J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Work whose outcome is told by itself.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

impl Turn<Work> {
    /// The turn of this work, and where its outcome is told.
    pub(crate) fn of_work<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> (Self, oneshot::Receiver<T>) {
        let (sender, told) = oneshot::channel();
        let turn = Self::of(Box::new(move || {
            // Whoever sent it may have left meanwhile.
            let _ = sender.send(work());
        }));
        (turn, told)
    }
}

impl<J: Send + 'static> Turn<J> {
    /// The turn of this job.
    pub(crate) fn of(job: J) -> Self {
        Self(Arc::new(Mutex::new(Some(job))))
    }

    /// The job, unless somebody took it.
    pub(crate) fn take(&self) -> Option<J> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether somebody took the job.
    pub(crate) fn is_taken(&self) -> bool {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        job.is_none()
    }

    /// What is told by whoever carries the job out, however long that takes once it has begun. When
    /// whoever waits for it leaves, it may still begin for as long as `when_left` says.
    ///
    /// # Errors
    /// `busy` when its turn does not come within `patience`: then it is not carried out. When it
    /// was lost in a panic.
    pub(crate) async fn outcome<T>(
        self,
        patience: Duration,
        when_left: Duration,
        mut told: oneshot::Receiver<T>,
    ) -> Result<T, Problem> {
        let _give_up = GiveUp::after(when_left, &self);
        let told = match timeout(patience, &mut told).await {
            Ok(told) => told,
            Err(_elapsed) => match self.take() {
                Some(_dropped) => {
                    let detail = "the database did not come to the request in time; try again";
                    return Err(Problem::new(Code::Busy, detail));
                }
                None => told.await,
            },
        };
        told.map_err(|lost| Problem::internal(&lost))
    }
}

/// Gives a job up once its time is over, when whoever waited for its outcome has left before: until
/// then it may still be carried out.
struct GiveUp<'a, J: Send + 'static> {
    turn: &'a Turn<J>,
    at: Instant,
}

impl<'a, J: Send + 'static> GiveUp<'a, J> {
    /// Gives `turn` up after `patience`.
    fn after(patience: Duration, turn: &'a Turn<J>) -> Self {
        Self {
            turn,
            at: Instant::now() + patience,
        }
    }
}

impl<J: Send + 'static> Drop for GiveUp<'_, J> {
    fn drop(&mut self) {
        if self.turn.is_taken() {
            return;
        }
        let (turn, at) = (self.turn.clone(), self.at);
        match Handle::try_current() {
            Ok(runtime) if at > Instant::now() => {
                runtime.spawn(async move {
                    sleep_until(at).await;
                    drop(turn.take());
                });
            }
            _now => drop(turn.take()),
        }
    }
}

/// Drops the first of a line that somebody took. They stand in it in the order in which their time is
/// over, so that a line that does not move keeps nothing of those that were given up.
pub(crate) fn drop_taken<J: Send + 'static>(line: &mut VecDeque<Turn<J>>) {
    while line.pop_front_if(|first| first.is_taken()).is_some() {}
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
