use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use workforce_domain::forge::ForgeKind;

/// Whether a delivery comes from somebody who knows the secret. `body` are the bytes as they came,
/// `proof` is the header `X-Hub-Signature-256` of GitHub, `X-Gitlab-Token` of GitLab, which is the
/// secret itself, `X-Gitea-Signature` of Gitea or `X-Forgejo-Signature`. Takes the same time
/// whatever is wrong with the proof. An empty secret verifies nothing.
#[must_use]
pub fn verify(forge: ForgeKind, secret: &[u8], body: &[u8], proof: &str) -> bool {
    if secret.is_empty() {
        return false;
    }
    match forge {
        ForgeKind::GitHub => {
            let digits = proof.strip_prefix("sha256=");
            digits.is_some_and(|digits| is_signature(secret, body, digits))
        }
        ForgeKind::GitLab => is_same(secret, proof.as_bytes()),
        ForgeKind::Gitea => is_signature(secret, body, proof),
    }
}

/// Whether these are the hexadecimal digits of the HMAC of the body.
fn is_signature(secret: &[u8], body: &[u8], digits: &str) -> bool {
    let Ok(signature) = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()) else {
        return false;
    };
    let Ok(mut code) = Hmac::<Sha256>::new_from_slice(secret) else {
        return false;
    };
    code.update(body);
    code.verify_slice(&signature).is_ok()
}

/// Compares digests, so that not even a length shows in the time that it takes.
fn is_same(secret: &[u8], told: &[u8]) -> bool {
    let (secret, told) = (Sha256::digest(secret), Sha256::digest(told));
    secret.as_slice().ct_eq(told.as_slice()).into()
}
