//! A source repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Config;
use crate::discovery::{Place, discover};
use crate::error::Tried as _;
use crate::folder::Folder;
use crate::process::run_blocking;
use crate::refs::{Refs, exclude};
use crate::values::ObjectFormat;
use crate::view::View;
use crate::{Branch, CommitId, Git, GitError};

/// Settings that are taken over: values alone, none names a program or a file.
const TAKEN_OVER: [&str; 6] = [
    "core.filemode",
    "core.autocrlf",
    "core.eol",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
];

/// What a repository may say that it has beside its format.
const EXTENSIONS: [&str; 9] = [
    "compatobjectformat",
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

/// A repository that tickets are worked on in. Clones are the same repository.
#[derive(Clone, Debug)]
pub struct Repository(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    git: Git,
    common: PathBuf,
    /// Held open: nobody can put another folder in its place.
    folder: Folder,
    git_dir: PathBuf,
    top: Option<PathBuf>,
    format: ObjectFormat,
    has_lfs_server: bool,
    of_worktrees: SettingsOfWorktrees,
    settings: BTreeMap<&'static str, String>,
}

/// What the shared settings say of those that each worktree has for itself.
#[derive(Debug)]
struct SettingsOfWorktrees {
    exist: bool,
    is_bare: bool,
    names_files: bool,
}

impl SettingsOfWorktrees {
    fn read(config: &Config) -> Self {
        let is_true = |key: &str| {
            let value = config.last(key).map(str::to_ascii_lowercase);
            value.is_some_and(|value| ["true", "yes", "on", "1"].contains(&&*value))
        };
        Self {
            exist: is_true("extensions.worktreeconfig"),
            is_bare: is_true("core.bare"),
            names_files: config.last("core.worktree").is_some(),
        }
    }
}

impl Git {
    /// Opens the repository that a folder lies in: a bare one, one with files, a
    /// submodule, or a linked worktree.
    ///
    /// # Errors
    /// [`GitError::NotARepository`]; [`GitError::Unsupported`] for a partial
    /// clone, and one whose refs are no files.
    pub async fn open(&self, path: &Path) -> Result<Repository, GitError> {
        let not_found = || GitError::NotARepository {
            path: path.to_owned(),
        };
        let dir = path.canonicalize().map_err(|_io| not_found())?;
        if !dir.is_dir() {
            return Err(not_found());
        }
        let place = run_blocking(move || discover(&dir)).await;
        let Place {
            common,
            git_dir,
            top,
        } = place.ok_or_else(not_found)?;
        let folder = Folder::open(&common).tried(|| format!("open {}", common.display()))?;
        let config = Config::of_repository(self, &folder).await?;
        let format = supported(&config)?;
        let settings = TAKEN_OVER
            .into_iter()
            .filter_map(|key| Some((key, plain(config.last(key)?)?)))
            .collect();
        Ok(Repository(Arc::new(Inner {
            git: self.clone(),
            top,
            common,
            folder,
            git_dir,
            format,
            has_lfs_server: config.has_key(names_lfs_server),
            of_worktrees: SettingsOfWorktrees::read(&config),
            settings,
        })))
    }
}

/// Whether a setting leads Git LFS elsewhere than to the remote.
fn names_lfs_server(key: &str) -> bool {
    let of_remote = [".lfsurl", ".lfspushurl"]
        .iter()
        .any(|it| key.ends_with(it));
    of_remote || ["lfs.url", "lfs.pushurl", "lfs.standalonetransferagent"].contains(&key)
}

/// A value that is a word.
fn plain(value: &str) -> Option<String> {
    let is_word = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric());
    is_word.then(|| value.to_owned())
}

fn supported(config: &Config) -> Result<ObjectFormat, GitError> {
    let unsupported = |what: &str| {
        Err(GitError::Unsupported {
            what: what.to_owned(),
        })
    };
    let is_partial = config.last("extensions.partialclone").is_some()
        || config.has_key(|key| key.starts_with("remote.") && key.ends_with(".promisor"));
    if is_partial {
        return unsupported("it is a partial clone; fetch all of it");
    }
    if config
        .last("extensions.refstorage")
        .is_some_and(|storage| !storage.eq_ignore_ascii_case("files"))
    {
        return unsupported("its refs are not stored as files");
    }
    let version = config.last("core.repositoryformatversion").unwrap_or("0");
    if !["0", "1"].contains(&version) {
        return unsupported("its format is unknown");
    }
    let is_unknown = |key: &str| {
        let extension = key.strip_prefix("extensions.");
        extension.is_some_and(|extension| !EXTENSIONS.contains(&extension))
    };
    if version == "1" && config.has_key(is_unknown) {
        return unsupported("it has an extension that is unknown");
    }
    match config.last("extensions.objectformat") {
        None | Some("sha1") => Ok(ObjectFormat::Sha1),
        Some("sha256") => Ok(ObjectFormat::Sha256),
        Some(_) => unsupported("its object format is unknown"),
    }
}

