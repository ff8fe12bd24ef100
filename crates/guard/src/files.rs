use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use workforce_agent_programs::ProgramEvent;
use workforce_domain::id::RunId;

use crate::cgroup::Cgroup;
use crate::protocol::{ModelUsage, RunReport};

const SOCKET: &str = "guard.socket";
const CGROUP: &str = "cgroup";
const REPORT: &str = "report.json";
const EVENTS: &str = "events.jsonl";
const MEMO: &str = "memo.json";
/// So much of the events is read at a time, in bytes.
const EVENTS_AT_ONCE: u64 = 256 * 1024;
/// No run uses nearly so many models.
const MAX_MODELS: usize = 32;
/// Longer than any report: the end of the output is at most 8 KiB, and no
/// character takes more than six bytes in JSON.
const MAX_REPORT: u64 = 1 << 20;

/// The files of one guard, in a folder that only the server's user can enter.
#[derive(Clone, Debug)]
pub struct GuardFiles {
    folder: PathBuf,
}

impl GuardFiles {
    /// The files of the guard that works in this folder.
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    pub(crate) fn create_folder(&self) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
    }

    /// The socket's path by way of the open folder: the address of a socket must
    /// be short, which the path of a data folder need not be.
    pub(crate) fn socket(&self) -> io::Result<SocketPath> {
        let folder = File::open(&self.folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()));
        Ok(SocketPath {
            path,
            _folder: folder,
        })
    }

    /// Notes the cgroup of the run.
    pub(crate) fn note_cgroup(&self, cgroup: &Cgroup) -> io::Result<()> {
        fs::write(
            self.folder.join(CGROUP),
            cgroup.path().as_os_str().as_bytes(),
        )
    }

    /// The cgroup of the run, if it was noted.
    pub(crate) fn cgroup(&self, run: RunId) -> Option<Cgroup> {
        let path = fs::read(self.folder.join(CGROUP)).ok()?;
        Cgroup::at(OsString::from_vec(path).into(), run)
    }

    /// Where the events of its agent program go.
    pub(crate) fn events(&self) -> EventFile {
        EventFile {
            path: self.folder.join(EVENTS),
            file: None,
            uses: 0,
            usage: Vec::new(),
        }
    }

    /// What the agent program told that it used, in the lines from `offset` on, and
    /// where the lines after these begin.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn uses_from(&self, offset: u64) -> io::Result<(Vec<NumberedUse>, u64)> {
        let mut file = match File::open(self.folder.join(EVENTS)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), offset)),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(offset))?;
        let mut content = Vec::new();
        file.take(EVENTS_AT_ONCE).read_to_end(&mut content)?;
        let whole = content.iter().rposition(|&byte| byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        let lines = content[..whole].split(|&byte| byte == b'\n');
        let next = offset + u64::try_from(whole).unwrap_or_default();
        Ok((lines.filter_map(NumberedUse::read).collect(), next))
    }

    /// Notes what the server that started the run wants to be kept.
    pub(crate) fn note_memo(&self, memo: &Value) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(self.folder.join(MEMO))?
            .write_all(&serde_json::to_vec(memo)?)
    }

    /// What the server that started the run wanted to be kept, if it was noted.
    #[must_use]
    pub fn memo(&self) -> Option<Value> {
        let memo = fs::read(self.folder.join(MEMO)).ok()?;
        serde_json::from_slice(&memo).ok()
    }

    /// How the run ended, once it has; `None` before.
    ///
    /// # Errors
    ///
    /// The report is there and cannot be read.
    pub fn report(&self) -> io::Result<Option<RunReport>> {
        let file = match File::open(self.folder.join(REPORT)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() > MAX_REPORT {
            return Err(io::Error::new(ErrorKind::InvalidData, "it is too long"));
        }
        serde_json::from_reader(io::BufReader::new(file))
            .map(Some)
            .map_err(io::Error::from)
    }

    /// Writes the report whole or not at all, also when power is lost.
    pub(crate) fn write_report(&self, report: &RunReport) -> io::Result<()> {
        let new = self.folder.join("report.new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(report)?)?;
        file.sync_all()?;
        fs::rename(&new, self.folder.join(REPORT))?;
        File::open(&self.folder)?.sync_all()
    }
}

/// A line of the events.
#[derive(Debug, Serialize, Deserialize)]
struct EventLine {
    /// Counts the uses of a run, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    #[serde(flatten)]
    event: ProgramEvent,
}

/// What an agent program told once that it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedUse {
    /// Which use of the run this is, from one.
    pub number: i64,
    /// What was used.
    pub usage: ModelUsage,
}

impl NumberedUse {
    /// Reads a line; `None` for one of another event.
    fn read(line: &[u8]) -> Option<Self> {
        let line: EventLine = serde_json::from_slice(line).ok()?;
        let ProgramEvent::Usage {
            model,
            tokens,
            cost,
        } = line.event
        else {
            return None;
        };
        Some(Self {
            number: line.number?,
            usage: ModelUsage {
                model,
                tokens,
                cost,
            },
        })
    }
}

/// The events of an agent program, in the order they came.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: Option<File>,
    /// How many of them told a use.
    uses: i64,
    usage: Vec<ModelUsage>,
}

impl EventFile {
    /// Appends events, each in one line; true when one of them told a use. A fault of
    /// the disk costs events, not the run: the last ones are in its report.
    pub(crate) fn append(&mut self, events: &[ProgramEvent]) -> bool {
        let before = self.uses;
        for event in events {
            self.add_up(event);
            let number = matches!(event, ProgramEvent::Usage { .. }).then(|| {
                self.uses += 1;
                self.uses
            });
            let event = event.clone();
            if self.append_one(&EventLine { number, event }).is_err() {
                self.file = None;
            }
        }
        self.uses > before
    }

    /// What the events add up to.
    pub(crate) fn into_usage(self) -> Vec<ModelUsage> {
        self.usage
    }

    fn add_up(&mut self, event: &ProgramEvent) {
        let ProgramEvent::Usage {
            model,
            tokens,
            cost,
        } = event
        else {
            return;
        };
        let is_full = self.usage.len() >= MAX_MODELS;
        // A program that names ever new ones is counted with the last.
        let known = self.usage.iter().position(|known| known.model == *model);
        let known = known.or(is_full.then(|| self.usage.len() - 1));
        match known.and_then(|known| self.usage.get_mut(known)) {
            Some(known) => known.add(*tokens, *cost),
            None => self.usage.push(ModelUsage {
                model: model.clone(),
                tokens: *tokens,
                cost: *cost,
            }),
        }
    }

    fn append_one(&mut self, line: &EventLine) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .mode(0o600)
                    .open(&self.path)?,
            ),
        };
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        file.write_all(&line)
    }
}

/// Where a guard listens, for as long as this value lives.
pub(crate) struct SocketPath {
    path: PathBuf,
    _folder: File,
}

impl AsRef<Path> for SocketPath {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}
