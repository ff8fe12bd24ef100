//! What is sealed opens only as it was sealed.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use workforce_domain::port::{KeyChangeError, SealError, Vault};
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
fn a_key_that_an_editor_saved_again_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let key = FileVault::open(&path).unwrap().current_key();
    let text = std::fs::read_to_string(&path).unwrap();
    let saved = format!("\u{feff}{}\r\n", text.trim_end());
    std::fs::write(&path, saved).unwrap();
    assert_eq!(FileVault::open(&path).unwrap().current_key(), key);
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
    assert!(shown.starts_with("FileVault { key_id: KeyId(["), "{shown}");
    assert!(!shown.contains("0, 1, 2, 3"), "{shown}");
}

#[test]
fn a_rewrapped_value_opens_under_the_new_key_alone() {
    const OTHER: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";
    let sealed = vault().seal("c", b"hunter2");
    let both = FileVault::from_texts(OTHER, Some(KEY)).unwrap();
    assert_eq!(both.former_keys(), [vault().current_key()]);
    assert_eq!(both.open("c", &sealed).as_deref(), Ok(&b"hunter2"[..]));

    let rewrapped = both.rewrap(&sealed).unwrap();
    let new = FileVault::from_text(OTHER).unwrap();
    assert_eq!(new.open("c", &rewrapped).as_deref(), Ok(&b"hunter2"[..]));
    assert_eq!(new.open("d", &rewrapped), Err(SealError));
    assert_eq!(vault().open("c", &rewrapped), Err(SealError));
    assert_eq!(vault().rewrap(&rewrapped), Err(SealError));
    // The value itself was not touched.
    assert_eq!(rewrapped[81..], sealed[81..]);
    assert!(matches!(both.change_key(), Err(KeyChangeError::Given)));
    assert!(matches!(
        both.forget_former_keys(),
        Err(KeyChangeError::Given)
    ));
}

#[test]
fn a_key_that_is_given_twice_is_one_key() {
    let vault = FileVault::from_texts(KEY, Some(KEY)).unwrap();
    assert_eq!(vault.former_keys(), []);
}

#[test]
fn a_changed_key_outlives_its_process_with_the_former_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let vault = FileVault::open(&path).unwrap();
    let old = vault.current_key();
    let sealed = vault.seal("c", b"hunter2");

    let new = vault.change_key().unwrap();
    assert_ne!(new, old);
    assert!(matches!(
        vault.change_key(),
        Err(KeyChangeError::InProgress)
    ));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // As after a crash: both keys are there, and the new one seals.
    let again = FileVault::open(&path).unwrap();
    assert_eq!((again.current_key(), again.former_keys()), (new, vec![old]));
    assert_eq!(again.open("c", &sealed).as_deref(), Ok(&b"hunter2"[..]));
    let rewrapped = again.rewrap(&sealed).unwrap();

    again.forget_former_keys().unwrap();
    let last = FileVault::open(&path).unwrap();
    assert_eq!((last.current_key(), last.former_keys()), (new, vec![]));
    assert_eq!(last.open("c", &sealed), Err(SealError));
    assert_eq!(last.open("c", &rewrapped).as_deref(), Ok(&b"hunter2"[..]));
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "no draft is left behind");
}

#[test]
fn a_key_that_cannot_be_written_down_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/master.key");
    let vault = FileVault::open(&path).unwrap();
    let old = vault.current_key();
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert!(matches!(vault.change_key(), Err(KeyChangeError::Failed(_))));
    assert_eq!((vault.current_key(), vault.former_keys()), (old, vec![]));
}

#[test]
fn damaged_lines_of_former_keys_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    FileVault::open(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    for damage in [format!("{text}{text}"), format!("{text}former AAEC\n")] {
        std::fs::write(&path, damage).unwrap();
        assert!(matches!(
            FileVault::open(&path),
            Err(VaultError::Damaged(_))
        ));
    }
}
