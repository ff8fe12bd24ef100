//! Seals what may not lie in plain text at rest (docs/secrets.md#sealing).
//!
//! A sealed value has two parts. The first is one version byte, the id of a
//! master key, and the value's own random key sealed under that master key.
//! The second is the value, sealed under its own key; the context it was
//! sealed for is authenticated with it. So a change of the master key seals
//! only the first part anew.

mod file;
mod key;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use workforce_domain::port::{KeyChangeError, KeyId, KeySource, SealError, Vault};
use zeroize::Zeroizing;

use crate::tokens::fill;
use key::{KEY, MasterKey, NONCE, TAG};

const VERSION: u8 = 2;
/// The version byte and the id of the master key.
const HEADER: usize = 1 + 8;
/// The whole first part.
pub(crate) const WRAPPED: usize = HEADER + NONCE + KEY + TAG;

/// Why there is no vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A given text is no key.
    #[error("a master key is 32 bytes in hexadecimal or base64")]
    Form,
    /// The key's file holds something else.
    #[error("{} does not hold a master key", .0.display())]
    Damaged(PathBuf),
    /// Others may read the key.
    #[error("{} may be read by others: its permissions must be 0600", .0.display())]
    Exposed(PathBuf),
    /// The key's file cannot be read or written.
    #[error("failed to read or write {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// The master keys of a vault.
struct Ring {
    current: MasterKey,
    former: Vec<MasterKey>,
}

impl Ring {
    fn of(mut keys: Vec<MasterKey>) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let former = keys.split_off(1);
        Some(Self {
            current: keys.pop()?,
            former,
        })
    }

    fn find(&self, id: KeyId) -> Option<&MasterKey> {
        std::iter::once(&self.current)
            .chain(&self.former)
            .find(|key| key.id == id)
    }

    /// The own key of a value, which `wrapped` is or begins with.
    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; KEY]>, SealError> {
        let (header, rest) = wrapped.split_first_chunk::<HEADER>().ok_or(SealError)?;
        let sealed = rest.get(..WRAPPED - HEADER).ok_or(SealError)?;
        let key = self.find(key_of(header)?).ok_or(SealError)?;
        let own = Zeroizing::new(key.open(header, sealed)?);
        own.as_slice()
            .try_into()
            .map(Zeroizing::new)
            .or(Err(SealError))
    }

    /// The first part of a sealed value whose own key is `own`.
    fn wrap(&self, own: &[u8; KEY]) -> Vec<u8> {
        let header = [&[VERSION], self.current.id.0.as_slice()].concat();
        let sealed = self.current.seal(&header, own);
        [header, sealed].concat()
    }
}

/// Under which master key a value is sealed, told by its beginning.
///
/// # Errors
/// When it is nothing that a vault sealed.
pub fn key_of(sealed: &[u8]) -> Result<KeyId, SealError> {
    match sealed.split_first_chunk::<HEADER>() {
        Some(([VERSION, id @ ..], _)) => Ok(KeyId(*id)),
        _ => Err(SealError),
    }
}

/// Whether a text is what a file of master keys holds.
pub(crate) fn are_keys(text: &str) -> bool {
    file::read(text).is_some()
}

/// Seals with master keys from a file or from the operator.
pub struct FileVault {
    ring: RwLock<Ring>,
    file: Option<PathBuf>,
}

impl FileVault {
    /// A vault with the master keys in the file at `path`. When there is no
    /// such file, a key is made and written there, readable by its owner
    /// alone.
    ///
    /// # Errors
    /// When the file cannot be read or written, holds no key, or may be read by others.
    pub fn open(path: &Path) -> Result<Self, VaultError> {
        let keys = file::open(path)?;
        let ring = Ring::of(keys).ok_or_else(|| VaultError::Damaged(path.into()))?;
        Ok(Self {
            ring: RwLock::new(ring),
            file: Some(path.into()),
        })
    }

    /// A vault with the master keys in the file at `path`; `None` when there is no such file.
    ///
    /// # Errors
    /// As [`FileVault::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>, VaultError> {
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Self::open(path).map(Some),
        }
    }

    /// A vault with a given master key: 32 bytes in hexadecimal or base64.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn from_text(key: &str) -> Result<Self, VaultError> {
        Self::from_texts(key, None)
    }

    /// The same with a second master key, which opens values and seals none.
    ///
    /// # Errors
    /// When one of the texts is no key.
    pub fn from_texts(current: &str, former: Option<&str>) -> Result<Self, VaultError> {
        let decode = |text| MasterKey::decode(text).ok_or(VaultError::Form);
        let current = decode(current)?;
        let former = former.map(decode).transpose()?;
        let ring = Ring {
            former: former
                .into_iter()
                .filter(|key| key.id != current.id)
                .collect(),
            current,
        };
        Ok(Self {
            ring: RwLock::new(ring),
            file: None,
        })
    }

    /// No panic can leave the ring half changed, so poisoning means nothing.
    fn ring(&self) -> RwLockReadGuard<'_, Ring> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring_mut(&self) -> RwLockWriteGuard<'_, Ring> {
        self.ring.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> Result<&Path, KeyChangeError> {
        self.file.as_deref().ok_or(KeyChangeError::Given)
    }
}

impl core::fmt::Debug for FileVault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FileVault")
            .field("key_id", &self.current_key())
            .finish_non_exhaustive()
    }
}

impl Vault for FileVault {
    fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8> {
        let mut own = Zeroizing::new([0; KEY]);
        fill(own.as_mut_slice());
        let value = key::seal(&own, context.as_bytes(), plain);
        [self.ring().wrap(&own), value].concat()
    }

    fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (wrapped, value) = sealed.split_at_checked(WRAPPED).ok_or(SealError)?;
        let own = self.ring().unwrap(wrapped)?;
        key::open(&own, context.as_bytes(), value)
    }

    fn rewrap(&self, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (wrapped, value) = sealed.split_at_checked(WRAPPED).ok_or(SealError)?;
        let ring = self.ring();
        let own = ring.unwrap(wrapped)?;
        Ok([ring.wrap(&own).as_slice(), value].concat())
    }

    fn current_key(&self) -> KeyId {
        self.ring().current.id
    }

    fn former_keys(&self) -> Vec<KeyId> {
        self.ring().former.iter().map(|key| key.id).collect()
    }

    fn key_source(&self) -> KeySource {
        match self.file {
            Some(_) => KeySource::File,
            None => KeySource::Given,
        }
    }

    fn change_key(&self) -> Result<KeyId, KeyChangeError> {
        let path = self.file()?;
        let mut ring = self.ring_mut();
        if !ring.former.is_empty() {
            return Err(KeyChangeError::InProgress);
        }
        let new = MasterKey::random();
        // Nothing may be sealed under a key that a crash would lose.
        file::replace(path, &new, &[&ring.current]).map_err(failed)?;
        let former = std::mem::replace(&mut ring.current, new);
        ring.former.push(former);
        Ok(ring.current.id)
    }

    fn forget_former_keys(&self) -> Result<(), KeyChangeError> {
        let path = self.file()?;
        let mut ring = self.ring_mut();
        file::replace(path, &ring.current, &[]).map_err(failed)?;
        ring.former.clear();
        Ok(())
    }
}

fn failed(error: io::Error) -> KeyChangeError {
    KeyChangeError::Failed(error.into())
}
