//! A log that nobody writes to any more, compressed in blocks: a part of it is read without the
//! rest (docs/heartbeats.md#packed-logs).

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use nix::libc;

use super::part::LogPart;

/// What a packed log begins with.
const MAGIC: [u8; 8] = *b"wflogpk1";
/// The text of each block but the last has so many bytes.
const BLOCK: u64 = 256 * 1024;
/// No block of text is packed into more.
const LONGEST: u64 = 2 * BLOCK;
/// The magic and how many bytes of text there are; the offsets of the blocks follow.
const HEADER: u64 = 16;
/// Shorter logs take a block of the disk in either form.
const SHORTEST: u64 = 8 * 1024;
/// What a killed server left half packed is older than this.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// The log of an ended run, packed.
#[derive(Debug)]
pub(super) struct PackedLog {
    file: File,
    total: u64,
}

impl PackedLog {
    /// Opens what [`pack_log`] made of the log at `path`.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(LogPart::Packed.beside(path))?;
        let mut header = [0; HEADER as usize];
        file.read_exact_at(&mut header, 0)?;
        let (magic, total) = header.split_at(MAGIC.len());
        let total = u64::from_le_bytes(total.try_into().map_err(io::Error::other)?);
        if magic != MAGIC || total > u64::MAX / 2 {
            return Err(damaged());
        }
        Ok(Self { file, total })
    }

    /// How many bytes the text has.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// The text from `offset` on, at most `length` bytes.
    pub(super) fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = self.total.min(offset.saturating_add(length as u64));
        let mut text = Vec::new();
        let mut at = offset;
        while at < end {
            let block = self.block(at / BLOCK)?;
            let from = usize::try_from(at % BLOCK).map_err(io::Error::other)?;
            let wanted = usize::try_from(end - at).map_err(io::Error::other)?;
            let rest = block.get(from..).filter(|rest| !rest.is_empty());
            let rest = rest.ok_or_else(damaged)?;
            let part = &rest[..rest.len().min(wanted)];
            text.extend_from_slice(part);
            at += part.len() as u64;
        }
        Ok(text)
    }

    fn block(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut ends = [0; 16];
        self.file.read_exact_at(&mut ends, HEADER + number * 8)?;
        let (begin, end) = ends.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
        let begin = number(begin).map_err(io::Error::other)?;
        let end = number(end).map_err(io::Error::other)?;
        let length = end.checked_sub(begin).filter(|&length| length <= LONGEST);
        let length = usize::try_from(length.ok_or_else(damaged)?).map_err(io::Error::other)?;
        let mut packed = vec![0; length];
        self.file.read_exact_at(&mut packed, begin)?;
        let mut text = Vec::new();
        ZlibDecoder::new(&*packed)
            .take(BLOCK)
            .read_to_end(&mut text)?;
        Ok(text)
    }
}

/// Packs the log at `path`, which nobody writes to any more, and removes it. Readers find one or
/// the other at any time, and so they do after a crash. Returns whether it was worth it.
///
/// # Errors
///
/// The files cannot be read or written. The log is as before.
pub fn pack_log(path: &Path) -> io::Result<bool> {
    let unfinished = LogPart::Tail.beside(path);
    let log = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    let metadata = log.metadata()?;
    if !metadata.is_file() || metadata.len() < SHORTEST || unfinished.try_exists()? {
        return Ok(false);
    }
    let temporary = LogPart::Packing.beside(path);
    let Some(file) = create(&temporary)? else {
        return Ok(false);
    };
    let written = write(&log, metadata.len(), &file).and_then(|()| {
        // Its age is that of the log.
        file.set_times(FileTimes::new().set_modified(metadata.modified()?))?;
        file.sync_all()?;
        fs::rename(&temporary, LogPart::Packed.beside(path))?;
        sync_folder(path)
    });
    if let Err(error) = written {
        // It may have its name already, and is whole then.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    fs::remove_file(path)?;
    Ok(true)
}

fn write(log: &File, total: u64, mut file: &File) -> io::Result<()> {
    let count = total.div_ceil(BLOCK);
    let mut offsets = vec![HEADER + (count + 1) * 8];
    file.write_all(&MAGIC)?;
    file.write_all(&total.to_le_bytes())?;
    // The offsets are known afterwards.
    let room = usize::try_from((count + 1) * 8).map_err(io::Error::other)?;
    file.write_all(&vec![0; room])?;
    let mut text = log.take(total);
    let mut left = total;
    while left > 0 {
        let length = left.min(BLOCK);
        let mut block = Vec::new();
        (&mut text).take(length).read_to_end(&mut block)?;
        if block.len() as u64 != length {
            return Err(io::Error::other("the log became shorter"));
        }
        let mut packed = Vec::new();
        ZlibEncoder::new(&*block, Compression::default()).read_to_end(&mut packed)?;
        file.write_all(&packed)?;
        let end = offsets.last().copied().unwrap_or_default() + packed.len() as u64;
        offsets.push(end);
        left -= length;
    }
    let offsets: Vec<u8> = offsets.into_iter().flat_map(u64::to_le_bytes).collect();
    file.write_all_at(&offsets, HEADER)
}

/// A new file; `None` while another server packs the same log.
fn create(path: &Path) -> io::Result<Option<File>> {
    let create = || {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
    };
    match create() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let age = path.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age < ABANDONED {
                return Ok(None);
            }
            fs::remove_file(path)?;
            create().map(Some)
        }
        created => created.map(Some),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the packed log is damaged")
}
