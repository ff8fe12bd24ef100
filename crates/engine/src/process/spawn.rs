use std::error::Error;
use std::ffi::{NulError, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{AccessFlags, eaccess};
use tokio::sync::oneshot;

use super::child::{Child, keep};
use super::child_environment::{ChildEnvironment, RunTag};
use super::error::SpawnError;
use super::gate::{self, GateKey, GateReport, ProgramImage};
use super::identity::ProcessIdentity;
use super::program;

/// The thread that keeps a child starts it and then only waits.
const KEEPER_STACK: usize = 256 * 1024;

/// What to start. The program gets exactly these arguments; no shell reads
/// them.
#[derive(Clone, Debug)]
pub struct ChildSpec {
    /// A program's name, looked up in the `PATH` of `environment`, or a path,
    /// relative to `cwd`.
    pub program: OsString,
    /// The arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment; the run's tag is added to it.
    pub environment: ChildEnvironment,
    /// The run the child belongs to.
    pub tag: RunTag,
    /// What the child reads from its standard input; nothing when `None`.
    pub stdin: Option<Vec<u8>>,
}

/// Starts a child that executes nothing before `record` has succeeded.
///
/// `record` gets the child's process id, group id and start time and stores
/// them, so that a later server can find the child whatever happens to this one
/// (docs/heartbeats.md#processes). When it fails, or when the
/// returned future is dropped before its end, the child ends without having
/// executed anything.
///
/// # Errors
///
/// See [`SpawnError`].
pub async fn spawn<R, F, E>(spec: ChildSpec, record: R) -> Result<Child, SpawnError>
where
    R: FnOnce(ProcessIdentity) -> F,
    F: Future<Output = Result<(), E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let program = spec.program.clone();
    let cwd = spec.cwd.clone();
    let no_process = |source| SpawnError::Process {
        program: program.clone(),
        source,
    };

    let (started, key, report) = offload(move || start(spec)).await.map_err(no_process)??;
    let child = started
        .await
        .unwrap_or_else(|_| Err(io::Error::other("the thread that keeps the child is gone")))
        .map_err(no_process)?;

    if let Err(error) = record(child.identity()).await {
        drop(key);
        child.discard().await;
        return Err(SpawnError::Record {
            program,
            source: error.into(),
        });
    }
    key.open();
    match offload(move || report.wait())
        .await
        .and_then(|executed| executed)
    {
        Ok(()) => Ok(child),
        Err(source) => {
            child.discard().await;
            Err(SpawnError::Exec {
                program,
                cwd,
                source,
            })
        }
    }
}

type Started = oneshot::Receiver<io::Result<Child>>;

fn start(mut spec: ChildSpec) -> Result<(Started, GateKey, GateReport), SpawnError> {
    if let Err(source) = check_directory(&spec.cwd) {
        return Err(SpawnError::Cwd {
            program: spec.program,
            cwd: spec.cwd,
            source,
        });
    }
    spec.environment.mark(&spec.tag);
    let file = program::resolve(&spec.program, spec.environment.get("PATH"), &spec.cwd)?;
    let Ok(image) = image(&spec, &file) else {
        return Err(SpawnError::NulByte {
            program: spec.program,
        });
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where the processes of agents are made"
    )]
    let mut command = Command::new(file);
    command
        .current_dir(&spec.cwd)
        .stdin(match spec.stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());

    let ChildSpec {
        program,
        tag,
        stdin,
        ..
    } = spec;
    let (sender, started) = oneshot::channel();
    gate::install(&mut command, image)
        .and_then(|(key, report)| {
            std::thread::Builder::new()
                .name("child-keeper".into())
                .stack_size(KEEPER_STACK)
                .spawn(move || keep(command, tag, stdin, sender))?;
            Ok((started, key, report))
        })
        .map_err(|source| SpawnError::Process { program, source })
}

fn image(spec: &ChildSpec, file: &Path) -> Result<ProgramImage, NulError> {
    let arguments = std::iter::once(&spec.program).chain(&spec.arguments);
    ProgramImage::new(
        file.as_os_str().as_bytes().to_vec(),
        arguments.map(|argument| argument.as_bytes().to_vec()),
        spec.environment
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()),
    )
}

fn check_directory(cwd: &Path) -> io::Result<()> {
    if !cwd.is_absolute() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path is not absolute",
        ));
    }
    if !cwd.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    eaccess(cwd, AccessFlags::X_OK)?;
    Ok(())
}

async fn offload<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)
}
