use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

/// The pause before a task that ended is started again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A task that ran for so long begins with the first pause again.
const SETTLED: Duration = Duration::from_secs(60);

/// Keeps long-lived tasks running: one that panics, or ends although nobody
/// stopped it, is told of, counted, and started again after a pause. Clones
/// know the same tasks.
#[derive(Clone, Debug, Default)]
pub struct Supervisor(Arc<Mutex<Vec<Arc<Task>>>>);

/// One task, by its name.
#[derive(Debug)]
struct Task {
    name: &'static str,
    restarts: AtomicU64,
    down: AtomicUsize,
}

/// How a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// Its name.
    pub name: &'static str,
    /// How often it was started again.
    pub restarts: u64,
    /// Whether it has ended and waits to be started again.
    pub is_down: bool,
}

impl Supervisor {
    /// Runs what `begin` makes, again whenever it ends, until `stop` is
    /// cancelled. Whatever runs then goes to its own end; drop the future to
    /// end it at once.
    pub async fn keep<F>(
        self,
        name: &'static str,
        stop: CancellationToken,
        mut begin: impl FnMut() -> F + Send,
    ) where
        F: Future<Output = ()> + Send,
    {
        let task = self.task(name);
        let mut backoff = Backoff::default();
        loop {
            let begun = Instant::now();
            // What begins the task may panic as well as the task.
            let run = async { begin().await };
            let ended = AssertUnwindSafe(run).catch_unwind().await;
            if stop.is_cancelled() {
                return;
            }
            let pause = backoff.after(begun.elapsed());
            let _down = task.fell(&ended, pause);
            if stop
                .run_until_cancelled(tokio::time::sleep(pause))
                .await
                .is_none()
            {
                return;
            }
        }
    }

    /// Runs `work` on this thread, again whenever it ends, until it ends when
    /// `is_closing`.
    pub fn keep_thread(
        &self,
        name: &'static str,
        is_closing: impl Fn() -> bool,
        mut work: impl FnMut(),
    ) {
        let task = self.task(name);
        let mut backoff = Backoff::default();
        loop {
            let begun = Instant::now();
            let ended = catch_unwind(AssertUnwindSafe(&mut work));
            if is_closing() {
                return;
            }
            let pause = backoff.after(begun.elapsed());
            let _down = task.fell(&ended, pause);
            std::thread::sleep(pause);
            if is_closing() {
                return;
            }
        }
    }

    /// How each task does, in the order in which they were first started.
    #[must_use]
    pub fn tasks(&self) -> Vec<TaskState> {
        let state = |task: &Arc<Task>| TaskState {
            name: task.name,
            restarts: task.restarts.load(Ordering::Relaxed),
            is_down: task.down.load(Ordering::Relaxed) > 0,
        };
        self.lock().iter().map(state).collect()
    }

    fn task(&self, name: &'static str) -> Arc<Task> {
        let mut tasks = self.lock();
        if let Some(task) = tasks.iter().find(|task| task.name == name) {
            return Arc::clone(task);
        }
        let task = Arc::new(Task {
            name,
            restarts: AtomicU64::new(0),
            down: AtomicUsize::new(0),
        });
        tasks.push(Arc::clone(&task));
        task
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// Notes that the task ended and is started again; it is down until the
    /// result is dropped.
    fn fell(&self, ended: &Result<(), Box<dyn Any + Send>>, pause: Duration) -> Down<'_> {
        let why = match ended {
            Ok(()) => "it ended",
            Err(panic) => message(&**panic),
        };
        let pause_ms = pause.as_millis();
        tracing::error!(
            task = self.name,
            why,
            pause_ms,
            "a task of the server is started again"
        );
        self.restarts.fetch_add(1, Ordering::Relaxed);
        self.down.fetch_add(1, Ordering::Relaxed);
        Down(self)
    }
}

/// While this lives, its task is down.
struct Down<'a>(&'a Task);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        self.0.down.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// The next pause.
#[derive(Debug)]
struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Backoff {
    /// The pause after a task ran for so long.
    fn after(&mut self, ran: Duration) -> Duration {
        if ran >= SETTLED {
            *self = Self::default();
        }
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_or_ends_is_started_again_until_it_is_stopped() {
        let (supervisor, stop) = (Supervisor::default(), CancellationToken::new());
        let mut runs = 0;
        let own = stop.clone();
        let kept = supervisor.clone().keep("work", stop.clone(), move || {
            runs += 1;
            let (run, stop) = (runs, own.clone());
            async move {
                match run {
                    1 => panic!("the rule is wrong"),
                    2 => {}
                    _ => stop.cancel(),
                }
            }
        });
        kept.await;
        let state = TaskState {
            name: "work",
            restarts: 2,
            is_down: false,
        };
        assert_eq!(supervisor.tasks(), [state]);
    }

    #[tokio::test]
    async fn a_task_is_down_while_it_waits() {
        let (supervisor, stop) = (Supervisor::default(), CancellationToken::new());
        let kept = supervisor.clone().keep("work", stop.clone(), || async {});
        let kept = tokio::spawn(kept);
        tokio::task::yield_now().await;
        assert!(supervisor.tasks().iter().all(|task| task.is_down));
        stop.cancel();
        kept.await.unwrap();
        assert!(!supervisor.tasks().iter().any(|task| task.is_down));
    }

    #[test]
    fn a_thread_is_kept_as_a_task_is() {
        let supervisor = Supervisor::default();
        let runs = AtomicUsize::new(0);
        supervisor.keep_thread(
            "thread",
            || runs.load(Ordering::Relaxed) == 2,
            || {
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    panic!("{}", "it broke");
                }
            },
        );
        assert_eq!(supervisor.tasks()[0].restarts, 1);
    }

    #[test]
    fn pauses_grow_and_begin_anew() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.after(Duration::ZERO), FIRST_PAUSE);
        assert_eq!(backoff.after(Duration::ZERO), FIRST_PAUSE * 2);
        for _ in 0..20 {
            backoff.after(Duration::ZERO);
        }
        assert_eq!(backoff.after(Duration::ZERO), LONGEST_PAUSE);
        assert_eq!(backoff.after(SETTLED), FIRST_PAUSE);
    }
}
