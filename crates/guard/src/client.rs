//! The server's side of a guard.

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;
use workforce_domain::id::RunId;
use workforce_domain::run::RunErrorCode;

use crate::containment::Means;
use crate::environment::RunTag;
use crate::files::GuardFiles;
use crate::launch::LaunchError;
use crate::process::ProcessIdentity;
use crate::protocol::{Description, FromGuard, RunReport, Start, ToGuard};
use crate::run_as::RunAs;
use crate::survey::Survey;
use crate::wire::{Receiver, Sender, halves};

/// A guard answers at once; one that does not is frozen.
const ANSWER_BOUND: Duration = Duration::from_secs(5);
/// A start takes longer on a computer that is busy with many.
const START_BOUND: Duration = Duration::from_secs(30);

/// The program that runs [`main`](crate::main), and the arguments that make it do
/// so.
#[derive(Clone, Debug)]
pub struct GuardProgram {
    /// Its file.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Why there is no guard.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The guard refused the run; nothing of it is left.
    #[error(transparent)]
    Refused(#[from] LaunchError),
    /// The guard could not be started, or ended in mid-sentence.
    #[error("the guard of the run failed")]
    Failed(#[from] io::Error),
}

/// A run whose program waits at its gate. When it is dropped, nothing is executed.
#[derive(Debug)]
pub struct Prepared {
    guard: Guard,
    identity: ProcessIdentity,
}

/// A connection to the guard of a run. The run goes on when it is dropped, for as
/// long as its guard has patience.
#[derive(Debug)]
pub struct Guard {
    receiver: Receiver,
    sender: Sender,
}

/// What a guard tells of its run.
#[derive(Debug)]
pub enum News {
    /// Its program told what it used; see [`GuardFiles::uses_from`].
    Used,
    /// Nothing of the run is left.
    Ended(Box<RunReport>),
}

/// What is left of the guard of a run.
#[derive(Debug)]
pub enum Found {
    /// It lives.
    Alive(Guard, Box<Description>),
    /// The run has ended in order.
    Ended(Box<RunReport>),
    /// It was killed, or is frozen.
    Gone,
}

/// Starts a guard, which prepares its run.
///
/// # Errors
///
/// See [`GuardError`].
pub async fn start(program: &GuardProgram, start: Start) -> Result<Prepared, GuardError> {
    let mut guard = spawn(program, Some(RunTag::from(start.run))).await?;
    guard.send(&ToGuard::Start(Box::new(start))).await?;
    match guard.answer().await? {
        FromGuard::Prepared(identity) => Ok(Prepared { guard, identity }),
        FromGuard::Refused(error) => Err(error.into()),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData).into()),
    }
}

async fn spawn(program: &GuardProgram, tag: Option<RunTag>) -> io::Result<Guard> {
    let (own, of_guard) = StdStream::pair()?;
    own.set_nonblocking(true)?;
    let guard = Guard::over(UnixStream::from_std(own)?);
    let program = program.clone();
    tokio::task::spawn_blocking(move || execute(&program, tag.as_ref(), of_guard))
        .await
        .map_err(io::Error::other)??;
    Ok(guard)
}

/// Tries what can be used to contain runs on this computer, whose programs have
/// this account.
///
/// # Errors
///
/// A guard cannot be started.
pub async fn probe(program: &GuardProgram, run_as: Option<&RunAs>) -> io::Result<Means> {
    let mut guard = spawn(program, None).await?;
    let run_as = run_as.cloned();
    guard.send(&ToGuard::Probe { run_as }).await?;
    match guard.answer().await? {
        FromGuard::Probed(means) => Ok(means),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Why an account cannot search a folder; `None` when it can.
///
/// # Errors
///
/// A guard cannot be started.
pub async fn refusal_to_enter(
    program: &GuardProgram,
    run_as: &RunAs,
    folder: &Path,
) -> io::Result<Option<String>> {
    let mut guard = spawn(program, None).await?;
    let (run_as, folder) = (run_as.clone(), folder.to_owned());
    guard.send(&ToGuard::Enter { run_as, folder }).await?;
    match guard.answer().await? {
        FromGuard::Entered(refusal) => Ok(refusal),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// What the program of a run would find, without executing it, and whether it could
/// read each of these files.
///
/// # Errors
///
/// See [`GuardError`].
pub async fn survey(
    program: &GuardProgram,
    start: Start,
    files: Vec<PathBuf>,
) -> Result<Survey, GuardError> {
    let mut guard = spawn(program, Some(RunTag::from(start.run))).await?;
    let start = Box::new(start);
    guard.send(&ToGuard::Survey { start, files }).await?;
    match guard.answer().await? {
        FromGuard::Surveyed(survey) => Ok(*survey),
        FromGuard::Refused(error) => Err(error.into()),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData).into()),
    }
}

/// Becomes a process of its own, which nobody waits for but the thread that
/// collects it.
fn execute(program: &GuardProgram, tag: Option<&RunTag>, stream: StdStream) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where guards are started"
    )]
    let mut command = Command::new(&program.file);
    let mut guard = command
        .args(&program.arguments)
        .env_clear()
        .envs(tag.map(RunTag::variable))
        .stdin(std::os::fd::OwnedFd::from(stream))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    std::thread::Builder::new()
        .name("guard-collector".into())
        .stack_size(64 * 1024)
        .spawn(move || guard.wait())?;
    Ok(())
}

