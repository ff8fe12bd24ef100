use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(content: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}
