//! Finds the files of a worktree that its commit does not have, without git, which would
//! wait for a pipe, read a file of any size, look into other repositories, and go
//! wherever a folder leads that was exchanged for a link.
//!
//! Git is only asked which names are ignored, in a folder of the server's own with
//! copies of the `.gitignore` files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;

use crate::GitError;
use crate::contents::private_files::PrivateFiles;
use crate::contents::refusal::{MAX_READ_BY_GIT, Reason, by_git_reading};
use crate::contents::survey::Tracked;
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;
use crate::program::{LIST_LIMIT, records};
use crate::view::View;

/// A folder lies in at most so many others.
const MAX_LEVELS: usize = 256;
/// No program opens a longer path, in bytes.
const MAX_PATH: usize = 4000;
/// All `.gitignore` files of a worktree have at most so many bytes.
const MAX_IGNORING: u64 = 16 * 1024 * 1024;

/// Where names stand that are ignored.
const IGNORING: &str = ".gitignore";

/// What the commit has.
pub(crate) struct Known {
    files: BTreeSet<Vec<u8>>,
    /// All folders above those files.
    folders: BTreeSet<Vec<u8>>,
    submodules: BTreeSet<Vec<u8>>,
}

impl Known {
    pub(crate) fn new(tracked: &BTreeMap<Vec<u8>, Tracked>) -> Self {
        let mut known = Self {
            files: BTreeSet::new(),
            folders: BTreeSet::new(),
            submodules: BTreeSet::new(),
        };
        for (path, entry) in tracked {
            if entry.is_submodule {
                known.submodules.insert(path.clone());
                continue;
            }
            let mut above = path.as_slice();
            while let Some(end) = above.iter().rposition(|&b| b == b'/') {
                above = &above[..end];
                if !known.folders.insert(above.to_vec()) {
                    break;
                }
            }
            known.files.insert(path.clone());
        }
        known
    }
}

/// What the commit does not have, and no `.gitignore` names.
#[derive(Default)]
pub(crate) struct Others {
    /// Files and links.
    pub(crate) paths: Vec<Vec<u8>>,
    pub(crate) refused: BTreeMap<Vec<u8>, Reason>,
    /// Git would wait for a file that it reads for its attributes, or read it whole.
    pub(crate) stops_git: bool,
}

/// Looks through all folders, but for those that are ignored.
pub(crate) async fn others(view: &View, worktree: &Path, known: Known) -> Result<Others, GitError> {
    let ignoring = PrivateFiles::new(view)?;
    let mut walk = Walk {
        known,
        folders: vec![Vec::new()],
        unknown: Vec::new(),
        special: Vec::new(),
        ignoring_bytes: 0,
        listed: 0,
        found: Others::default(),
    };
    while !walk.folders.is_empty() {
        let (from, own) = (worktree.to_owned(), ignoring.path().to_owned());
        walk = run_blocking(move || {
            walk.one_level(&Folder::open(&from)?, &Folder::open(&own)?)?;
            io::Result::Ok(walk)
        })
        .await
        .tried(|| "look at the files of the worktree".to_owned())?;
        if walk.listed > LIST_LIMIT {
            let command = "ls-files";
            return Err(GitError::TooMuchOutput { command });
        }
        let unknown = std::mem::take(&mut walk.unknown);
        let kept = not_ignored(view, ignoring.path(), unknown).await?;
        walk.folders.extend(kept);
    }
    let mut found = walk.found;
    found.paths = not_ignored(view, ignoring.path(), found.paths).await?;
    for path in not_ignored(view, ignoring.path(), walk.special).await? {
        found.refused.insert(path, Reason::SpecialFile);
    }
    Ok(found)
}

struct Walk {
    known: Known,
    /// Those that are to be looked into next.
    folders: Vec<Vec<u8>>,
    /// Folders that may be ignored.
    unknown: Vec<Vec<u8>>,
    special: Vec<Vec<u8>>,
    ignoring_bytes: u64,
    /// The length of all paths.
    listed: usize,
    found: Others,
}

