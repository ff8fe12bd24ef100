use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use workforce_agent_programs::{
    Conclusion, OutputParser, ProgramEvent, ProgramExit, SelfReportReader, Stream,
};
use workforce_domain::port::LogStream;

use super::children::{Family, gone};
use super::clocks::Clocks;
use super::control::Control;
use super::usage_file::UsageFile;
use crate::files::EventFile;
use crate::launch::Streams;
use crate::log::{LogSummary, OutputScrubber, OutputSource, RunLog};

const CHUNK_LEN: usize = 64 * 1024;
/// How many chunks may wait for the disk; then the program waits.
const QUEUE_LEN: usize = 8;
/// For how long output is still read when nothing of the run is left but somebody
/// else holds its pipes open.
const DRAIN_BOUND: Duration = Duration::from_millis(500);
/// How often the usage file is looked at, beside each time that there is output.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many pieces of it are read at a time.
const PIECES_OF_A_LOOK: usize = 16;
/// The same when the run has ended. What an agent wrote beyond that is no use of a model.
const LAST_PIECES: usize = 1024;
const MISSING_USAGE_FILE: &[u8] =
    b"\n[the usage file of the program was not found: only its output told what it used]\n";

/// Where the output goes.
pub(super) struct Sinks {
    pub(super) log: RunLog,
    pub(super) scrubber: OutputScrubber,
    pub(super) judge: Judge,
    /// Where an agent program tells what it uses, if it does so in a file.
    pub(super) usage_file: Option<UsageFile>,
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

/// What is to be taken next.
enum Piece {
    /// Output of the program.
    Output(OutputSource, Vec<u8>),
    /// What there is in its usage file.
    Look,
}

/// Brings the program its input and its output to its sinks, until both streams
/// are closed or, a little later, its family is gone. A usage file is read until that
/// is gone in any case.
pub(super) async fn pump(
    streams: Streams,
    input: Option<String>,
    sinks: Sinks,
    clocks: &Clocks,
    mut family: watch::Receiver<Family>,
) -> std::io::Result<Pumped> {
    let (queue, pieces) = mpsc::channel(QUEUE_LEN);
    let has_usage_file = sinks.usage_file.is_some();
    let looks = look(has_usage_file.then(|| queue.clone()));
    // A disk that does not answer must not keep the guard from its other work.
    let writer = tokio::task::spawn_blocking(move || write(sinks, pieces));
    let feed = feed(streams.stdin.map(OwnedFd::from), input);
    let read = read(streams.stdout, streams.stderr, queue, clocks);
    let all = async {
        let drained = async {
            gone(&mut family).await;
            sleep(DRAIN_BOUND).await;
        };
        tokio::select! {
            _ = async { tokio::join!(read, feed) } => {}
            () = drained => {}
        }
        if has_usage_file {
            gone(&mut family).await;
        }
    };
    tokio::select! {
        () = all => {}
        () = looks => {}
    }
    writer.await.map_err(std::io::Error::other)
}

/// Has the usage file looked at now and then, without end.
async fn look(queue: Option<mpsc::Sender<Piece>>) {
    let Some(queue) = queue else {
        return std::future::pending().await;
    };
    loop {
        sleep(LOOK_EVERY).await;
        // A queue that is full is looked at when it is not.
        let _ = queue.try_send(Piece::Look);
    }
}

fn write(mut sinks: Sinks, mut pieces: mpsc::Receiver<Piece>) -> Pumped {
    while let Some(piece) = pieces.blocking_recv() {
        // First what was used: the output may tell a sum that holds it.
        sinks.take_uses(PIECES_OF_A_LOOK);
        match piece {
            Piece::Output(source, chunk) => sinks.take(source, &chunk),
            Piece::Look => sinks.look(),
        }
    }
    sinks.finish();
    Pumped {
        log: sinks.log.finish(),
        judge: sinks.judge,
        events: sinks.events,
    }
}

impl Sinks {
    fn take(&mut self, source: OutputSource, chunk: &[u8]) {
        let mut clean = Vec::new();
        self.scrubber.scrub(source, chunk, &mut clean);
        self.take_clean(source, &clean);
    }

    /// Looks for the usage file, where it was not found yet.
    fn look(&mut self) {
        if let Some(file) = &mut self.usage_file {
            file.look();
        }
    }

    /// Takes what is new in the usage file, so many pieces at most.
    fn take_uses(&mut self, most: usize) {
        for _ in 0..most {
            let Some(piece) = self.usage_file.as_mut().and_then(UsageFile::read) else {
                return;
            };
            self.take(OutputSource::UsageFile, &piece);
        }
    }

    /// Takes what is left. Nothing more comes.
    fn finish(&mut self) {
        if let Some(file) = &mut self.usage_file {
            file.find();
        }
        self.take_uses(LAST_PIECES);
        for source in [
            OutputSource::UsageFile,
            OutputSource::Stdout,
            OutputSource::Stderr,
        ] {
            let mut clean = Vec::new();
            self.scrubber.finish(source, &mut clean);
            self.take_clean(source, &clean);
        }
        if self.usage_file.as_ref().is_some_and(UsageFile::is_missing) {
            self.log.append(LogStream::System, MISSING_USAGE_FILE);
        }
    }

    fn take_clean(&mut self, source: OutputSource, clean: &[u8]) {
        let (noted, stream) = match source {
            OutputSource::Stdout => (LogStream::Stdout, Stream::Stdout),
            OutputSource::Stderr => (LogStream::Stderr, Stream::Stderr),
            // The log is that of the output.
            OutputSource::UsageFile => return self.parse(Stream::UsageFile, clean),
        };
        match (&mut self.judge, source) {
            (Judge::SelfReport(reader), OutputSource::Stderr) => {
                let mut other = Vec::new();
                if reader.push(clean, &mut other) {
                    self.control.clocks.lift_idle_limit();
                }
                self.log.append(noted, &other);
            }
            (Judge::Output(_), _) => {
                self.log.append(noted, clean);
                self.parse(stream, clean);
            }
            (Judge::Nothing | Judge::SelfReport(_), _) => self.log.append(noted, clean),
        }
    }

    /// Reads what an agent program tells.
    fn parse(&mut self, stream: Stream, clean: &[u8]) {
        let Judge::Output(parser) = &mut self.judge else {
            return;
        };
        let mut events = Vec::new();
        parser.push(stream, clean, &mut events);
        let session = events.iter().find_map(|event| match event {
            ProgramEvent::SessionStarted { id, .. } => Some(id),
            _ => None,
        });
        if let (Some(file), Some(session)) = (&mut self.usage_file, session) {
            file.session_told(session);
            file.find();
        }
        if self.events.append(&events) {
            self.control.note_use();
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

async fn read(stdout: PipeReader, stderr: PipeReader, queue: mpsc::Sender<Piece>, clocks: &Clocks) {
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
        let _ = queue.send(Piece::Output(source, chunk.to_vec())).await;
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
