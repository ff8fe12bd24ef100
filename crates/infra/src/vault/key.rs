use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use workforce_domain::port::{KeyId, SealError};
use zeroize::Zeroizing;

use crate::tokens::fill;

/// Bytes of a key.
pub(super) const KEY: usize = 32;
/// Bytes of a nonce.
pub(super) const NONCE: usize = 24;
/// Bytes by which sealing makes a value longer.
pub(super) const TAG: usize = 16;

/// A master key.
pub(super) struct MasterKey {
    bytes: Zeroizing<[u8; KEY]>,
    pub(super) id: KeyId,
}

impl MasterKey {
    pub(super) fn new(bytes: Zeroizing<[u8; KEY]>) -> Self {
        let mut id = [0; 8];
        let mut hasher = Sha256::new();
        hasher.update(b"workforce master key id\0");
        hasher.update(bytes.as_slice());
        for (to, from) in id.iter_mut().zip(hasher.finalize()) {
            *to = from;
        }
        Self {
            bytes,
            id: KeyId(id),
        }
    }

    /// A new key.
    pub(super) fn random() -> Self {
        let mut bytes = Zeroizing::new([0; KEY]);
        fill(bytes.as_mut_slice());
        Self::new(bytes)
    }

    /// The key that a text holds in hexadecimal or base64.
    pub(super) fn decode(text: &str) -> Option<Self> {
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
        .map(Self::new)
    }

    /// The key as its file holds it.
    pub(super) fn encode(&self) -> Zeroizing<String> {
        Zeroizing::new(BASE64.encode(self.bytes.as_slice()))
    }

    pub(super) fn seal(&self, authenticated: &[u8], plain: &[u8]) -> Vec<u8> {
        seal(&self.bytes, authenticated, plain)
    }

    pub(super) fn open(&self, authenticated: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        open(&self.bytes, authenticated, sealed)
    }
}

/// A new nonce, and the cipher text of XChaCha20-Poly1305 with its tag.
pub(super) fn seal(key: &[u8; KEY], authenticated: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut nonce = [0; NONCE];
    fill(&mut nonce);
    let payload = Payload {
        msg: plain,
        aad: authenticated,
    };
    #[expect(
        clippy::expect_used,
        reason = "only more than 256 GiB of plain text fail"
    )]
    let cipher_text = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), payload)
        .expect("the plain text is short");
    [nonce.as_slice(), &cipher_text].concat()
}

/// Opens what [`seal`] made.
pub(super) fn open(
    key: &[u8; KEY],
    authenticated: &[u8],
    sealed: &[u8],
) -> Result<Vec<u8>, SealError> {
    let (nonce, cipher_text) = sealed.split_first_chunk::<NONCE>().ok_or(SealError)?;
    let payload = Payload {
        msg: cipher_text,
        aad: authenticated,
    };
    XChaCha20Poly1305::new(key.into())
        .decrypt(&XNonce::from(*nonce), payload)
        .or(Err(SealError))
}
