//! Talks to remotes.

use std::ffi::OsString;

use crate::environment::local_service;
use crate::process::Output;
use crate::program::{Command, lossy};
use crate::remote::Kind;
use crate::upload::upload;
use crate::values::ObjectFormat;
use crate::view::View;
use crate::{Branch, CommitId, Git, GitError, Remote, Repository, Worktree};

/// So many lines of what a remote says are told.
const SAID: usize = 20;
/// So many refs of a repository tell a remote what need not be sent.
const HAVES: usize = 512;

/// What became of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch of the remote is at the commit now.
    Pushed,
    /// It was there already.
    UpToDate,
    /// The remote, or git for it, refused.
    Rejected(Rejection),
}

/// Why a push was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The branch of the remote has commits that would be lost.
    NonFastForward,
    /// What the remote said.
    Other(String),
}

impl Worktree {
    /// Pushes a commit to the branch of the same name, and nothing else. What the
    /// remote has is never overwritten. The commit is the one that was looked at:
    /// an agent may have moved the branch since.
    ///
    /// # Errors
    /// [`GitError::Unauthorized`], [`GitError::Unreachable`], [`GitError::RemoteTimeout`],
    /// [`GitError::NoCommit`].
    pub async fn push(&self, remote: &Remote, commit: &CommitId) -> Result<PushOutcome, GitError> {
        let view = View::new(self.repository(), Some(commit)).await?;
        view.need_commit(commit).await?;
        upload(&view, remote, commit).await?;
        let service = Service::ReceivePack {
            with_hooks: self.repository().runs_hooks_of(remote),
        };
        let output = to_remote(
            view.command("push"),
            self.repository().git(),
            remote,
            service,
        )
        .args([
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--no-follow-tags",
        ])
        .args(["--recurse-submodules=no", "--no-force", "--"])
        .arg(remote.address())
        .arg(format!("{commit}:{}", self.branch().reference()))
        .run()
        .await?;
        let printed = remote.scrub(&lossy(&output.stdout));
        let line = printed.lines().find(|line| line.contains('\t'));
        let Some((flag, rest)) = line.and_then(|line| line.split_at_checked(1)) else {
            return Err(failed(remote, "push", &output));
        };
        match flag {
            "=" => Ok(PushOutcome::UpToDate),
            " " | "*" if output.code == Some(0) => Ok(PushOutcome::Pushed),
            "!" => Ok(PushOutcome::Rejected(rejection(
                rest,
                &remote.scrub(&lossy(&output.stderr)),
            ))),
            _ => Err(failed(remote, "push", &output)),
        }
    }
}

