//! Bounded texts.

use proptest::prelude::*;
use workforce_domain::text::{
    Color, CommentBody, Description, FileName, MediaType, Name, RepositoryPrefix, Role, TextError,
    Title,
};

#[test]
fn a_line_is_trimmed_and_counted_in_characters() {
    assert_eq!(Name::parse("  Ada \n").unwrap().as_str(), "Ada");
    assert_eq!(Name::parse(&"é".repeat(200)).unwrap().chars().count(), 200);
    assert!(Name::parse(&"𝒳".repeat(200)).is_ok());
    let too_long = TextError::TooLong {
        max: 200,
        unit: "characters",
    };
    assert_eq!(Name::parse(&"é".repeat(201)), Err(too_long));
    assert!(Name::parse(&format!("{}{}", " ".repeat(5_000), "a")).is_ok());
    assert_eq!(Name::parse(" \t\u{a0} "), Err(TextError::Empty));
    assert!(Title::parse(&"a".repeat(500)).is_ok());
    assert!(Title::parse(&"a".repeat(501)).is_err());
}

#[test]
fn prose_is_kept_as_it_is_and_counted_in_bytes() {
    assert_eq!(Description::parse(" a \n").unwrap().as_str(), " a \n");
    assert!(Description::parse("").is_ok());
    assert!(Description::parse(&"a".repeat(Description::MAX)).is_ok());
    assert!(Description::parse(&"é".repeat(Description::MAX / 2 + 1)).is_err());
}

#[test]
fn a_comment_says_something() {
    assert_eq!(CommentBody::parse(" \n\t"), Err(TextError::Empty));
    assert_eq!(
        CommentBody::parse(" hello \n").unwrap().as_str(),
        " hello \n"
    );
    assert!(CommentBody::parse(&"a".repeat(CommentBody::MAX)).is_ok());
    let too_long = CommentBody::parse(&"a".repeat(CommentBody::MAX + 1)).unwrap_err();
    assert_eq!(too_long.to_string(), "must be at most 102400 bytes long");
}

#[test]
fn repositories_are_named_by_the_beginning_of_their_address() {
    let prefix = |text: &str| RepositoryPrefix::parse(text);
    for bad in [
        "",
        "https://github.com",
        "github.com/",
        "/acme",
        "github.com//shop",
        "github.com/../acme",
        "user@github.com",
        "github.com:",
        "github.com:123456",
        "-x.com",
        "git hub.com",
        &"a".repeat(513),
    ] {
        assert!(matches!(prefix(bad), Err(TextError::Form(_))), "{bad}");
    }
    let whole = [("github.com", "acme/shop"), ("git.example:3000", "a/b/c")];
    for (text, host, path, covers) in [
        ("GitHub.com", "github.com", "acme/shop", true),
        ("github.com/ACME", "github.com", "acme/shop", true),
        ("github.com/acme/shop", "github.com", "Acme/Shop", true),
        ("github.com/acme/shop", "github.com", "acme/shoppers", false),
        ("github.com/acm", "github.com", "acme/shop", false),
        ("github.com/acme/shop/x", "github.com", "acme/shop", false),
        ("hub.com", "github.com", "acme/shop", false),
        ("git.example:3000/a/b", "git.example:3000", "a/b/c", true),
        ("git.example", "git.example:3000", "a/b/c", false),
    ] {
        assert_eq!(prefix(text).unwrap().covers(host, path), covers, "{text}");
    }
    for (host, path) in whole {
        let whole = prefix(&format!("{host}/{path}")).unwrap();
        assert!(whole.covers(host, path));
    }
}

#[test]
fn a_role_is_a_lower_case_word() {
    for role in ["ceo", "qa-lead", "r2_d2", "a"] {
        assert_eq!(Role::parse(role).unwrap().as_str(), role);
    }
    let longest = "a".repeat(40);
    assert!(Role::parse(&longest).is_ok());
    for role in [
        "",
        "CEO",
        "2nd",
        "-a",
        "a b",
        " a",
        "é",
        "a\0",
        &format!("{longest}a"),
    ] {
        assert!(
            matches!(Role::parse(role), Err(TextError::Form(_))),
            "{role}"
        );
    }
}

#[test]
fn no_text_has_a_nul() {
    assert_eq!(Name::parse("a\0b"), Err(TextError::Nul));
    assert_eq!(Description::parse("\0"), Err(TextError::Nul));
    assert_eq!(CommentBody::parse("a\0"), Err(TextError::Nul));
}

#[test]
fn json_passes_the_same_checks() {
    assert_eq!(
        serde_json::from_str::<Name>("\" Ada \"").unwrap().as_str(),
        "Ada"
    );
    assert!(serde_json::from_str::<Name>("\"\"").is_err());
    assert!(serde_json::from_str::<CommentBody>("\"\\u0000\"").is_err());
    assert_eq!(
        serde_json::to_string(&Name::parse("Ada").unwrap()).unwrap(),
        "\"Ada\""
    );
}

proptest! {
    #[test]
    fn what_is_admitted_is_admitted_again_unchanged(text in "\\PC{0,220}") {
        if let Ok(name) = Name::parse(&text) {
            prop_assert_eq!(Name::parse(&name), Ok(name.clone()));
            prop_assert!(name.chars().count() <= Name::MAX && !name.is_empty());
        }
    }

    #[test]
    fn a_text_is_admitted_alike_copied_or_taken_over(text in "\\PC{0,220}|[ #/.A-Fa-f0-9-]{0,9}") {
        prop_assert_eq!(Name::try_from(text.clone()), Name::parse(&text));
        prop_assert_eq!(Description::try_from(text.clone()), Description::parse(&text));
        prop_assert_eq!(CommentBody::try_from(text.clone()), CommentBody::parse(&text));
        prop_assert_eq!(Color::try_from(text.clone()), Color::parse(&text));
        prop_assert_eq!(MediaType::try_from(text.clone()), MediaType::parse(&text));
        prop_assert_eq!(FileName::try_from(text.clone()), FileName::parse(&text));
        prop_assert_eq!(Role::try_from(text.clone()), Role::parse(&text));
    }
}
