//! Credentials made of randomness.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use workforce_domain::port::{MintedToken, TokenKind, Tokens};
use workforce_domain::string_enum::StringEnum;
use zeroize::Zeroizing;

/// What the part of a credential that may be shown is made of.
const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// How long that part is.
const HANDLE: usize = 8;
/// How many random bytes the secret part has.
const SECRET: usize = 32;

/// Makes credentials from the randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomTokens;

impl Tokens for RandomTokens {
    fn mint(&self, kind: TokenKind) -> MintedToken {
        let mut secret = Zeroizing::new([0; SECRET]);
        fill(secret.as_mut_slice());
        let prefix = format!("{}_{}", kind.as_str(), handle());
        let token = format!("{prefix}_{}", BASE64URL_NOPAD.encode(secret.as_slice()));
        let digest = self.digest(&token);
        MintedToken {
            token,
            prefix,
            digest,
        }
    }

    fn digest(&self, token: &str) -> [u8; 32] {
        Sha256::digest(token).into()
    }
}

/// Random characters, each as likely as any other.
fn handle() -> String {
    let mut handle = String::with_capacity(HANDLE);
    while handle.len() < HANDLE {
        let mut bytes = [0; 2 * HANDLE];
        fill(&mut bytes);
        // Six bits each; what falls beyond the alphabet is thrown again.
        let characters = bytes
            .iter()
            .filter_map(|byte| ALPHABET.get(usize::from(byte & 0x3f)));
        handle.extend(
            characters
                .take(HANDLE - handle.len())
                .copied()
                .map(char::from),
        );
    }
    handle
}

/// Fills `bytes` with randomness.
///
/// # Panics
/// When the operating system has no randomness to give. No credential may be made then.
pub(crate) fn fill(bytes: &mut [u8]) {
    #[expect(
        clippy::expect_used,
        reason = "nothing can be secret without randomness"
    )]
    getrandom::fill(bytes).expect("the operating system gives randomness");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_credential_has_the_form_of_its_kind() {
        for kind in TokenKind::ALL {
            let minted = RandomTokens.mint(*kind);
            let parts: Vec<&str> = minted.token.splitn(3, '_').collect();
            let [word, handle, secret] = parts[..] else {
                panic!("{} parts", parts.len())
            };
            assert_eq!(word, kind.as_str());
            assert_eq!(handle.len(), 8);
            assert!(
                handle
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            );
            assert_eq!(secret.len(), 43);
            assert_eq!(BASE64URL_NOPAD.decode(secret.as_bytes()).unwrap().len(), 32);
            assert_eq!(minted.prefix, format!("{word}_{handle}"));
            assert_eq!(minted.digest, RandomTokens.digest(&minted.token));
        }
    }

    #[test]
    fn no_two_credentials_are_alike() {
        let minted: Vec<_> = (0..1000)
            .map(|_| RandomTokens.mint(TokenKind::AgentKey))
            .collect();
        let secrets: HashSet<_> = minted.iter().map(|it| &it.token[13..]).collect();
        let digests: HashSet<_> = minted.iter().map(|it| it.digest).collect();
        assert_eq!((secrets.len(), digests.len()), (1000, 1000));
    }

    #[test]
    fn the_digest_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = RandomTokens.digest("abc");
        assert_eq!(data_encoding::HEXLOWER.encode(&digest), expected);
    }

    #[test]
    fn a_credential_is_not_shown_by_debug() {
        let minted = RandomTokens.mint(TokenKind::Run);
        assert!(!format!("{minted:?}").contains(&minted.token[13..]));
    }
}
