//! Runs one program to its end: bounded in time and output, and ended with all
//! that it started.

mod mark;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use mark::Mark;

/// So much of what a command complains is kept, from its end.
const STDERR_KEPT: usize = 64 * 1024;

/// A program that is to be run.
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) dir: PathBuf,
    pub(crate) input: Vec<u8>,
    pub(crate) limit: Duration,
    pub(crate) stdout_limit: usize,
    /// See [`Output::alternates`].
    pub(crate) alternates: Option<PathBuf>,
    /// It runs programs that may leave its process group.
    pub(crate) has_hooks: bool,
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    /// It printed more than was wanted, and was ended.
    pub(crate) is_truncated: bool,
    pub(crate) stderr: Vec<u8>,
    /// The file in which the repository names objects that the program did not see.
    pub(crate) alternates: Option<PathBuf>,
}

/// Why a program has no end that could be told.
pub(crate) enum RunError {
    Timeout,
    Io(io::Error),
}

/// Runs the program. After its limit, or when the future is dropped, it is killed with
/// all that it started.
pub(crate) async fn run(invocation: Invocation) -> Result<Output, RunError> {
    let limit = invocation.limit;
    tokio::time::timeout(limit, to_end(invocation))
        .await
        .map_err(|_elapsed| RunError::Timeout)?
        .map_err(RunError::Io)
}

async fn to_end(invocation: Invocation) -> io::Result<Output> {
    let mut group = Group::start(&invocation)?;
    let mut stdin = group.child.stdin.take();
    let stdout = group.child.stdout.take();
    let stderr = group.child.stderr.take();
    let input = invocation.input;
    let feed = async move {
        if let Some(mut stdin) = stdin.take() {
            // A program may end before it read all.
            let _ = stdin.write_all(&input).await;
        }
    };
    let stdout = async {
        let (bytes, is_truncated) = head(stdout, invocation.stdout_limit).await?;
        if is_truncated {
            group.kill();
        }
        io::Result::Ok((bytes, is_truncated))
    };
    let ((), stdout, stderr) = tokio::join!(feed, stdout, tail(stderr, STDERR_KEPT));
    let (stdout, is_truncated) = stdout?;
    let stderr = stderr?;
    let status = group.child.wait().await?;
    group.has_ended = true;
    Ok(Output {
        code: status.code(),
        stdout,
        is_truncated,
        stderr,
        alternates: invocation.alternates,
    })
}

/// A process and its group.
struct Group {
    child: Child,
    id: Option<Pid>,
    mark: Option<Mark>,
    has_ended: bool,
}

impl Group {
    fn start(invocation: &Invocation) -> io::Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "git is no agent; its environment is cleared and its group is owned here"
        )]
        let mut command = Command::new(&invocation.program);
        let mark = invocation.has_hooks.then(Mark::new);
        command
            .args(&invocation.arguments)
            .env_clear()
            .envs(invocation.environment.iter().map(|(k, v)| (k, v)))
            .envs(mark.as_ref().map(Mark::variable))
            .current_dir(&invocation.dir)
            .stdin(if invocation.input.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let child = command.spawn()?;
        let id = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .map(Pid::from_raw);
        Ok(Self {
            child,
            id,
            mark,
            has_ended: false,
        })
    }

    fn kill(&self) {
        if let Some(id) = self.id {
            let _ = killpg(id, Signal::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Once the leader is reaped, its number may belong to others.
        if !self.has_ended {
            self.kill();
            if let Some(mark) = &self.mark {
                mark.end_all();
            }
        }
    }
}

/// Reads the first bytes, and whether there were more.
async fn head(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let Some(from) = from else {
        return Ok((Vec::new(), false));
    };
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1).read_to_end(&mut bytes).await?;
    let is_truncated = bytes.len() > limit;
    bytes.truncate(limit);
    Ok((bytes, is_truncated))
}

/// Reads to the end, and keeps the last bytes.
async fn tail(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<Vec<u8>> {
    let Some(mut from) = from else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    let mut buffer = vec![0; 8 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(kept);
        }
        kept.extend_from_slice(&buffer[..read]);
        if kept.len() > limit {
            kept.drain(..kept.len() - limit);
        }
    }
}

/// Runs blocking work on the pool for it.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(match error.try_into_panic() {
            Ok(panic) => panic,
            Err(error) => Box::new(error.to_string()),
        }),
    }
}

/// Looks for a program as a shell would.
pub(crate) fn find_program(name: &Path) -> Option<PathBuf> {
    if name.is_absolute() {
        return name.is_file().then(|| name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_absolute() && candidate.is_file())
}