impl Repository {
    /// The folder that holds objects and refs, without links in its path. Two
    /// paths lead to the same repository exactly if these are equal.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.0.common
    }

    /// The folder of its files; none if it is bare.
    #[must_use]
    pub fn work_dir(&self) -> Option<&Path> {
        self.0.top.as_deref()
    }

    /// The commit that a branch points to.
    ///
    /// # Errors
    /// [`GitError::Tampered`] if its ref is a link or points to another ref.
    pub fn branch_head(&self, branch: &Branch) -> Result<Option<CommitId>, GitError> {
        self.refs().read(&branch.reference())
    }

    /// Fails if this user may not add objects, branches and worktrees.
    ///
    /// # Errors
    /// [`GitError::NotWritable`].
    pub fn need_writable(&self) -> Result<(), GitError> {
        for folder in [".", "objects", "refs/heads"] {
            let may = self.folder().may_add_to(Path::new(folder));
            let path: PathBuf = self.common_dir().join(folder).components().collect();
            may.map_err(|error| GitError::writing(path.to_string_lossy(), error))?;
        }
        Ok(())
    }

    /// Fails if a branch that is to be made has no room: git cannot store `a` beside
    /// `a/b`. One that exists has.
    ///
    /// # Errors
    /// [`GitError::NameInTheWay`].
    pub fn need_room_for(&self, branch: &Branch) -> Result<(), GitError> {
        if self.branch_head(branch)?.is_some() {
            return Ok(());
        }
        let names = self.refs().list("refs/heads")?;
        match names.keys().find(|name| exclude(name, &branch.reference())) {
            None => Ok(()),
            Some(name) => Err(GitError::NameInTheWay {
                branch: branch.to_string(),
                other: name.trim_start_matches("refs/heads/").to_owned(),
            }),
        }
    }

    /// True if the repository has the commit.
    ///
    /// # Errors
    /// Git cannot be run.
    pub async fn has_commit(&self, commit: &CommitId) -> Result<bool, GitError> {
        let view = View::new(self, None).await?;
        view.has_commit(commit).await
    }

    /// True if all that `ancestor` holds is part of `descendant`.
    ///
    /// # Errors
    /// [`GitError::NoCommit`].
    pub async fn is_ancestor(
        &self,
        ancestor: &CommitId,
        descendant: &CommitId,
    ) -> Result<bool, GitError> {
        let view = View::new(self, None).await?;
        view.is_ancestor(ancestor, descendant).await
    }

    pub(crate) fn git(&self) -> &Git {
        &self.0.git
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// The folder that git keeps about the files in `work_dir`.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.0.git_dir
    }

    pub(crate) fn format(&self) -> ObjectFormat {
        self.0.format
    }

    /// Whether its settings lead Git LFS elsewhere than to the remote.
    pub(crate) fn has_lfs_server(&self) -> bool {
        self.0.has_lfs_server
    }

    /// Whether each worktree has settings of its own.
    pub(crate) fn has_settings_of_worktrees(&self) -> bool {
        self.0.of_worktrees.exist
    }

    /// Whether the shared settings say that there are no files.
    pub(crate) fn is_bare_for_all(&self) -> bool {
        self.0.of_worktrees.is_bare
    }

    /// Whether the shared settings say where the files are.
    pub(crate) fn names_files_for_all(&self) -> bool {
        self.0.of_worktrees.names_files
    }

    pub(crate) fn refs(&self) -> Refs<'_> {
        Refs::new(&self.0.folder)
    }

    /// The settings of a view of it.
    pub(crate) fn isolated_config(&self) -> String {
        let mut text = String::from("[core]\n\tbare = false\n");
        text.push_str(match self.format() {
            ObjectFormat::Sha1 => "\trepositoryformatversion = 0\n",
            ObjectFormat::Sha256 => "\trepositoryformatversion = 1\n",
        });
        for (key, value) in &self.0.settings {
            let name = key.trim_start_matches("core.");
            text.push_str(&format!("\t{name} = {value}\n"));
        }
        if self.format() == ObjectFormat::Sha256 {
            text.push_str("[extensions]\n\tobjectformat = sha256\n");
        }
        text
    }
}
