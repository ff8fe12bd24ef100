//! The guard as a process.

mod children;
mod clocks;
mod control;
mod output;
mod supervision;
mod usage_file;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use nix::sys::prctl;
use nix::unistd::setsid;
use tokio::net::{UnixListener, UnixStream};
use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;

use self::clocks::Clocks;
use self::control::Control;
use self::supervision::supervise;
use self::usage_file::UsageFile;
use crate::containment;
use crate::files::GuardFiles;
use crate::launch::{self, Execution, LaunchError, Launched};
use crate::log::RunLog;
use crate::process::ProcessIdentity;
use crate::protocol::{Description, FromGuard, Start, ToGuard};
use crate::survey::Survey;
use crate::wire::{receive_blocking, send_blocking};

/// Runs a guard, in a process that was started for nothing else by
/// [`client::start`](crate::client::start). Returns when nothing of its run
/// executes any more.
#[must_use]
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads what a guard writes; its server sees that it ended.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    // Not there when somebody starts a guard by hand.
    launch::close_inherited();
    let mut server = server_stream()?;
    stand_alone()?;
    let start = match receive_blocking(&mut server)? {
        Some(ToGuard::Start(start)) => start,
        Some(ToGuard::Probe { run_as }) => {
            let means = containment::probe(run_as);
            return send_blocking(&mut server, &FromGuard::Probed(means));
        }
        Some(ToGuard::Enter { run_as, folder }) => {
            let refusal = run_as.can_enter(&folder).err();
            let refusal = refusal.map(|error| error.to_string());
            return send_blocking(&mut server, &FromGuard::Entered(refusal));
        }
        Some(ToGuard::Survey { start, files }) => {
            let survey = survey(&start, &files);
            let answer =
                survey.map_or_else(FromGuard::Refused, |it| FromGuard::Surveyed(Box::new(it)));
            return send_blocking(&mut server, &answer);
        }
        _ => return Ok(()),
    };
    let files = GuardFiles::of(&start.folder);
    let (listener, log, launched) = match prepare(&start, &files) {
        Ok(prepared) => prepared,
        Err(error) => return send_blocking(&mut server, &FromGuard::Refused(error)),
    };
    let identity = launched.identity();
    // It knows the secrets of its run.
    prctl::set_dumpable(false)?;
    send_blocking(&mut server, &FromGuard::Prepared(identity))?;
    let usage_file = UsageFile::before(&start);
    // Unless the process is on record, nothing is executed.
    let Some(ToGuard::Go) = receive_blocking(&mut server)? else {
        return Ok(());
    };
    let execution = match launched.go(&start) {
        Ok(execution) => execution,
        Err(error) => return send_blocking(&mut server, &FromGuard::Refused(error)),
    };
    // From now on the run goes on without this server, if it must.
    let _ = send_blocking(&mut server, &FromGuard::Started);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(stay(
            *start,
            (identity, execution),
            (log, usage_file),
            (server, listener),
            &files,
        ))
}

/// The connection to the server that started this process.
fn server_stream() -> io::Result<StdStream> {
    let stream = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(StdStream::from(stream))
}

/// Leaves the session of the server, so that no signal to it comes here, and
/// becomes the ancestor of whatever the run starts.
fn stand_alone() -> io::Result<()> {
    // Refused to whoever leads a session already.
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    // Only a server ends a run; a stop of the whole service reaches it as well.
    launch::ignore_signals()?;
    Ok(())
}

fn survey(start: &Start, files: &[PathBuf]) -> Result<Survey, LaunchError> {
    // A cgroup is noted there.
    let folder = GuardFiles::of(&start.folder).create_folder();
    folder.map_err(|error| unwritten(&error))?;
    launch::survey(start, files)
}

fn unwritten(error: &io::Error) -> LaunchError {
    LaunchError::Files {
        os_error: error.raw_os_error(),
        cause: error.to_string(),
    }
}

fn prepare(
    start: &Start,
    files: &GuardFiles,
) -> Result<(StdListener, RunLog, Launched), LaunchError> {
    let listener = listen(files).map_err(|error| unwritten(&error))?;
    files
        .note_memo(&start.memo)
        .map_err(|error| unwritten(&error))?;
    let log = RunLog::open(&start.log, start.log_cap)
        .map_err(|error| unwritten(&error))?
        .noted_by(Arc::new(SystemClock));
    Ok((listener, log, launch::launch(start)?))
}

fn listen(files: &GuardFiles) -> io::Result<StdListener> {
    files.create_folder()?;
    let socket = files.socket()?;
    match std::fs::remove_file(&socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = StdListener::bind(&socket)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Stays with the run until nothing of it is left and its end is told.
async fn stay(
    start: Start,
    program: (ProcessIdentity, Execution),
    (log, usage_file): (RunLog, Option<UsageFile>),
    connections: (StdStream, StdListener),
    files: &GuardFiles,
) -> io::Result<()> {
    let (identity, execution) = program;
    let (server, listener) = connections;
    server.set_nonblocking(true)?;
    let description = Description {
        run: start.run,
        fence: start.fence,
        identity,
        secrets: start.secrets.clone(),
        memo: start.memo.clone(),
    };
    let clocks = Clocks::start(start.limits, start.patience);
    let control = Arc::new(Control::new(description, clocks));
    tokio::spawn(Arc::clone(&control).serve(UnixStream::from_std(server)?));
    tokio::spawn(Arc::clone(&control).listen(UnixListener::from_std(listener)?));
    let report = supervise(&start, execution, (log, usage_file), files, &control).await?;
    control.conclude(files, report).await;
    Ok(())
}

/// The clock of the computer.
#[derive(Debug)]
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is a clock")]
        let now = SystemTime::now();
        let since_epoch = now
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }
}
