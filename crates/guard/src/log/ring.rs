use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

const HEADER_LEN: u64 = 24;
const COPY_LEN: usize = 64 * 1024;

/// The last bytes of a stream, in a file of fixed size that is written round
/// and round. Its header says how to read it after a crash: capacity, bytes
/// written, and length of the log that it continues.
#[derive(Debug)]
pub(super) struct TailRing {
    path: PathBuf,
    file: File,
    capacity: u64,
    written: u64,
    head_len: u64,
}

/// Where the bytes of a ring have their places in the log that it joins.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    head_len: u64,
    left_out: u64,
    line: String,
}

impl Gap {
    /// Where the line that stands for what is left out begins.
    pub(super) const fn begin(&self) -> u64 {
        self.head_len
    }

    /// Whether nothing is left out.
    pub(super) const fn is_empty(&self) -> bool {
        self.left_out == 0
    }

    /// How many bytes are left out.
    pub(super) const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Where the bytes after the gap begin.
    pub(super) fn end(&self) -> u64 {
        self.head_len + self.line.len() as u64
    }

    /// The place of a byte that was written to the ring after so many others;
    /// `None` for one that is left out.
    pub(super) fn place_of(&self, written: u64) -> Option<u64> {
        Some(self.end() + written.checked_sub(self.left_out)?)
    }
}

impl TailRing {
    pub(super) fn create(path: PathBuf, capacity: u64, head_len: u64) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let ring = Self {
            path,
            file,
            capacity,
            written: 0,
            head_len,
        };
        ring.write_header()?;
        Ok(ring)
    }

    /// The ring that an earlier process left, if any.
    pub(super) fn left_at(path: PathBuf) -> io::Result<Option<Self>> {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut header = [0; HEADER_LEN as usize];
        file.read_exact_at(&mut header, 0)?;
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&header[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        Ok(Some(Self {
            path,
            file,
            capacity: number(0),
            written: number(8),
            head_len: number(16),
        }))
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut at = self.written;
        let mut rest = bytes;
        if rest.len() as u64 > self.capacity {
            let skipped = rest.len() as u64 - self.capacity;
            at += skipped;
            rest = &rest[usize::try_from(skipped).unwrap_or(rest.len())..];
        }
        while !rest.is_empty() {
            let place = at % self.capacity;
            let room = usize::try_from(self.capacity - place).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.len().min(room));
            self.file.write_all_at(now, HEADER_LEN + place)?;
            at += now.len() as u64;
            rest = later;
        }
        self.written = at;
        self.write_header()
    }

    /// Bytes that were written to it.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// What is missing when it joins its log.
    pub(super) fn gap(&self) -> Gap {
        let left_out = self.written.saturating_sub(self.capacity);
        let line = if left_out > 0 {
            format!("\n[... {left_out} bytes left out ...]\n")
        } else {
            String::new()
        };
        Gap {
            head_len: self.head_len,
            left_out,
            line,
        }
    }

    /// Moves the content to the end of its log, after a line that says how
    /// much is missing, and removes the ring. Returns how many bytes are.
    pub(super) fn fold_into(self, log: &mut File) -> io::Result<u64> {
        // An earlier attempt may have been cut short.
        log.set_len(self.head_len)?;
        let gap = self.gap();
        log.write_all(gap.line.as_bytes())?;
        let mut buffer = vec![0; COPY_LEN];
        let mut at = gap.left_out;
        while at < self.written {
            let place = at % self.capacity;
            let len = (self.written - at)
                .min(self.capacity - place)
                .min(COPY_LEN as u64);
            let part = &mut buffer[..usize::try_from(len).unwrap_or(COPY_LEN)];
            self.file.read_exact_at(part, HEADER_LEN + place)?;
            log.write_all(part)?;
            at += len;
        }
        std::fs::remove_file(&self.path)?;
        Ok(gap.left_out)
    }

    fn write_header(&self) -> io::Result<()> {
        let mut header = [0; HEADER_LEN as usize];
        header[..8].copy_from_slice(&self.capacity.to_le_bytes());
        header[8..16].copy_from_slice(&self.written.to_le_bytes());
        header[16..].copy_from_slice(&self.head_len.to_le_bytes());
        self.file.write_all_at(&header, 0)
    }
}
