use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::activity::ActivityClock;
use super::child::{Child, Exit};
use super::log_writer::{LogSummary, RunLog};
use super::output::{OutputSource, Scrub};

const CHUNK_LEN: usize = 64 * 1024;
/// How many chunks may wait for the disk; then the child waits.
const QUEUE_LEN: usize = 8;
/// For how long output is still read when the group is gone but somebody else
/// holds its pipes open.
const DRAIN_BOUND: Duration = Duration::from_millis(500);
/// For how long the status of a leader is waited for after its group was
/// ended.
const REAP_BOUND: Duration = Duration::from_secs(1);

/// What a run may take (docs/heartbeats.md#processes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From start to end; without limit when `None`.
    pub wall: Option<Duration>,
    /// Without output and without a touch of the activity clock; without limit
    /// when `None`.
    pub idle: Option<Duration>,
    /// Between `SIGTERM` and `SIGKILL`.
    pub grace: Duration,
}

/// Where a child's output goes.
pub struct OutputSinks<'a> {
    /// Keeps both streams, chunk by chunk in the order they came.
    pub log: RunLog,
    /// Cleans what goes to the log.
    pub scrub: Option<Box<dyn Scrub>>,
    /// Sees standard output as it comes, in pieces of any size.
    pub on_stdout: &'a mut (dyn FnMut(&[u8]) + Send),
}

/// What made a run end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy<R> {
    /// The program ended.
    Itself,
    /// It was asked to stop, for this reason.
    Stopped(R),
    /// It ran into its wall limit.
    WallLimit,
    /// It ran into its idle limit.
    IdleLimit,
}

/// How a supervised child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildOutcome<R> {
    /// How the leader ended; `None` when the system did not let go of it.
    pub exit: Option<Exit>,
    /// What made it end.
    pub ended_by: EndedBy<R>,
    /// Whether nothing that the child started executes any more. Only then
    /// may another run take its place.
    pub group_empty: bool,
    /// What its log held.
    pub log: LogSummary,
}

/// Stays with a child to its end and to that of everything it started.
///
/// The group is ended when the leader ends, a limit is reached or `stop` says
/// so, each time by `SIGTERM`, the grace period, and `SIGKILL`. Output is read
/// all the while. If the sender of `stop` is dropped, no stop comes. Dropping
/// the future kills the group.
pub async fn supervise<R: Clone>(
    mut child: Child,
    limits: Limits,
    sinks: OutputSinks<'_>,
    activity: Arc<ActivityClock>,
    mut stop: watch::Receiver<Option<R>>,
) -> ChildOutcome<R> {
    activity.touch();
    let OutputSinks {
        log,
        scrub,
        on_stdout,
    } = sinks;
    let (queue, chunks) = mpsc::channel(QUEUE_LEN);
    let writer = tokio::task::spawn_blocking(move || write_log(log, scrub, chunks));
    let (ended, drain) = oneshot::channel::<()>();

    let feed = feed(take_stdin(&mut child), child.input.take());
    let streams = Streams::take(&mut child);
    let read = streams.read(queue, &activity, on_stdout);
    let pump = async {
        tokio::select! {
            _ = async { tokio::join!(read, feed) } => {}
            () = async { let _ = drain.await; sleep(DRAIN_BOUND).await } => {}
        }
    };

    let control = async {
        let ended_by = tokio::select! {
            biased;
            () = child.exited() => EndedBy::Itself,
            reason = stopped(&mut stop) => EndedBy::Stopped(reason),
            () = wall_limit(limits.wall) => EndedBy::WallLimit,
            () = idle_limit(limits.idle, &activity) => EndedBy::IdleLimit,
        };
        let group_empty = child.group().end(limits.grace).await;
        drop(ended);
        (child.reap(REAP_BOUND).await, ended_by, group_empty)
    };

    let ((exit, ended_by, group_empty), ()) = tokio::join!(control, pump);
    let log = writer.await.unwrap_or_else(|error| LogSummary {
        fault: Some(error.to_string()),
        ..LogSummary::default()
    });
    ChildOutcome {
        exit,
        ended_by,
        group_empty,
        log,
    }
}