impl Walk {
    /// Looks into the folders, and finds those that lie in them.
    fn one_level(&mut self, worktree: &Folder, own: &Folder) -> io::Result<()> {
        for path in std::mem::take(&mut self.folders) {
            // It is gone, a link took its place, or nobody may read it.
            let Ok(folder) = worktree.below(&path_of(&path)) else {
                continue;
            };
            let entries = folder.kinds()?;
            let is_repository = !path.is_empty()
                && !self.known.folders.contains(&path)
                && entries.iter().any(|(name, kind)| {
                    name == ".git" && !matches!(kind, None | Some(Kind::Special))
                });
            if is_repository {
                let path = [&path, b"/".as_slice()].concat();
                self.found.refused.insert(path, Reason::NestedRepository);
                continue;
            }
            let refused = self.found.refused.len();
            if entries.iter().any(|(name, _)| name == IGNORING) {
                self.copy_ignoring(&folder, &path, own)?;
            }
            if self.found.refused.len() > refused {
                // Nobody can say what is ignored here.
                continue;
            }
            for (name, kind) in entries {
                let Some(kind) = kind else { continue };
                if name == ".git" && (path.is_empty() || kind != Kind::Special) {
                    continue;
                }
                let at = join(&path, name.as_encoded_bytes());
                self.listed += at.len();
                if at.len() > MAX_PATH {
                    self.refuse_top(&at);
                    continue;
                }
                if let Some(reason) = by_git_reading(&folder, &name, kind)? {
                    self.found.refused.insert(at, reason);
                    self.found.stops_git = true;
                    continue;
                }
                self.take(at, kind, own)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, at: Vec<u8>, kind: Kind, own: &Folder) -> io::Result<()> {
        match kind {
            Kind::Folder if self.known.submodules.contains(&at) => {}
            Kind::Folder if at.iter().filter(|&&b| b == b'/').count() >= MAX_LEVELS => {
                self.refuse_top(&at);
            }
            Kind::Folder if self.known.folders.contains(&at) => self.folders.push(at),
            Kind::Folder => {
                // Git looks whether a name is that of a folder.
                own.below_or_new(&path_of(&at), 0o700)?;
                self.unknown.push(at);
            }
            _ if self.known.files.contains(&at) => {}
            Kind::Special => self.special.push(at),
            Kind::File | Kind::Link => self.found.paths.push(at),
        }
        Ok(())
    }

    /// The whole path may be longer than anybody reads.
    fn refuse_top(&mut self, path: &[u8]) {
        let top = path.split(|&b| b == b'/').next().unwrap_or_default();
        self.found.refused.insert(top.to_vec(), Reason::TooDeep);
    }

    fn copy_ignoring(&mut self, folder: &Folder, path: &[u8], own: &Folder) -> io::Result<()> {
        let name = OsStr::new(IGNORING);
        let Some(kind) = folder.kind(name)? else {
            return Ok(());
        };
        let mut reason = by_git_reading(folder, name, kind)?;
        if reason.is_none() && kind == Kind::File {
            let rest = MAX_IGNORING.saturating_sub(self.ignoring_bytes);
            let limit = rest.min(MAX_READ_BY_GIT).try_into().unwrap_or_default();
            match folder.read(IGNORING, limit) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    self.ignoring_bytes += text.len() as u64;
                    let own = own.below_or_new(&path_of(path), 0o700)?;
                    own.new_file(name, 0o600)?.write_all(&text)?;
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    reason = Some(Reason::Unreadable);
                }
                Err(_) => reason = Some(Reason::TooLargeForGit),
            }
        }
        let at = join(path, IGNORING.as_bytes());
        self.found.refused.extend(reason.map(|reason| (at, reason)));
        Ok(())
    }
}

fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    match path.is_empty() {
        true => name.to_vec(),
        false => [path, b"/", name].concat(),
    }
}

/// Those of some paths that no `.gitignore` in a folder names.
async fn not_ignored(
    view: &View,
    ignoring: &Path,
    mut paths: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, GitError> {
    if paths.is_empty() {
        return Ok(paths);
    }
    // A name that begins with a colon would be more than a name.
    let plain = |path: &Vec<u8>| [b"./", path.as_slice()].concat();
    let input: Vec<_> = paths.iter().map(plain).collect();
    let output = view
        .command_in("check-ignore", ignoring)
        // It takes names alone, and refuses to be told so.
        .env("GIT_LITERAL_PATHSPECS", "0")
        .args(["--no-index", "-z", "--stdin"])
        .input(input.join(&0))
        .stdout_limit(LIST_LIMIT)
        .run()
        .await?;
    // It says by its exit code whether any is ignored.
    if !matches!(output.code, Some(0 | 1)) {
        return Err(output.failed("check-ignore"));
    }
    let ignored: BTreeSet<&[u8]> = records(&output.stdout).collect();
    paths.retain(|path| !ignored.contains(plain(path).as_slice()));
    Ok(paths)
}
