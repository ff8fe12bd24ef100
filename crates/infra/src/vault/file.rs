//! The file of the master keys: the current one in its first line, then, while
//! a rotation goes on, `former ` and a former one a line.

use std::io;
use std::path::Path;

use zeroize::Zeroizing;

use super::VaultError;
use super::key::MasterKey;
use crate::private_file::{self, ReadError};

/// What stands before a former key.
const FORMER: &str = "former ";
/// No file of keys is so long.
const MAX_LEN: u64 = 4096;

/// The keys in the file at `path`, the current one first. When there is no
/// such file, a key is made and written there, readable by its owner alone.
pub(super) fn open(path: &Path) -> Result<Vec<MasterKey>, VaultError> {
    let failed = |source| VaultError::File {
        path: path.into(),
        source,
    };
    let key = MasterKey::random();
    match private_file::create(path, || key.encode()) {
        Ok(()) => Ok(vec![key]),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let text = private_file::read(path, MAX_LEN).map_err(|error| match error {
                ReadError::Exposed => VaultError::Exposed(path.into()),
                ReadError::File(source) => failed(source),
            })?;
            read(&text).ok_or_else(|| VaultError::Damaged(path.into()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// The keys that a text holds, the current one first; `None` when it is not a list of keys.
pub(super) fn read(text: &str) -> Option<Vec<MasterKey>> {
    // Some editors begin a file so.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.trim().lines();
    let current = MasterKey::decode(lines.next()?)?;
    let former = lines.map(|line| MasterKey::decode(line.strip_prefix(FORMER)?));
    std::iter::once(Some(current)).chain(former).collect()
}

/// Puts these keys into the file: they are there after a loss of power, or
/// those of before are.
pub(super) fn replace(path: &Path, current: &MasterKey, former: &[&MasterKey]) -> io::Result<()> {
    let mut text = current.encode();
    for key in former {
        text = Zeroizing::new([text.as_str(), "\n", FORMER, &key.encode()].concat());
    }
    private_file::replace(path, &text)
}
