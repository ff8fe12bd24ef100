//! The `git` program, and how each command of it is run.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as SyncMutex};
use std::time::Duration;

use tokio::sync::Mutex;

use crate::GitError;
use crate::environment::{options, settings_as_variables, variables};
use crate::error::Tried as _;
use crate::process::{Invocation, Output, RunError, find_program, run, run_blocking};
use crate::remote::without_passwords;
use crate::view;

/// The oldest version that is used: `git merge-tree --write-tree` and all else
/// that is called here came before it.
pub const OLDEST_VERSION: (u32, u32) = (2, 39);

/// Standard output is read up to so many bytes, if nothing else is said.
pub(crate) const STDOUT_LIMIT: usize = 8 * 1024 * 1024;
/// Lists of paths are read up to so many bytes.
pub(crate) const LIST_LIMIT: usize = 256 * 1024 * 1024;
/// A message about a failed command has at most so many bytes.
const MESSAGE_LIMIT: usize = 2000;

/// Where things are, and how long commands may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program; a name without a folder is looked for in `PATH`.
    pub program: PathBuf,
    /// The program of Git LFS, looked for in the same way. Without one no file is committed that
    /// belongs there.
    pub lfs_program: PathBuf,
    /// The folder below which worktrees are made. Agents may write to the
    /// worktrees, not to the folders above them.
    pub managed_root: PathBuf,
    /// A folder for files of a moment and for locks. No agent may write there.
    pub scratch: PathBuf,
    /// How long a command may take that stays on this machine.
    pub local_limit: Duration,
    /// How long a command may take that talks to a remote.
    pub network_limit: Duration,
    /// Whether the hooks of a remote that is a folder on this machine run when it is
    /// pushed to, with the rights of this process. Never those of the repository that is
    /// pushed from, nor of one below `managed_root`: agents write there.
    pub remote_hooks: bool,
}

impl Settings {
    /// The usual program and limits: 60 s, and 120 s for remotes. No hooks.
    #[must_use]
    pub fn new(managed_root: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        Self {
            program: PathBuf::from("git"),
            lfs_program: PathBuf::from("git-lfs"),
            managed_root: managed_root.into(),
            scratch: scratch.into(),
            local_limit: Duration::from_secs(60),
            network_limit: Duration::from_secs(120),
            remote_hooks: false,
        }
    }
}

/// The `git` program, for all repositories. Clones share their locks.
#[derive(Clone, Debug)]
pub struct Git(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    version: String,
    locks: Locks,
    lfs: Option<PathBuf>,
}

/// The locks of this process, by device and inode of a repository.
pub(crate) type Locks = SyncMutex<HashMap<(u64, u64), Arc<Mutex<()>>>>;

impl Git {
    /// Looks for the program, and makes the folders.
    ///
    /// # Errors
    /// [`GitError::Missing`] and [`GitError::TooOld`] about the program.
    pub async fn new(mut settings: Settings) -> Result<Self, GitError> {
        settings.program = find_program(&settings.program).ok_or(GitError::Missing)?;
        for folder in [&mut settings.managed_root, &mut settings.scratch] {
            make_private(folder).tried(|| format!("make {}", folder.display()))?;
            *folder = folder
                .canonicalize()
                .tried(|| format!("open {}", folder.display()))?;
        }
        let mut inner = Inner {
            lfs: find_program(&settings.lfs_program),
            settings,
            version: String::new(),
            locks: SyncMutex::default(),
        };
        let scratch = inner.settings.scratch.clone();
        let printed = Command::of(&inner.settings, "version", &scratch).text();
        let printed = printed.await?;
        let found = printed.trim_start_matches("git version ").trim().to_owned();
        if version(&found).is_none_or(|version| version < OLDEST_VERSION) {
            return Err(GitError::TooOld { found });
        }
        inner.version = found;
        let swept = run_blocking(move || view::sweep(&scratch)).await;
        swept.tried(|| "look at the scratch folder".to_owned())?;
        let git = Self(Arc::new(inner));
        git.sweep_removed().await;
        Ok(git)
    }

    /// What the program says its version is.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// The program `git-lfs`, if there is one.
    pub(crate) fn lfs(&self) -> Option<&Path> {
        self.0.lfs.as_deref()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn locks(&self) -> &Locks {
        &self.0.locks
    }
}

/// Makes a folder that only this user may enter.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(['.', ' ', '-']).map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// One command of git.
pub(crate) struct Command {
    name: &'static str,
    invocation: Invocation,
    is_cut: bool,
    is_remote: bool,
}

impl Command {
    /// A command of another program, with the same settings.
    pub(crate) fn of_program(
        git: &Git,
        program: &Path,
        name: &'static str,
        dir: &Path,
        settings: Vec<(String, String)>,
    ) -> Self {
        let mut command = Self::of(git.settings(), name, dir);
        command.invocation.program = program.to_owned();
        command.invocation.arguments = vec![name.into()];
        command
            .invocation
            .environment
            .extend(settings_as_variables(settings));
        command
    }