async fn stopped<R: Clone>(stop: &mut watch::Receiver<Option<R>>) -> R {
    if let Ok(reason) = stop.wait_for(Option::is_some).await
        && let Some(reason) = reason.clone()
    {
        return reason;
    }
    std::future::pending().await
}

async fn wall_limit(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => std::future::pending().await,
    }
}

async fn idle_limit(limit: Option<Duration>, activity: &ActivityClock) {
    let Some(limit) = limit else {
        return std::future::pending().await;
    };
    loop {
        let left = limit.saturating_sub(activity.idle_for());
        if left.is_zero() {
            return;
        }
        match Instant::now().checked_add(left) {
            Some(due) => sleep_until(due).await,
            None => return std::future::pending().await,
        }
    }
}

fn write_log(
    mut log: RunLog,
    mut scrub: Option<Box<dyn Scrub>>,
    mut chunks: mpsc::Receiver<(OutputSource, Vec<u8>)>,
) -> LogSummary {
    let mut clean = Vec::new();
    while let Some((source, chunk)) = chunks.blocking_recv() {
        match scrub.as_mut() {
            Some(scrub) => {
                clean.clear();
                scrub.scrub(source, &chunk, &mut clean);
                log.append(&clean);
            }
            None => log.append(&chunk),
        }
    }
    if let Some(scrub) = scrub.as_mut() {
        clean.clear();
        scrub.finish(&mut clean);
        log.append(&clean);
    }
    log.finish()
}

fn take_stdin(child: &mut Child) -> Option<ChildStdin> {
    usable("stdin", child.stdin.take().map(ChildStdin::from_std))
}

fn usable<T>(name: &'static str, pipe: Option<std::io::Result<T>>) -> Option<T> {
    match pipe? {
        Ok(pipe) => Some(pipe),
        Err(error) => {
            tracing::error!(%error, pipe = name, "a child's pipe cannot be used");
            None
        }
    }
}

/// Gives a child what it is to read. A child that does not want it is not at
/// fault.
async fn feed(pipe: Option<ChildStdin>, input: Option<Vec<u8>>) {
    if let (Some(mut pipe), Some(input)) = (pipe, input)
        && let Err(error) = pipe.write_all(&input).await
    {
        tracing::debug!(%error, "a child did not read all of its input");
    }
}

struct Streams {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Streams {
    fn take(child: &mut Child) -> Self {
        Self {
            stdout: usable("stdout", child.stdout.take().map(ChildStdout::from_std)),
            stderr: usable("stderr", child.stderr.take().map(ChildStderr::from_std)),
        }
    }

    async fn read(
        mut self,
        queue: mpsc::Sender<(OutputSource, Vec<u8>)>,
        activity: &ActivityClock,
        on_stdout: &mut (dyn FnMut(&[u8]) + Send),
    ) {
        let mut from_stdout = vec![0; CHUNK_LEN];
        let mut from_stderr = vec![0; CHUNK_LEN];
        while self.stdout.is_some() || self.stderr.is_some() {
            let (source, chunk) = tokio::select! {
                len = read_some(&mut self.stdout, &mut from_stdout) => {
                    (OutputSource::Stdout, &from_stdout[..len])
                }
                len = read_some(&mut self.stderr, &mut from_stderr) => {
                    (OutputSource::Stderr, &from_stderr[..len])
                }
            };
            if chunk.is_empty() {
                continue;
            }
            activity.touch();
            if source == OutputSource::Stdout {
                on_stdout(chunk);
            }
            // Only a fault of the writer ends it before the streams. The child
            // must not block on that.
            let _ = queue.send((source, chunk.to_vec())).await;
        }
    }
}

/// Reads the next bytes. A pipe at its end is closed, and a closed pipe never
/// has any.
async fn read_some<P: AsyncRead + Unpin>(pipe: &mut Option<P>, buffer: &mut [u8]) -> usize {
    let Some(open) = pipe.as_mut() else {
        return std::future::pending().await;
    };
    match open.read(buffer).await {
        Ok(0) => {
            *pipe = None;
            0
        }
        Ok(len) => len,
        Err(error) => {
            tracing::warn!(%error, "a child's output cannot be read on");
            *pipe = None;
            0
        }
    }
}
