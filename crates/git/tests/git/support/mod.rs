//! A source repository, a remote of it, and what a server has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use workforce_git::{
    Branch, CommitId, CommitMessage, CommitOutcome, Git, Identity, Remote, Repository, Settings,
    Worktree,
};

/// A world of its own below one folder.
pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) git: Git,
}

/// Runs git as a user of this machine would, and gives what it printed.
#[track_caller]
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .env_remove("GIT_DIR")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.com"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.com"),
        ])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Writes a file, with the folders above it.
#[track_caller]
pub(crate) fn write(dir: &Path, name: &str, content: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

impl World {
    /// A source with one commit, whose `origin` is a bare remote.
    pub(crate) async fn new() -> Self {
        Self::with_format("sha1").await
    }

    pub(crate) async fn with_format(format: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let settings = Settings::new(path.join("managed"), path.join("scratch"));
        let world = Self {
            git: Git::new(settings).await.unwrap(),
            dir,
        };
        let object_format = format!("--object-format={format}");
        let (source, remote) = (world.path("source"), world.path("remote.git"));
        for (path, bare) in [(&source, "-q"), (&remote, "--bare")] {
            fs::create_dir(path).unwrap();
            git(path, &["init", "-q", "-b", "main", &object_format, bare]);
        }
        write(&source, "README.md", "hello\n");
        write(&source, "src/a.txt", "one\ntwo\nthree\n");
        write(&source, "src/b.txt", "b\n");
        write(&source, ".gitignore", "target/\n*.log\n");
        git(&source, &["add", "."]);
        git(&source, &["commit", "-q", "-m", "first"]);
        git(
            &source,
            &["remote", "add", "origin", remote.to_str().unwrap()],
        );
        git(&source, &["push", "-q", "origin", "main"]);
        world
    }

    /// A path in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote::new(&format!("file://{}", self.path("remote.git").display())).unwrap()
    }

    pub(crate) async fn open(&self) -> Repository {
        self.git.open(&self.source()).await.unwrap()
    }

    /// The head of the source.
    pub(crate) fn main(&self) -> CommitId {
        commit_id(&git(&self.source(), &["rev-parse", "main"]))
    }

    /// The worktree of a ticket.
    pub(crate) async fn worktree(&self) -> Worktree {
        let repository = self.open().await;
        repository
            .add_worktree(Path::new("tickets/one"), &branch(), &self.main())
            .await
            .unwrap()
    }

    /// Moves `main` of the source and the remote, by somebody else's commit.
    pub(crate) fn move_main(&self, name: &str, content: &str) -> CommitId {
        write(&self.source(), name, content);
        git(&self.source(), &["add", "."]);
        git(&self.source(), &["commit", "-q", "-m", "main moves"]);
        git(&self.source(), &["push", "-q", "origin", "main"]);
        self.main()
    }
}

pub(crate) fn commit_id(text: &str) -> CommitId {
    CommitId::new(text).unwrap()
}

/// The branch of the ticket.
pub(crate) fn branch() -> Branch {
    Branch::new("feature/one").unwrap()
}

pub(crate) fn message(text: &str) -> CommitMessage {
    CommitMessage {
        text: text.to_owned(),
        author: Identity::new("Agent", "agent@example.com").unwrap(),
        committer: Identity::new("Server", "server@example.com").unwrap(),
    }
}

/// Commits, which must work.
#[track_caller]
pub(crate) fn committed(outcome: CommitOutcome) -> CommitId {
    match outcome {
        CommitOutcome::Committed(commit) => commit,
        other => panic!("{other:?}"),
    }
}
