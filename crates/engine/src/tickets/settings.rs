use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use workforce_forges::{ForgeKind, Forges};
use workforce_git::{Git, GitError, Identity, Settings};

use crate::config::WORKTREES;

/// Who the commits of workforce are by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitIdentity {
    /// A name, as git takes it.
    pub name: String,
    /// A mail address, as git takes it.
    pub mail: String,
}

impl Default for CommitIdentity {
    fn default() -> Self {
        Self {
            name: "workforce".to_owned(),
            mail: "workforce@localhost".to_owned(),
        }
    }
}

/// How governed tickets are worked on.
#[derive(Clone, Debug)]
pub struct TicketSettings {
    /// The folder of all worktrees. Agents see their own alone.
    pub worktrees: PathBuf,
    /// A folder for what git needs for a moment. No agent writes there.
    pub scratch: PathBuf,
    /// Who commits. The author is the agent that the issue is assigned to.
    pub identity: CommitIdentity,
    /// The forges that pull requests are opened at; nowhere when `None`.
    pub forges: Option<Forges>,
    /// What forges prove with whom their messages are from; of others none are taken.
    pub webhook_secrets: BTreeMap<ForgeKind, WebhookSecret>,
    /// Whether hooks of a remote on this machine run when it is pushed to.
    pub remote_hooks: bool,
    /// How long after the end of a ticket its worktree is removed.
    pub worktree_age: Duration,
    /// How long what was begun for tickets may go on once the engine closes. Then it is
    /// broken off: approvals that are carried out are `interrupted`.
    pub grace: Duration,
}

/// What a forge proves with whom its messages are from.
#[derive(Clone)]
pub struct WebhookSecret(Arc<str>);

impl WebhookSecret {
    /// A secret; `None` for an empty one, which proves nothing.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        (!secret.is_empty()).then(|| Self(secret.into()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Shows nothing of it.
impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

/// Long enough for a usual push, and not longer than most supervisors wait before they
/// kill a server.
const GRACE: Duration = Duration::from_secs(10);
/// The usual age of a worktree that is removed.
const WORKTREE_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl TicketSettings {
    /// Folders beside that of the runs, the usual identity, age and grace, and no forge.
    #[must_use]
    pub fn beside(runs_dir: &Path) -> Self {
        let parent = runs_dir.parent().unwrap_or(runs_dir);
        Self {
            worktrees: parent.join(WORKTREES),
            scratch: parent.join("git"),
            identity: CommitIdentity::default(),
            forges: None,
            webhook_secrets: BTreeMap::new(),
            remote_hooks: false,
            worktree_age: WORKTREE_AGE,
            grace: GRACE,
        }
    }
}

/// git, looked for when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct LazyGit(OnceCell<Git>);

impl LazyGit {
    /// git with these settings.
    ///
    /// # Errors
    /// [`GitError::Missing`], [`GitError::TooOld`]; it is looked for again then.
    pub(crate) async fn get(&self, settings: &TicketSettings) -> Result<&Git, GitError> {
        let make = || {
            Git::new(Settings {
                remote_hooks: settings.remote_hooks,
                ..Settings::new(&settings.worktrees, &settings.scratch)
            })
        };
        self.0.get_or_try_init(make).await
    }
}

/// Somebody whom a commit names; characters that git does not take are left out.
pub(super) fn identity(name: &str, mail: &str) -> Identity {
    let clean = |text: &str| -> String {
        let kept = text
            .chars()
            .filter(|c| !c.is_control() && !matches!(c, '<' | '>'));
        kept.take(200).collect::<String>().trim().to_owned()
    };
    let usual = CommitIdentity::default();
    Identity::new(clean(name), clean(mail))
        .or_else(|_| Identity::new(usual.name, usual.mail))
        .unwrap_or_else(|_| unreachable!("the usual identity is one"))
}