impl Prepared {
    /// The guard and its program's group, to be recorded.
    #[must_use]
    pub const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Lets the program be executed.
    ///
    /// # Errors
    ///
    /// See [`GuardError`].
    pub async fn go(self) -> Result<Guard, GuardError> {
        let mut guard = self.guard;
        guard.send(&ToGuard::Go).await?;
        match guard.answer().await? {
            FromGuard::Started => Ok(guard),
            FromGuard::Refused(error) => Err(error.into()),
            _ => Err(io::Error::from(io::ErrorKind::InvalidData).into()),
        }
    }
}

impl Guard {
    fn over(stream: UnixStream) -> Self {
        let (receiver, sender) = halves(stream);
        Self { receiver, sender }
    }

    /// The next step of a start.
    async fn answer(&mut self) -> io::Result<FromGuard> {
        let answer = timeout(START_BOUND, self.next()).await?;
        answer.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    async fn next(&mut self) -> Option<FromGuard> {
        self.receiver.next().await.ok().flatten()
    }

    /// Waits for what the guard tells next of its run; `None` when it ended without a
    /// word. Loses nothing when it is dropped before it is done.
    pub async fn news(&mut self) -> Option<News> {
        loop {
            match self.next().await? {
                FromGuard::Ended(report) => return Some(News::Ended(report)),
                FromGuard::Used => return Some(News::Used),
                FromGuard::Probed(_)
                | FromGuard::Entered(_)
                | FromGuard::Surveyed(_)
                | FromGuard::Prepared(_)
                | FromGuard::Started
                | FromGuard::Refused(_)
                | FromGuard::Described(_) => {}
            }
        }
    }

    /// Waits until nothing of the run is left; `None` when the guard ended without a
    /// word. Loses nothing when it is dropped before it is done.
    pub async fn ended(&mut self) -> Option<RunReport> {
        loop {
            if let News::Ended(report) = self.news().await? {
                return Some(*report);
            }
        }
    }

    /// Tells the guard that the run is the server's for so long from now on.
    pub async fn renew(&mut self, patience: Duration) {
        self.tell(&ToGuard::Renew { patience }).await;
    }

    /// Tells the guard of a sign of life.
    pub async fn touch(&mut self) {
        self.tell(&ToGuard::Touch).await;
    }

    /// Asks for the end of the run, within its grace.
    pub async fn stop(&mut self, reason: RunErrorCode) {
        self.tell(&ToGuard::Stop { reason }).await;
    }

    /// Asks for the end of the run at once.
    pub async fn kill(&mut self) {
        self.tell(&ToGuard::Kill).await;
    }

    /// A guard that does not listen has ended, which its connection tells, or is
    /// frozen, and then its patience ends the run.
    async fn tell(&mut self, message: &ToGuard) {
        let _ = timeout(ANSWER_BOUND, self.send(message)).await;
    }

    async fn send(&mut self, message: &ToGuard) -> io::Result<()> {
        self.sender.send(message).await
    }
}

/// Looks for the guard of a run by its files.
pub async fn find(files: &GuardFiles, run: RunId, fence: i64) -> Found {
    if let Some((guard, description)) = connect(files).await
        && (description.run, description.fence) == (run, fence)
    {
        return Found::Alive(guard, Box::new(description));
    }
    // It writes its report before it stops to listen.
    match files.report() {
        Ok(Some(report)) if (report.run, report.fence) == (run, fence) => {
            Found::Ended(Box::new(report))
        }
        Ok(_) => Found::Gone,
        Err(error) => {
            tracing::error!(%error, %run, "the report of a run cannot be read");
            Found::Gone
        }
    }
}

async fn connect(files: &GuardFiles) -> Option<(Guard, Description)> {
    let socket = files.socket().ok()?;
    let stream = timeout(ANSWER_BOUND, UnixStream::connect(&socket)).await;
    let mut guard = Guard::over(stream.ok()?.ok()?);
    let asked = async {
        guard.send(&ToGuard::Describe).await.ok()?;
        loop {
            match guard.next().await? {
                FromGuard::Described(description) => return Some(*description),
                FromGuard::Ended(_) => return None,
                FromGuard::Probed(_)
                | FromGuard::Entered(_)
                | FromGuard::Surveyed(_)
                | FromGuard::Prepared(_)
                | FromGuard::Started
                | FromGuard::Used
                | FromGuard::Refused(_) => {}
            }
        }
    };
    let description = timeout(ANSWER_BOUND, asked).await.ok()??;
    Some((guard, description))
}
