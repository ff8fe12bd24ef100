//! Repeated requests (docs/access.md#idempotency-keys): a POST with an
//! `Idempotency-Key` is carried out once, and its repetition gets the first
//! answer.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::http::StatusCode;
use sha2::{Digest, Sha256};
use workforce_app::{Code, Failure};
use workforce_domain::port::{StoredResponse, Tx, Vault};
use workforce_domain::time::Timestamp;

use crate::headers::IDEMPOTENCY_KEY;
use crate::problem::Problem;

/// For how long an answer is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

const MAX_KEY: usize = 200;

/// The keys whose first request is still being served by this process, each
/// beside the credential it came with.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Arc<Mutex<Digests>>);

type Digests = HashSet<[u8; 32]>;

fn lock(keys: &Mutex<Digests>) -> MutexGuard<'_, Digests> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InFlight {
    /// Takes a key until the claim is dropped.
    ///
    /// # Errors
    /// `request_in_progress` while another request has it.
    pub(crate) fn claim(&self, credential: Option<&str>, key: &str) -> Result<KeyGuard, Problem> {
        // The first part tells an empty credential from none.
        let digest = digest_of(
            &[
                credential.map_or("none", |_| "some"),
                credential.unwrap_or(""),
                key,
            ]
            .map(str::as_bytes),
        );
        if lock(&self.0).insert(digest) {
            let keys = Arc::clone(&self.0);
            Ok(KeyGuard { keys, digest })
        } else {
            Err(Problem::new(
                Code::RequestInProgress,
                "the first request with this Idempotency-Key is still running",
            ))
        }
    }
}

/// A key that is being served.
#[derive(Debug)]
pub(crate) struct KeyGuard {
    keys: Arc<Mutex<Digests>>,
    digest: [u8; 32],
}

impl Drop for KeyGuard {
    fn drop(&mut self) {
        lock(&self.keys).remove(&self.digest);
    }
}

/// Digests several parts, each with its length, so that moving a byte from one
/// to the next gives another digest.
fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A request that may be a repetition.
#[derive(Debug)]
pub(crate) struct IdempotentRequest {
    key: String,
    request_digest: [u8; 32],
    /// The same without the body. From the digest of a body the secret in it could
    /// be guessed, so the digest with the body is sealed together with the answer.
    route_digest: [u8; 32],
}

impl IdempotentRequest {
    /// A request with this key.
    ///
    /// # Errors
    /// `invalid_request` when the key is not 1 to 200 printable characters.
    pub(crate) fn new(key: &str, method: &str, path: &str, body: &[u8]) -> Result<Self, Problem> {
        let printable = key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if key.is_empty() || key.len() > MAX_KEY || !printable {
            return Err(Problem::at(
                Code::InvalidRequest,
                IDEMPOTENCY_KEY,
                "must be 1 to 200 printable ASCII characters",
            ));
        }
        Ok(Self {
            key: key.to_owned(),
            request_digest: digest_of(&[method.as_bytes(), path.as_bytes(), body]),
            route_digest: digest_of(&[method.as_bytes(), path.as_bytes()]),
        })
    }

    /// The same, of which a repetition brings the same credential.
    pub(crate) fn bound_to(self, credential: &str) -> Self {
        Self {
            request_digest: digest_of(&[&self.request_digest, credential.as_bytes()]),
            ..self
        }
    }

    /// The caller's key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The answer to the first such request of `caller`, if there was one.
    ///
    /// # Errors
    /// `idempotency_key_reused` when the first request was another.
    pub(crate) fn find(
        &self,
        tx: &mut dyn Tx,
        vault: &dyn Vault,
        caller: &str,
        now: Timestamp,
    ) -> Result<Option<(StatusCode, Vec<u8>)>, Failure<Problem>> {
        let Some(kept) = tx
            .idempotency()
            .find(caller, &self.key, now.minus(KEPT_FOR))?
        else {
            return Ok(None);
        };
        let (digest, body) = if kept.sealed {
            let opened = if kept.request_digest == self.route_digest {
                let opened = vault.open(&self.context(caller), &kept.body);
                opened.map_err(|error| Failure::Refused(Problem::internal(&error)))?
            } else {
                Vec::new()
            };
            match opened.split_first_chunk() {
                Some((digest, body)) => (*digest, body.to_vec()),
                None => (kept.request_digest, Vec::new()),
            }
        } else {
            (kept.request_digest, kept.body)
        };
        if digest != self.request_digest {
            return Err(Failure::Refused(Problem::new(
                Code::IdempotencyKeyReused,
                "this Idempotency-Key was used for another request",
            )));
        }
        let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
        Ok(Some((status, body)))
    }

    /// Keeps the answer in the transaction of what it tells.
    pub(crate) fn keep(
        &self,
        tx: &mut dyn Tx,
        vault: &dyn Vault,
        caller: &str,
        now: Timestamp,
        answer: ResponseToStore<'_>,
    ) -> Result<(), Failure<Problem>> {
        let (request_digest, body) = if answer.secret {
            let whole = [self.request_digest.as_slice(), answer.body].concat();
            (self.route_digest, vault.seal(&self.context(caller), &whole))
        } else {
            (self.request_digest, answer.body.to_vec())
        };
        Ok(tx.idempotency().keep(&StoredResponse {
            caller: caller.to_owned(),
            key: self.key.clone(),
            request_digest,
            status: answer.status.as_u16(),
            body,
            sealed: answer.secret,
            created_at: now,
        })?)
    }

    fn context(&self, caller: &str) -> String {
        format!("idempotency {caller} {}", self.key)
    }
}

/// An answer to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseToStore<'a> {
    pub(crate) status: StatusCode,
    pub(crate) body: &'a [u8],
    pub(crate) secret: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_served_once_at_a_time_per_credential() {
        let keys = InFlight::default();
        let first = keys.claim(Some("Bearer a"), "k").unwrap();
        assert_eq!(
            keys.claim(Some("Bearer a"), "k").unwrap_err().code(),
            Code::RequestInProgress
        );
        let _other_credential = keys.claim(Some("Bearer b"), "k").unwrap();
        let _no_credential = keys.claim(None, "k").unwrap();
        let _other_key = keys.claim(Some("Bearer a"), "k2").unwrap();
        drop(first);
        assert!(keys.claim(Some("Bearer a"), "k").is_ok());
    }

    #[test]
    fn keys_are_short_and_printable() {
        for key in ["", "a\tb", "caf\u{e9}", &"k".repeat(201)] {
            let problem = IdempotentRequest::new(key, "POST", "/", b"").unwrap_err();
            assert_eq!(problem.code(), Code::InvalidRequest);
        }
        assert!(IdempotentRequest::new(&"k".repeat(200), "POST", "/", b"").is_ok());
    }

    #[test]
    fn other_requests_have_other_digests() {
        let digest = |method, path, body: &[u8]| {
            IdempotentRequest::new("k", method, path, body)
                .unwrap()
                .request_digest
        };
        let first = digest("POST", "/a", b"{}");
        assert_eq!(first, digest("POST", "/a", b"{}"));
        for other in [
            digest("PUT", "/a", b"{}"),
            digest("POST", "/a{}", b""),
            digest("POST", "/", b"a{}"),
        ] {
            assert_ne!(first, other);
        }
    }
}