    /// A command that stays on this machine.
    pub(crate) fn new(git: &Git, name: &'static str, dir: &Path) -> Self {
        Self::of(git.settings(), name, dir)
    }

    fn of(settings: &Settings, name: &'static str, dir: &Path) -> Self {
        let mut arguments: Vec<OsString> = options().collect();
        arguments.push(name.into());
        Self {
            name,
            invocation: Invocation {
                program: settings.program.clone(),
                arguments,
                environment: variables(),
                dir: dir.to_owned(),
                input: Vec::new(),
                limit: settings.local_limit,
                stdout_limit: STDOUT_LIMIT,
                alternates: None,
                has_hooks: false,
            },
            is_cut: false,
            is_remote: false,
        }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.invocation.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(|a| a.as_ref().to_owned());
        self.invocation.arguments.extend(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_owned();
        self.invocation.environment.push((name.into(), value));
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.invocation.dir);
        self
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.invocation.input = input.into();
        self
    }

    /// It talks to a remote, for at most so long.
    pub(crate) const fn remote(mut self, limit: Duration) -> Self {
        self.invocation.limit = limit;
        self.is_remote = true;
        self
    }

    /// The file in which the repository names objects that are not read.
    pub(crate) fn alternates(mut self, file: Option<PathBuf>) -> Self {
        self.invocation.alternates = file;
        self
    }

    /// It runs hooks, of which nobody knows what they start.
    pub(crate) const fn with_hooks(mut self, has_hooks: bool) -> Self {
        self.invocation.has_hooks = has_hooks;
        self
    }

    /// Reads at most so much; more is an error.
    pub(crate) const fn stdout_limit(mut self, limit: usize) -> Self {
        self.invocation.stdout_limit = limit;
        self
    }

    /// Reads at most so much, and ends the command then.
    pub(crate) const fn cut_at(mut self, limit: usize) -> Self {
        self.is_cut = true;
        self.stdout_limit(limit)
    }

    /// Runs it, whatever its exit code.
    pub(crate) async fn run(self) -> Result<Output, GitError> {
        let (command, limit) = (self.name, self.invocation.limit);
        let output = run(self.invocation).await.map_err(|error| match error {
            RunError::Timeout if self.is_remote => GitError::RemoteTimeout { command, limit },
            RunError::Timeout => GitError::Timeout { command },
            RunError::Io(source) => GitError::Io {
                what: format!("failed to run git {command}"),
                source,
            },
        })?;
        if output.is_truncated && !self.is_cut {
            return Err(GitError::TooMuchOutput { command });
        }
        tracing::trace!(command, code = output.code, "git ended");
        Ok(output)
    }

    /// Runs it; any exit code but 0 is an error.
    pub(crate) async fn output(self) -> Result<Vec<u8>, GitError> {
        let command = self.name;
        let output = self.run().await?;
        if output.code == Some(0) || output.is_truncated {
            Ok(output.stdout)
        } else {
            Err(output.failed(command))
        }
    }

    /// Runs it, and takes what it printed as a text without the last newline.
    pub(crate) async fn text(self) -> Result<String, GitError> {
        let mut text = lossy(&self.output().await?);
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// Runs a command that answers yes (0) or no (1).
    pub(crate) async fn answer(self) -> Result<bool, GitError> {
        let command = self.name;
        let output = self.run().await?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(output.failed(command)),
        }
    }
}

impl Output {
    pub(crate) fn failed(&self, command: &'static str) -> GitError {
        self.failed_with(command, self.message())
    }

    pub(crate) fn failed_with(&self, command: &'static str, message: String) -> GitError {
        GitError::failed(command, message, self.alternates.clone())
    }

    /// What it complained of, without passwords.
    pub(crate) fn message(&self) -> String {
        let text = without_passwords(&lossy(&self.stderr));
        let text = text.trim();
        if text.is_empty() {
            return match self.code {
                Some(code) => format!("exit code {code}"),
                None => "a signal ended it".to_owned(),
            };
        }
        let start = text.len().saturating_sub(MESSAGE_LIMIT);
        let start = text.ceil_char_boundary(start);
        text[start..].to_owned()
    }
}

/// The parts of a text that ends each with a zero.
pub(crate) fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&b| b == 0).filter(|record| !record.is_empty())
}

/// A text, with what is no UTF-8 in it replaced.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_builds_are_read() {
        assert_eq!(version("2.39.5"), Some((2, 39)));
        assert_eq!(version("2.47.3 (Apple Git-154)"), Some((2, 47)));
        assert_eq!(version("3.0-rc1"), Some((3, 0)));
        assert_eq!(version("none"), None);
    }
}
