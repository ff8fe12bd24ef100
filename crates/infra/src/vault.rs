//! Seals what may not lie in plain text at rest (amendment A4).
//!
//! A sealed value is one version byte, the id of the key, a random nonce, and the cipher text of
//! XChaCha20-Poly1305 with its tag. The context it was sealed for and everything before the
//! cipher text are authenticated with it.

use std::io;
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use workforce_domain::port::{SealError, Vault};
use zeroize::Zeroizing;

use crate::private_file::{self, ReadError};
use crate::tokens::fill;

const VERSION: u8 = 1;
const KEY: usize = 32;
const KEY_ID: usize = 8;
const NONCE: usize = 24;
const HEADER: usize = 1 + KEY_ID + NONCE;

/// Why there is no vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A given key is not one.
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

/// Seals with one master key.
pub struct FileVault {
    cipher: XChaCha20Poly1305,
    key_id: [u8; KEY_ID],
}

impl FileVault {
    /// A vault with the master key in the file at `path`. When there is no such file, a key is
    /// made and written there, readable by its owner alone.
    ///
    /// # Errors
    /// When the file cannot be read or written, holds no key, or may be read by others.
    pub fn open(path: &Path) -> Result<Self, VaultError> {
        let failed = |source| VaultError::File {
            path: path.into(),
            source,
        };
        match create(path) {
            Ok(key) => Ok(Self::with_key(&key)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // One more than the longest form tells a longer file apart.
                let text = private_file::read(path, 128).map_err(|error| match error {
                    ReadError::Exposed => VaultError::Exposed(path.into()),
                    ReadError::File(source) => failed(source),
                })?;
                let key = decode(&text).ok_or_else(|| VaultError::Damaged(path.into()))?;
                Ok(Self::with_key(&key))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A vault with a given master key: 32 bytes in hexadecimal or base64.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn from_text(key: &str) -> Result<Self, VaultError> {
        decode(key)
            .map(|key| Self::with_key(&key))
            .ok_or(VaultError::Form)
    }

    fn with_key(key: &[u8; KEY]) -> Self {
        let mut key_id = [0; KEY_ID];
        let mut hasher = Sha256::new();
        hasher.update(b"workforce master key id\0");
        hasher.update(key);
        for (to, from) in key_id.iter_mut().zip(hasher.finalize()) {
            *to = from;
        }
        Self {
            cipher: XChaCha20Poly1305::new(&(*key).into()),
            key_id,
        }
    }
}

impl core::fmt::Debug for FileVault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FileVault")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

impl Vault for FileVault {
    fn seal(&self, context: &str, plain: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        fill(&mut nonce);
        let mut sealed = Vec::with_capacity(HEADER + plain.len() + 16);
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.key_id);
        sealed.extend_from_slice(&nonce);
        let payload = Payload {
            msg: plain,
            aad: &authenticated(&sealed, context),
        };
        #[expect(
            clippy::expect_used,
            reason = "only more than 256 GiB of plain text fail"
        )]
        let cipher_text = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .expect("the plain text is short");
        sealed.extend_from_slice(&cipher_text);
        sealed
    }

    fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (header, cipher_text) = sealed.split_at_checked(HEADER).ok_or(SealError)?;
        let (version, rest) = header.split_first().ok_or(SealError)?;
        let (key_id, nonce) = rest.split_at_checked(KEY_ID).ok_or(SealError)?;
        let nonce: [u8; NONCE] = nonce.try_into().or(Err(SealError))?;
        if *version != VERSION || !bool::from(key_id.ct_eq(&self.key_id)) {
            return Err(SealError);
        }
        let payload = Payload {
            msg: cipher_text,
            aad: &authenticated(header, context),
        };
        self.cipher
            .decrypt(&XNonce::from(nonce), payload)
            .or(Err(SealError))
    }
}

/// The header has a fixed length, so no two pairs of header and context look alike.
fn authenticated(header: &[u8], context: &str) -> Vec<u8> {
    [header, context.as_bytes()].concat()
}

/// Makes a key and writes it to a new file.
fn create(path: &Path) -> io::Result<Zeroizing<[u8; KEY]>> {
    let mut key = Zeroizing::new([0; KEY]);
    private_file::create(path, || {
        fill(key.as_mut_slice());
        Zeroizing::new(BASE64.encode(key.as_slice()))
    })?;
    Ok(key)
}

fn decode(text: &str) -> Option<Zeroizing<[u8; KEY]>> {
    let text = text.trim().as_bytes();
    [
        HEXLOWER_PERMISSIVE,
        BASE64,
        BASE64_NOPAD,
        BASE64URL,
        BASE64URL_NOPAD,
    ]
    .iter()
    .filter_map(|encoding| encoding.decode(text).ok().map(Zeroizing::new))
    .find_map(|bytes| bytes.as_slice().try_into().ok().map(Zeroizing::new))
}
