use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::sleep;
use workforce_agent_programs::{Conclusion, OutputParser, ProgramExit, SelfReportReader, Stream};
use workforce_domain::port::LogStream;

use super::clocks::Clocks;
use super::control::Control;
use crate::files::EventFile;
use crate::launch::Streams;
use crate::log::{LogSummary, OutputScrubber, OutputSource, RunLog};

const CHUNK_LEN: usize = 64 * 1024;
/// How many chunks may wait for the disk; then the program waits.
const QUEUE_LEN: usize = 8;
/// For how long output is still read when nothing of the run is left but somebody
/// else holds its pipes open.
const DRAIN_BOUND: Duration = Duration::from_millis(500);

/// Where the output goes.
pub(super) struct Sinks {
    pub(super) log: RunLog,
    pub(super) scrubber: OutputScrubber,
    pub(super) judge: Judge,
    pub(super) events: EventFile,
    /// Who is told of uses, and of a program that waits.
    pub(super) control: Arc<Control>,
}

/// Reads what a program tells.
pub(super) enum Judge {
    /// Nothing: its exit code counts.
    Nothing,
    /// An agent program.
    Output(Box<OutputParser>),
    /// One that says what became of it.
    SelfReport(Box<SelfReportReader>),
}

impl Judge {
    /// What became of the run, once the program has ended. The last events of an
    /// agent program go to `events`.
    pub(super) fn finish(self, exit: ProgramExit, events: &mut EventFile) -> Option<Conclusion> {
        match self {
            Self::Nothing => None,
            Self::Output(parser) => {
                let (last, conclusion) = parser.finish(exit);
                events.append(&last);
                Some(conclusion)
            }
            Self::SelfReport(reader) => Some(reader.finish(exit)),
        }
    }
}

/// What is left of them when there is no more output.
pub(super) struct Pumped {
    pub(super) log: LogSummary,
    pub(super) judge: Judge,
    pub(super) events: EventFile,
}

/// Brings the program its input and its output to its sinks, until both streams
/// are closed or, a little later, `gone`.
pub(super) async fn pump(
    streams: Streams,
    input: Option<String>,
    sinks: Sinks,
    clocks: &Clocks,
    gone: impl Future<Output = ()>,
) -> std::io::Result<Pumped> {
    let (queue, chunks) = mpsc::channel(QUEUE_LEN);
    // A disk that does not answer must not keep the guard from its other work.
    let writer = tokio::task::spawn_blocking(move || write(sinks, chunks));
    let feed = feed(streams.stdin.map(OwnedFd::from), input);
    let read = read(streams.stdout, streams.stderr, queue, clocks);
    tokio::select! {
        _ = async { tokio::join!(read, feed) } => {}
        () = async { gone.await; sleep(DRAIN_BOUND).await } => {}
    }
    writer.await.map_err(std::io::Error::other)
}

fn write(mut sinks: Sinks, mut chunks: mpsc::Receiver<(OutputSource, Vec<u8>)>) -> Pumped {
    let mut clean = Vec::new();
    while let Some((source, chunk)) = chunks.blocking_recv() {
        clean.clear();
        sinks.scrubber.scrub(source, &chunk, &mut clean);
        sinks.take(source, &clean);
    }
    for source in [OutputSource::Stdout, OutputSource::Stderr] {
        clean.clear();
        sinks.scrubber.finish(source, &mut clean);
        sinks.take(source, &clean);
    }
    Pumped {
        log: sinks.log.finish(),
        judge: sinks.judge,
        events: sinks.events,
    }
}

impl Sinks {
    fn take(&mut self, source: OutputSource, clean: &[u8]) {
        let (noted, stream) = match source {
            OutputSource::Stdout => (LogStream::Stdout, Stream::Stdout),
            OutputSource::Stderr => (LogStream::Stderr, Stream::Stderr),
        };
        match (&mut self.judge, source) {
            (Judge::SelfReport(reader), OutputSource::Stderr) => {
                let mut other = Vec::new();
                if reader.push(clean, &mut other) {
                    self.control.clocks.lift_idle_limit();
                }
                self.log.append(noted, &other);
            }
            (Judge::Output(parser), _) => {
                self.log.append(noted, clean);
                let mut events = Vec::new();
                parser.push(stream, clean, &mut events);
                if self.events.append(&events) {
                    self.control.note_use();
                }
            }
            (Judge::Nothing | Judge::SelfReport(_), _) => self.log.append(noted, clean),
        }
    }
}

/// Gives a program what it is to read. One that does not want it is not at fault.
async fn feed(pipe: Option<OwnedFd>, input: Option<String>) {
    if let (Some(pipe), Some(input)) = (pipe, input)
        && let Ok(mut pipe) = pipe::Sender::from_owned_fd(pipe)
    {
        let _ = pipe.write_all(input.as_bytes()).await;
    }
}

async fn read(
    stdout: PipeReader,
    stderr: PipeReader,
    queue: mpsc::Sender<(OutputSource, Vec<u8>)>,
    clocks: &Clocks,
) {
    let mut stdout = pipe::Receiver::from_owned_fd(stdout.into()).ok();
    let mut stderr = pipe::Receiver::from_owned_fd(stderr.into()).ok();
    let mut from_stdout = vec![0; CHUNK_LEN];
    let mut from_stderr = vec![0; CHUNK_LEN];
    while stdout.is_some() || stderr.is_some() {
        let (source, chunk) = tokio::select! {
            len = read_some(&mut stdout, &mut from_stdout) => {
                (OutputSource::Stdout, &from_stdout[..len])
            }
            len = read_some(&mut stderr, &mut from_stderr) => {
                (OutputSource::Stderr, &from_stderr[..len])
            }
        };
        if chunk.is_empty() {
            continue;
        }
        clocks.touch();
        // Only a fault of the writer ends it before the streams. The program
        // must not block on that.
        let _ = queue.send((source, chunk.to_vec())).await;
    }
}

/// Reads the next bytes. A pipe at its end is closed, and a closed pipe never
/// has any.
async fn read_some<P: AsyncRead + Unpin>(pipe: &mut Option<P>, buffer: &mut [u8]) -> usize {
    let Some(open) = pipe.as_mut() else {
        return std::future::pending().await;
    };
    match open.read(buffer).await {
        Ok(len) if len > 0 => len,
        Ok(_) | Err(_) => {
            *pipe = None;
            0
        }
    }
}
