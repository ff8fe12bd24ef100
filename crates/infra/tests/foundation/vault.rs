//! What is sealed opens only as it was sealed.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use workforce_domain::port::{SealError, Vault};
use workforce_infra::vault::{FileVault, VaultError};

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn vault() -> FileVault {
    FileVault::from_text(KEY).unwrap()
}

proptest! {
    #[test]
    fn what_was_sealed_opens(context: String, plain: Vec<u8>) {
        let sealed = vault().seal(&context, &plain);
        prop_assert_eq!(vault().open(&context, &sealed), Ok(plain));
    }

    #[test]
    fn another_context_does_not_open_it(one: String, other: String, plain: Vec<u8>) {
        prop_assume!(one != other);
        let sealed = vault().seal(&one, &plain);
        prop_assert_eq!(vault().open(&other, &sealed), Err(SealError));
    }
}

#[test]
fn every_changed_bit_is_noticed() {
    let sealed = vault().seal("secret 1", b"hunter2");
    for place in 0..sealed.len() {
        for bit in 0..8 {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << bit;
            assert_eq!(
                vault().open("secret 1", &changed),
                Err(SealError),
                "{place}.{bit}"
            );
        }
    }
}

#[test]
fn no_part_of_a_sealed_value_opens() {
    let sealed = vault().seal("c", b"hunter2");
    for length in 0..sealed.len() {
        assert_eq!(
            vault().open("c", &sealed[..length]),
            Err(SealError),
            "{length}"
        );
    }
    let longer = [sealed.as_slice(), &[0]].concat();
    assert_eq!(vault().open("c", &longer), Err(SealError));
}

#[test]
fn another_key_does_not_open_it() {
    let other = FileVault::from_text(&KEY.replace("1f", "2f")).unwrap();
    assert_eq!(
        other.open("c", &vault().seal("c", b"hunter2")),
        Err(SealError)
    );
}

#[test]
fn equal_values_do_not_look_equal() {
    let sealed = [vault().seal("c", b"hunter2"), vault().seal("c", b"hunter2")];
    assert_ne!(sealed[0], sealed[1]);
    for one in sealed {
        assert!(!one.windows(7).any(|part| part == b"hunter2"));
    }
}

#[test]
fn a_key_may_be_given_in_several_forms() {
    let sealed = vault().seal("c", b"hunter2");
    for text in [
        "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    ] {
        let opened = FileVault::from_text(text).unwrap().open("c", &sealed);
        assert_eq!(opened.as_deref(), Ok(&b"hunter2"[..]), "{text}");
    }
    for text in ["", "hunter2", &KEY[2..], &format!("{KEY}20")] {
        assert!(
            matches!(FileVault::from_text(text), Err(VaultError::Form)),
            "{text}"
        );
    }
}

#[test]
fn the_key_is_made_once_and_kept_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/master.key");
    let sealed = FileVault::open(&path).unwrap().seal("c", b"hunter2");
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let again = FileVault::open(&path).unwrap();
    assert_eq!(again.open("c", &sealed).as_deref(), Ok(&b"hunter2"[..]));
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "no draft is left behind");
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    FileVault::open(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(
        FileVault::open(&path),
        Err(VaultError::Exposed(_))
    ));
}

#[test]
fn a_damaged_key_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    FileVault::open(&path).unwrap();
    std::fs::write(&path, "AAEC").unwrap();
    assert!(matches!(
        FileVault::open(&path),
        Err(VaultError::Damaged(_))
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "AAEC");
}

#[test]
fn those_who_start_at_once_have_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let vaults: Vec<FileVault> = std::thread::scope(|scope| {
        let open = || FileVault::open(&path).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let sealed = vaults[0].seal("c", b"hunter2");
    for vault in &vaults {
        assert_eq!(vault.open("c", &sealed).as_deref(), Ok(&b"hunter2"[..]));
    }
}

#[test]
fn the_key_is_not_shown_by_debug() {
    let shown = format!("{:?}", vault());
    assert!(shown.starts_with("FileVault { key_id: ["), "{shown}");
    assert!(!shown.contains("0, 1, 2, 3"), "{shown}");
}
