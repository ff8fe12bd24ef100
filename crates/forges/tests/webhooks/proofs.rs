//! Who sent a delivery.

use proptest::prelude::*;
use workforce_forges::ForgeKind;
use workforce_forges::webhook::verify;

/// The example of GitHub's documentation.
const SECRET: &[u8] = b"It's a Secret to Everybody";
const BODY: &[u8] = b"Hello, World!";
const DIGITS: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

const ALL: [ForgeKind; 3] = [ForgeKind::GitHub, ForgeKind::GitLab, ForgeKind::Gitea];

/// What a forge sends with the body of the example.
fn proof(forge: ForgeKind) -> String {
    match forge {
        ForgeKind::GitHub => format!("sha256={DIGITS}"),
        ForgeKind::GitLab => "It's a Secret to Everybody".to_owned(),
        ForgeKind::Gitea => DIGITS.to_owned(),
    }
}

#[test]
fn the_proof_is_that_of_the_secret() {
    for forge in ALL {
        let good = proof(forge);
        assert!(verify(forge, SECRET, BODY, &good), "{forge}");
        assert!(!verify(forge, b"It's a secret to Everybody", BODY, &good));
        for bad in [
            "",
            "sha256=",
            "zz",
            "sha256=zz",
            &good[1..],
            &good[..good.len() - 1],
            &good
                .replace("sha256", "sha1")
                .replace('7', "8")
                .replace('S', "s"),
            &format!("{good}00"),
            &format!(" {good}"),
            &format!("{good}\n"),
        ] {
            assert!(!verify(forge, SECRET, BODY, bad), "{forge}: {bad}");
        }
        for other in ALL.into_iter().filter(|other| *other != forge) {
            assert!(
                !verify(forge, SECRET, BODY, &proof(other)),
                "{forge} {other}"
            );
        }
    }
}

#[test]
fn a_signature_is_that_of_the_body_too() {
    for forge in [ForgeKind::GitHub, ForgeKind::Gitea] {
        assert!(!verify(forge, SECRET, b"Hello, World", &proof(forge)));
    }
}

#[test]
fn an_empty_secret_verifies_nothing() {
    // Whoever forgot to set one must not be open to all.
    let digits = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
    assert!(!verify(
        ForgeKind::GitHub,
        b"",
        b"",
        &format!("sha256={digits}")
    ));
    assert!(!verify(ForgeKind::GitLab, b"", b"", ""));
    assert!(!verify(ForgeKind::Gitea, b"", b"", digits));
}

proptest! {
    #[test]
    fn only_the_proof_of_these_bytes_fits(
        forge in prop::sample::select(ALL.to_vec()),
        secret in prop::collection::vec(any::<u8>(), 1..80),
        body in prop::collection::vec(any::<u8>(), 0..200),
        told in ".{0,80}",
    ) {
        prop_assume!(told.as_bytes() != secret);
        prop_assert!(!verify(forge, &secret, &body, &told));
        prop_assert!(!verify(forge, &secret, &body, &proof(forge)));
    }
}
