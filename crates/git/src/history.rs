//! The commits of a branch.

use crate::program::lossy;
use crate::view::View;
use crate::{CommitId, GitError, Worktree};

/// Commits on one side only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadBehind {
    /// Commits of the branch that the base does not have.
    pub ahead: u64,
    /// Commits of the base that the branch does not have.
    pub behind: u64,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its id.
    pub commit: CommitId,
    /// The name of its author.
    pub author: String,
    /// The mail address of its author.
    pub mail: String,
    /// When it was written, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub subject: String,
}

impl Worktree {
    /// How far the branch and a base are apart.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn ahead_behind(&self, base: &CommitId) -> Result<AheadBehind, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        view.need_commit(base).await?;
        let printed = view
            .command("rev-list")
            .args(["--left-right", "--count"])
            .arg(format!("{base}...{head}"))
            .text()
            .await?;
        let mut counts = printed.split_whitespace().map(str::parse);
        match (counts.next(), counts.next()) {
            (Some(Ok(behind)), Some(Ok(ahead))) => Ok(AheadBehind { ahead, behind }),
            _ => Err(unexpected("rev-list")),
        }
    }

    /// The commits of the branch that a base does not have, the newest first, at
    /// most `limit`.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn log(&self, base: &CommitId, limit: usize) -> Result<Vec<LogEntry>, GitError> {
        self.entries(&format!("^{base}"), limit, Some(base)).await
    }

    /// The newest commit of the branch.
    ///
    /// # Errors
    /// Git cannot read it.
    pub async fn last_commit(&self) -> Result<LogEntry, GitError> {
        let entries = self.entries("", 1, None).await?;
        entries.into_iter().next().ok_or_else(|| unexpected("log"))
    }

    async fn entries(
        &self,
        without: &str,
        limit: usize,
        base: Option<&CommitId>,
    ) -> Result<Vec<LogEntry>, GitError> {
        let head = self.head()?;
        let view = View::new(self.repository(), Some(&head)).await?;
        if let Some(base) = base {
            view.need_commit(base).await?;
        }
        let printed = view
            .command("log")
            .args(["--no-show-signature", "--no-mailmap", "--no-notes", "-z"])
            .arg("--format=tformat:%H%x00%an%x00%ae%x00%at%x00%s")
            .arg(format!("--max-count={limit}"))
            .arg(head.as_str())
            .args(Some(without).filter(|w| !w.is_empty()))
            .arg("--")
            .output()
            .await?;
        let mut fields = printed.split(|&b| b == 0);
        let mut entries = Vec::new();
        while let (Some(id), Some(author), Some(mail), Some(time), Some(subject)) = (
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
        ) {
            entries.push(LogEntry {
                commit: CommitId::printed(id).ok_or_else(|| unexpected("log"))?,
                author: lossy(author),
                mail: lossy(mail),
                // An agent may write any time into a commit.
                time: lossy(time).parse().unwrap_or_default(),
                subject: lossy(subject),
            });
        }
        Ok(entries)
    }
}

fn unexpected(command: &'static str) -> GitError {
    GitError::Failed {
        command,
        message: "it printed something unexpected".to_owned(),
    }
}
