//! An isolated view of a repository: a folder of the server's own in the place of
//! the repository's, so that no setting, hook, attribute or ref of it is read.
//!
//! New objects are written into the view. They get into the repository only when
//! the view is published.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::contents::lfs;
use crate::contents::refusal::MAX_READ_BY_GIT;
use crate::error::Tried as _;
use crate::objects;
use crate::process::run_blocking;
use crate::program::{Command, make_private};
use crate::{CommitId, GitError, Repository};

/// Files of a repository that a view gets a copy of, with their largest size.
const COPIED: [(&str, &str, usize); 2] = [
    ("", "shallow", 16 * 1024 * 1024),
    ("info", "exclude", 1024 * 1024),
];

/// A view that was made so long ago is used by nobody any more.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// A view. Dropping it removes its folder.
#[derive(Debug)]
pub(crate) struct View {
    repository: Repository,
    dir: TempDir,
    /// Leads to the objects of the repository.
    borrowed: PathBuf,
    alternates: Option<PathBuf>,
}

impl View {
    /// Makes a view whose head is a commit, or nothing.
    pub(crate) async fn new(
        repository: &Repository,
        head: Option<&CommitId>,
    ) -> Result<Self, GitError> {
        let repository = repository.clone();
        let head = match head {
            Some(commit) => format!("{commit}\n"),
            None => "ref: refs/heads/none\n".to_owned(),
        };
        run_blocking(move || {
            objects::check(repository.folder())?;
            let making = || "make a scratch folder".to_owned();
            Ok(Self {
                dir: lay_out(&repository, &head).tried(making)?,
                borrowed: borrowed(&repository).tried(making)?,
                alternates: objects::alternates(&repository),
                repository,
            })
        })
        .await
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Its folder, for files of a moment.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The folder that all views lie in. Nobody else writes there.
    pub(crate) fn folder_of_views(&self) -> PathBuf {
        self.repository.git().settings().scratch.join("views")
    }

    /// The path of its index.
    pub(crate) fn index(&self) -> PathBuf {
        self.path().join("index")
    }

    /// Lets the attributes count that the repository has beside its files: for what git does
    /// with the files of a worktree.
    ///
    /// # Errors
    /// [`GitError::Tampered`] if they cannot be read, since files may have a filter by them.
    pub(crate) async fn use_attributes(&self) -> Result<(), GitError> {
        let (repository, to) = (self.repository.clone(), self.attributes());
        run_blocking(move || {
            let limit = usize::try_from(MAX_READ_BY_GIT).unwrap_or(usize::MAX);
            // Not to be found is one thing, and to be hidden behind a link another.
            let info = match repository.folder().child("info".as_ref()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                found => found?,
            };
            match info.read("attributes", limit)? {
                Some(text) => fs::write(to, text),
                None => Ok(()),
            }
        })
        .await
        .map_err(|error| GitError::tampered(format!("info/attributes ({error})")))
    }

    /// Whether attributes beside the files count.
    pub(crate) fn has_attributes(&self) -> bool {
        self.attributes().exists()
    }

    fn attributes(&self) -> PathBuf {
        self.path().join("info/attributes")
    }

    /// A command that sees no files but those of the view.
    pub(crate) fn command(&self, name: &'static str) -> Command {
        Command::new(self.repository.git(), name, self.path())
            .env("GIT_DIR", self.path())
            .env("GIT_OBJECT_DIRECTORY", self.path().join("objects"))
            .env("GIT_INDEX_FILE", self.index())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.borrowed)
            .alternates(self.alternates.clone())
    }

    /// A command that sees the files in a folder.
    pub(crate) fn command_in(&self, name: &'static str, files: &Path) -> Command {
        self.command(name).env("GIT_WORK_TREE", files).dir(files)
    }

    /// True if the repository has the commit.
    pub(crate) async fn has_commit(&self, commit: &CommitId) -> Result<bool, GitError> {
        let output = self
            .command("cat-file")
            .arg("-e")
            .arg(format!("{commit}^{{commit}}"))
            .run()
            .await?;
        Ok(output.code == Some(0))
    }

    /// Fails if the repository does not have the commit.
    pub(crate) async fn need_commit(&self, commit: &CommitId) -> Result<(), GitError> {
        if self.has_commit(commit).await? {
            return Ok(());
        }
        let commit = commit.to_string();
        match self.alternates {
            Some(_) => Err(self.failed("cat-file", format!("there is no commit {commit}"))),
            None => Err(GitError::NoCommit { commit }),
        }
    }

