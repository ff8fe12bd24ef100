use alloc::string::String;
use alloc::vec::Vec;

use super::StoreError;
use crate::time::Timestamp;

/// An answer kept for the repetition of its request: whoever sends the same request again under
/// the same key gets it once more, and nothing is done twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// Who asked: a name for the credential.
    pub caller: String,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of method, path and body of the request.
    pub request_digest: [u8; 32],
    /// Status of the answer.
    pub status: u16,
    /// Body of the answer; sealed when it carries a credential.
    pub body: Vec<u8>,
    /// Whether the body is sealed.
    pub sealed: bool,
    /// When it was kept.
    pub created_at: Timestamp,
}

/// Answers kept for repeated requests.
pub trait IdempotencyWrites {
    /// The answer kept under this key, not older than `since`.
    fn find(
        &mut self,
        caller: &str,
        key: &str,
        since: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError>;

    /// Keeps an answer, in place of one that is too old.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another request with the same key was
    /// faster; the body then runs again and finds its answer.
    fn keep(&mut self, answer: &StoredResponse) -> Result<(), StoreError>;

    /// Forgets answers older than `before`, at most `limit`; how many it was.
    fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
}