/// What stands in `line`, and what the remote printed.
fn rejection(line: &str, printed: &str) -> Rejection {
    let summary = line.rsplit('\t').next().unwrap_or_default();
    let is_behind = summary.contains("non-fast-forward") || summary.contains("fetch first");
    if is_behind {
        Rejection::NonFastForward
    } else {
        let said = printed
            .lines()
            .filter_map(|line| line.strip_prefix("remote:"));
        let said = said.map(str::trim).filter(|line| !line.is_empty());
        let lines = std::iter::once(summary).chain(said).take(SAID);
        Rejection::Other(lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Repository {
    /// Whether a push runs the hooks of the remote. Who writes to the repository or to a
    /// worktree must not choose them.
    fn runs_hooks_of(&self, remote: &Remote) -> bool {
        let settings = self.git().settings();
        let (true, Some(folder)) = (settings.remote_hooks, remote.folder()) else {
            return false;
        };
        let places = (
            folder.canonicalize(),
            self.common_dir().canonicalize(),
            settings.managed_root.canonicalize(),
        );
        let (Ok(folder), Ok(own), Ok(managed)) = places else {
            return false;
        };
        !own.starts_with(&folder) && !folder.starts_with(&own) && !folder.starts_with(&managed)
    }

    /// Gets the head of a branch of a remote, with all that it holds. No ref of
    /// the repository changes. None if the remote has no such branch.
    ///
    /// # Errors
    /// [`GitError::Unauthorized`], [`GitError::Unreachable`], [`GitError::RemoteTimeout`].
    pub async fn fetch(
        &self,
        remote: &Remote,
        branch: &Branch,
    ) -> Result<Option<CommitId>, GitError> {
        let Some(head) = self.git().remote_head(remote, branch).await? else {
            return Ok(None);
        };
        let view = View::new(self, None).await?;
        if ObjectFormat::of(&head) != self.format() {
            return Err(GitError::Unsupported {
                what: "the remote names its objects in another way".to_owned(),
            });
        }
        // A commit may be there without all that it holds: git looks at that, too.
        let refspec = format!("+{}:refs/fetched/head", branch.reference());
        view.fetch(remote, &refspec).await?;
        let fetched = view
            .command("rev-parse")
            .args(["--verify", "refs/fetched/head"]);
        let fetched = fetched.text().await?;
        view.publish().await?;
        Ok(CommitId::new(fetched).ok())
    }
}

impl View {
    /// Fetches into the view.
    pub(crate) async fn fetch(&self, remote: &Remote, refspec: &str) -> Result<(), GitError> {
        self.offer_haves().await?;
        let git = self.repository().git();
        let output = to_remote(self.command("fetch"), git, remote, Service::UploadPack)
            .args([
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
            ])
            .args(["--no-recurse-submodules", "--refmap=", "--no-prune", "--"])
            .args([remote.address(), refspec])
            .run()
            .await?;
        match output.code {
            Some(0) => Ok(()),
            _ => Err(failed(remote, "fetch", &output)),
        }
    }

    /// Gives the view refs to what the repository has, so that a remote sends the
    /// rest only.
    async fn offer_haves(&self) -> Result<(), GitError> {
        let refs = self.repository().refs();
        let mut commits = refs.list("refs/heads")?;
        commits.extend(refs.list("refs/remotes")?);
        let commits: Vec<_> = commits.into_values().take(HAVES).collect();
        if commits.is_empty() {
            return Ok(());
        }
        let names: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let known = self
            .command("cat-file")
            .arg("--batch-check=%(objecttype) %(objectname)")
            .input(names)
            .text()
            .await?;
        let known = known
            .lines()
            .filter_map(|line| line.strip_prefix("commit "));
        let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
        for (n, commit) in known.enumerate() {
            packed.push_str(&format!("{commit} refs/haves/{n:08}\n"));
        }
        std::fs::write(self.path().join("packed-refs"), packed).map_err(|source| GitError::Io {
            what: "failed to write a scratch file".to_owned(),
            source,
        })
    }
}

impl Git {
    /// The commit that a branch of a remote points to; none if there is no such
    /// branch.
    ///
    /// # Errors
    /// [`GitError::Unauthorized`], [`GitError::Unreachable`], [`GitError::RemoteTimeout`].
    pub async fn remote_head(
        &self,
        remote: &Remote,
        branch: &Branch,
    ) -> Result<Option<CommitId>, GitError> {
        let name = branch.reference();
        let printed = self.ls_remote(remote, &[], &name).await?;
        Ok(printed.lines().find_map(|line| {
            let (commit, found) = line.split_once('\t')?;
            (found == name).then(|| CommitId::new(commit).ok())?
        }))
    }

    /// The branch that the head of a remote names; none if it names none.
    ///
    /// # Errors
    /// [`GitError::Unauthorized`], [`GitError::Unreachable`], [`GitError::RemoteTimeout`].
    pub async fn default_branch(&self, remote: &Remote) -> Result<Option<Branch>, GitError> {
        let printed = self.ls_remote(remote, &["--symref"], "HEAD").await?;
        Ok(printed.lines().find_map(|line| {
            let target = line.strip_prefix("ref: refs/heads/")?;
            let (branch, found) = target.split_once('\t')?;
            (found == "HEAD").then(|| Branch::new(branch).ok())?
        }))
    }

    /// How a remote names its objects.
    pub(crate) async fn remote_format(&self, remote: &Remote) -> Result<ObjectFormat, GitError> {
        let printed = self.ls_remote(remote, &["--heads"], "refs/heads/*").await?;
        let first = printed.split_whitespace().next();
        let first = first.and_then(|id| CommitId::new(id).ok());
        Ok(first.map_or(ObjectFormat::Sha1, |id| ObjectFormat::of(&id)))
    }

    pub(crate) async fn ls_remote(
        &self,
        remote: &Remote,
        options: &[&str],
        pattern: &str,
    ) -> Result<String, GitError> {
        let scratch = &self.settings().scratch;
        let output = to_remote(
            Command::new(self, "ls-remote", scratch),
            self,
            remote,
            Service::UploadPack,
        )
        // No repository: what lies around the folder is not asked.
        .env("GIT_DIR", "/dev/null")
        .args(["--quiet"])
        .args(options)
        .args(["--", remote.address(), pattern])
        .run()
        .await?;
        match output.code {
            Some(0) => Ok(lossy(&output.stdout)),
            _ => Err(failed(remote, "ls-remote", &output)),
        }
    }
}

/// The program at the other end.
#[derive(Clone, Copy)]
enum Service {
    UploadPack,
    ReceivePack { with_hooks: bool },
}

/// A command that talks to a remote, with its credential and its time limit.
fn to_remote(command: Command, git: &Git, remote: &Remote, service: Service) -> Command {
    let mut command = command.remote(git.settings().network_limit);
    if remote.kind() == Kind::Local {
        let (name, with_hooks) = match service {
            Service::UploadPack => ("upload-pack", false),
            Service::ReceivePack { with_hooks } => ("receive-pack", with_hooks),
        };
        let mut option = OsString::from(format!("--{name}="));
        option.push(local_service(name, with_hooks));
        command = command.arg(option).with_hooks(with_hooks);
    }
    if let Some((key, value)) = remote.header() {
        command = command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", key)
            .env("GIT_CONFIG_VALUE_0", value);
    }
    command
}

/// What a command that failed at a remote means.
pub(crate) fn failed(remote: &Remote, command: &'static str, output: &Output) -> GitError {
    const REFUSED: [&str; 8] = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "unable to get password",
        "terminal prompts disabled",
        "Permission denied",
        "returned error: 401",
        "returned error: 403",
    ];
    const AWAY: [&str; 7] = [
        "unable to access",
        "Could not read from remote repository",
        "does not appear to be a git repository",
        "unable to connect",
        "not found",
        "unexpected disconnect",
        "hung up",
    ];
    let reason = remote.scrub(&output.message());
    let says = |texts: &[&str]| texts.iter().any(|text| reason.contains(text));
    if says(&REFUSED) {
        GitError::Unauthorized { reason }
    } else if says(&AWAY) {
        GitError::Unreachable { reason }
    } else {
        output.failed_with(command, reason)
    }
}
