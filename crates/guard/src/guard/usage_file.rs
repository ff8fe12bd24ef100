//! The file in which an agent program tells what it uses while it runs.
//!
//! Agents can write there whatever they want. So no link is followed below the home of
//! the program, nothing but a regular file of the program's user is read, and of that
//! only so much at a time.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;
use workforce_agent_programs::{SessionId, UsageFiles};

use crate::protocol::{JudgedBy, Start};

/// Many more than the sessions of a year.
const MOST_NAMES: usize = 5_000;
const PIECE_LEN: usize = 64 * 1024;
const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// Follows the file of one run's session.
pub(super) struct UsageFile {
    folder: Folder,
    /// The session, once it is known.
    session: Option<SessionId>,
    /// Whether the program has told that it works in it.
    is_told: bool,
    /// Whether a file that is found now is all of this run.
    is_new: bool,
    looks: u64,
    found: Option<Followed>,
}

/// A file that is read on.
struct Followed {
    file: File,
    offset: u64,
}

impl UsageFile {
    /// That of a run whose program does not execute yet; `None` when its program has
    /// none. Of a session that is resumed only what comes from now on counts.
    pub(super) fn before(start: &Start) -> Option<Self> {
        let JudgedBy::Output(program) = start.judged_by else {
            return None;
        };
        let files = program.definition().usage_files.as_ref()?;
        let folder = Folder::of(start, files)?;
        let found = start.resumed.as_ref().and_then(|session| {
            let file = folder.find(session)?;
            let offset = file.metadata().ok()?.len();
            Some(Followed { file, offset })
        });
        Some(Self {
            folder,
            session: start.resumed.clone(),
            is_told: false,
            is_new: start.resumed.is_none(),
            looks: 0,
            found,
        })
    }

    /// The program told its session. Another one that it tells later is none of this
    /// run.
    pub(super) fn session_told(&mut self, session: &SessionId) {
        self.is_told = true;
        self.session.get_or_insert_with(|| session.clone());
    }

    /// Looks for the file, more and more rarely.
    pub(super) fn look(&mut self) {
        self.looks += 1;
        if self.looks.is_power_of_two() {
            self.find();
        }
    }

    /// Looks for the file.
    pub(super) fn find(&mut self) {
        if let (None, true, Some(session)) = (&self.found, self.is_new, &self.session) {
            let found = self.folder.find(session);
            self.found = found.map(|file| Followed { file, offset: 0 });
        }
    }

    /// The next bytes, if there are any.
    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        let Followed { file, offset } = self.found.as_mut()?;
        let mut piece = vec![0; PIECE_LEN];
        let len = file.read_at(&mut piece, *offset).unwrap_or(0);
        piece.truncate(len);
        *offset = offset.saturating_add(u64::try_from(len).ok()?);
        (len > 0).then_some(piece)
    }

    /// Whether there should be a file and is none that can be read.
    pub(super) const fn is_missing(&self) -> bool {
        self.is_told && self.found.is_none()
    }
}

/// Where the files of a program lie.
struct Folder {
    /// What lies above is not the agent's.
    top: OwnedFd,
    /// The path below it.
    path: PathBuf,
    files: &'static UsageFiles,
    /// The user of the program.
    owner: u32,
}

impl Folder {
    fn of(start: &Start, files: &'static UsageFiles) -> Option<Self> {
        let whole = files.folder.find(|name| start.environment.get(name))?;
        let home = start.environment.get("HOME").map(Path::new);
        let top = home.filter(|home| home.is_absolute() && whole.starts_with(home));
        // Whoever names another folder names the one that is meant, without links.
        let top = top.unwrap_or(Path::new("/"));
        let path = whole.strip_prefix(top).ok()?.to_owned();
        let user = start.containment.run_as.as_ref();
        Some(Self {
            top: nix::fcntl::open(top, FOLDER, Mode::empty()).ok()?,
            path,
            files,
            owner: user.map_or_else(|| geteuid().as_raw(), |user| user.uid),
        })
    }

    /// The file of a session.
    fn find(&self, session: &SessionId) -> Option<File> {
        let how = OpenHow::new().flags(FOLDER).resolve(
            ResolveFlag::RESOLVE_BENEATH
                | ResolveFlag::RESOLVE_NO_SYMLINKS
                | ResolveFlag::RESOLVE_NO_MAGICLINKS,
        );
        let folder = openat2(&self.top, &self.path, how).ok()?;
        let mut names_left = MOST_NAMES;
        self.find_in(&folder, self.files.depth, session, &mut names_left)
    }

    fn find_in(
        &self,
        folder: &OwnedFd,
        depth: usize,
        session: &SessionId,
        names_left: &mut usize,
    ) -> Option<File> {
        let names = newest_first(folder, names_left).ok()??;
        let names = names.iter().map(String::as_str);
        if depth == 0 {
            let mut names = names.filter(|name| self.files.is_of(name, session));
            return names.find_map(|name| self.open(folder, name).ok().flatten());
        }
        names
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            .find_map(|name| {
                let is_left = *names_left > 0;
                let inner = is_left.then(|| open(folder, name, OFlag::O_DIRECTORY));
                self.find_in(&inner?.ok()?, depth - 1, session, names_left)
            })
    }

    /// `None` for what is no file of the program.
    fn open(&self, folder: &OwnedFd, name: &str) -> io::Result<Option<File>> {
        // A pipe without a writer must not hold the guard up.
        let file = File::from(open(folder, name, OFlag::O_NONBLOCK | OFlag::O_NOCTTY)?);
        let metadata = file.metadata()?;
        let is_own = metadata.is_file() && metadata.uid() == self.owner;
        Ok(is_own.then_some(file))
    }
}

/// Opens what is right in the folder and no link.
fn open(folder: &OwnedFd, name: &str, flags: OFlag) -> io::Result<OwnedFd> {
    let flags = flags | OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// The names in a folder, which begin with a time; `None` when there are too many.
fn newest_first(folder: &OwnedFd, names_left: &mut usize) -> io::Result<Option<Vec<String>>> {
    let mut dir = Dir::openat(folder, c".", FOLDER, Mode::empty())?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        let Some(left) = names_left.checked_sub(1) else {
            return Ok(None);
        };
        *names_left = left;
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        names.extend(name.into_string().ok());
    }
    names.sort_unstable_by(|one, other| other.cmp(one));
    Ok(Some(names))
}
