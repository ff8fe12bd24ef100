//! The file of SQLite's write-ahead log, as <https://www.sqlite.org/fileformat2.html#walformat> has
//! it: a header, and frames of one page each. The checksum of a frame covers all frames before it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// What the file begins with. The last bit tells in which order a checksum reads bytes.
const MAGIC: u32 = 0x377f_0682;

/// Opens the log of the database at `path`. SQLite keeps it as long as the database is open.
///
/// # Errors
/// When there is none.
pub(in crate::store::sqlite) fn open_log(path: &Path) -> io::Result<File> {
    // It lies beside the database itself, not beside a link to it.
    let mut name = OsString::from(path.canonicalize()?);
    name.push("-wal");
    File::options().read(true).write(true).open(name)
}

/// Writes a log over itself, so that the system counts it as not yet flushed: from its beginning on,
/// as far as it is as it was written. Returns how many pages that are.
///
/// # Errors
/// When it cannot be written.
pub(in crate::store::sqlite) fn write_again(file: &File) -> io::Result<u64> {
    let mut header = [0; HEADER];
    if file.metadata()?.len() < HEADER as u64 {
        return Ok(0);
    }
    file.read_exact_at(&mut header, 0)?;
    let magic = number(&header[0..4]);
    let mut sum = Checksum::new(magic & 1 == 1);
    sum.add(&header[..24]);
    if magic & !1 != MAGIC || !sum.is(&header[24..]) {
        return Ok(0);
    }
    file.write_all_at(&header, 0)?;
    let salts = &header[16..24];
    let page_size = number(&header[8..12]) as usize;
    let mut frame = vec![0; FRAME_HEADER + page_size];
    let mut pages = 0;
    let mut at = HEADER as u64;
    while file.read_exact_at(&mut frame, at).is_ok() {
        let (header, page) = frame.split_at(FRAME_HEADER);
        sum.add(&header[..8]);
        sum.add(page);
        if &header[8..16] != salts || !sum.is(&header[16..]) {
            break;
        }
        file.write_all_at(&frame, at)?;
        pages += 1;
        at += frame.len() as u64;
    }
    Ok(pages)
}

/// SQLite's checksum of all that was added.
struct Checksum {
    is_big_endian: bool,
    sum: [u32; 2],
}

impl Checksum {
    const fn new(is_big_endian: bool) -> Self {
        Self {
            is_big_endian,
            sum: [0; 2],
        }
    }

    /// Adds bytes, eight at a time.
    fn add(&mut self, bytes: &[u8]) {
        let [mut first, mut second] = self.sum;
        for pair in bytes.chunks_exact(8) {
            let (one, other) = pair.split_at(4);
            first = first.wrapping_add(self.read(one)).wrapping_add(second);
            second = second.wrapping_add(self.read(other)).wrapping_add(first);
        }
        self.sum = [first, second];
    }

    fn read(&self, bytes: &[u8]) -> u32 {
        if self.is_big_endian {
            number(bytes)
        } else {
            number(bytes).swap_bytes()
        }
    }

    /// Whether this is the one that was written.
    fn is(&self, written: &[u8]) -> bool {
        written.len() >= 8 && [number(&written[..4]), number(&written[4..8])] == self.sum
    }
}

/// Four bytes of the file as a number; those of its headers are in big-endian order.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .take(4)
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;
    use crate::store::sqlite::open::connect;

    #[test]
    fn pages_are_written_once_more_up_to_the_first_that_is_not_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let settings = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE notes (n);";
        let mut conn = connect(&path, settings).unwrap();
        for _ in 0..20 {
            let note = "INSERT INTO notes VALUES (randomblob(6000))";
            conn.batch_execute(note).unwrap();
        }
        let log = open_log(&path).unwrap();
        let length = log.metadata().unwrap().len();
        let frame = (FRAME_HEADER + 4096) as u64;
        let pages = (length - HEADER as u64) / frame;
        assert!(pages > 40, "{pages}");
        let content = || std::fs::read(folder.path().join("notes.db-wal")).unwrap();
        let before = content();
        assert_eq!(write_again(&log).unwrap(), pages);
        assert!(content() == before, "what is written once more is the same");
        log.write_all_at(b"lost", HEADER as u64 + 7 * frame + 100)
            .unwrap();
        assert_eq!(write_again(&log).unwrap(), 7);
        log.set_len(HEADER as u64 + 3 * frame + 5).unwrap();
        assert_eq!(write_again(&log).unwrap(), 3);
        log.write_all_at(b"lost", 16).unwrap();
        assert_eq!(write_again(&log).unwrap(), 0);
        log.set_len(0).unwrap();
        assert_eq!(write_again(&log).unwrap(), 0);
    }

    #[test]
    fn a_log_is_found_behind_a_link_to_its_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let _conn = connect(&path, "PRAGMA journal_mode = WAL; CREATE TABLE notes (n);");
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let length = |path: &Path| open_log(path).unwrap().metadata().unwrap().len();
        assert_eq!(length(&link), length(&path));
    }
}