    /// What a command that could not do its work means here.
    pub(crate) fn failed(&self, command: &'static str, message: String) -> GitError {
        GitError::failed(command, message, self.alternates.clone())
    }

    /// Fails if the repository does not have all that a commit holds. Only one that
    /// names objects of another is looked through: it may have begun as half of it.
    pub(crate) async fn need_whole(&self, commit: &CommitId) -> Result<(), GitError> {
        self.need_commit(commit).await?;
        if self.alternates.is_some() {
            let all = self.command("rev-list").args(["--objects", "--quiet"]);
            all.arg(commit.as_str()).output().await?;
        }
        Ok(())
    }

    pub(crate) async fn is_ancestor(
        &self,
        ancestor: &CommitId,
        descendant: &CommitId,
    ) -> Result<bool, GitError> {
        self.need_commit(ancestor).await?;
        self.need_commit(descendant).await?;
        self.command("merge-base")
            .args(["--is-ancestor", ancestor.as_str(), descendant.as_str()])
            .answer()
            .await
    }

    /// The id of the tree of a commit.
    pub(crate) async fn tree_of(&self, commit: &CommitId) -> Result<String, GitError> {
        self.command("rev-parse")
            .args(["--verify", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"))
            .text()
            .await
    }

    /// Fills the index with the files of a commit or tree.
    pub(crate) async fn read_tree(&self, tree: &str) -> Result<(), GitError> {
        // What is there already would lend its entries what it knows of files.
        let _ = fs::remove_file(self.index());
        self.command("read-tree").arg(tree).output().await?;
        Ok(())
    }

    /// Writes the index as a tree.
    pub(crate) async fn write_tree(&self) -> Result<String, GitError> {
        self.command("write-tree").text().await
    }

    /// Moves the new objects into the repository.
    pub(crate) async fn publish(&self) -> Result<(), GitError> {
        let from = self.path().to_owned();
        let repository = self.repository.clone();
        run_blocking(move || {
            objects::publish(&from.join("objects"), repository.folder())
                .and_then(|()| lfs::publish(&from, repository.folder()))
                .map_err(|error| GitError::writing("its objects", error))
        })
        .await
    }
}

fn lay_out(repository: &Repository, head: &str) -> io::Result<TempDir> {
    let views = repository.git().settings().scratch.join("views");
    make_private(&views)?;
    let dir = tempfile::Builder::new().prefix("view-").tempdir_in(views)?;
    let path = dir.path();
    for folder in ["refs", "objects", "objects/pack", "info"] {
        fs::create_dir(path.join(folder))?;
    }
    fs::write(path.join("HEAD"), head)?;
    fs::write(path.join("config"), repository.isolated_config())?;
    for (folder, name, limit) in COPIED {
        let found = repository
            .folder()
            .below(Path::new(folder))
            .and_then(|folder| folder.read(name, limit));
        // What an agent made unreadable is as good as not there.
        if let Ok(Some(bytes)) = found {
            fs::write(path.join(folder).join(name), bytes)?;
        }
    }
    Ok(dir)
}

/// The folder that leads to the objects of a repository. It is made once. Only
/// folders of objects are borrowed, not `info/alternates`, which may name the
/// objects of any repository, nor what else lies there.
fn borrowed(repository: &Repository) -> io::Result<PathBuf> {
    let common = repository.common_dir();
    let key = Sha256::digest(common.as_os_str().as_bytes());
    let all = repository.git().settings().scratch.join("borrowed");
    let path = all.join(data_encoding::HEXLOWER.encode(&key));
    if path.is_dir() {
        return Ok(path);
    }
    make_private(&all)?;
    let new = tempfile::tempdir_in(&all)?;
    let objects = common.join("objects");
    symlink(objects.join("pack"), new.path().join("pack"))?;
    for n in 0..=u8::MAX {
        let name = format!("{n:02x}");
        symlink(objects.join(&name), new.path().join(&name))?;
    }
    match fs::rename(new.path(), &path) {
        // Somebody else made it meanwhile.
        Err(_) if path.is_dir() => Ok(path),
        moved => moved.map(|()| path),
    }
}

/// Removes the views that servers left which were ended. One that is in use is
/// younger.
pub(crate) fn sweep(scratch: &Path) -> io::Result<()> {
    let views = scratch.join("views");
    make_private(&views)?;
    // The clock of the file system, by which the others are dated.
    let now = tempfile::tempfile_in(&views)?.metadata()?.modified()?;
    for entry in fs::read_dir(&views)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let age = now.duration_since(metadata.modified()?).unwrap_or_default();
        if age > LEFT_BEHIND {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
