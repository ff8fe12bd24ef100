//! Names of tickets and branches that a plan may give.

use proptest::prelude::*;
use workforce_domain::approval::{
    ALLOWED_PREFIXES, BranchFault, check_branch, check_work_branch, is_ticket_key, may_name_ticket,
};

#[test]
fn what_git_allows_is_allowed() {
    for name in [
        "main",
        "release/2.x",
        "feature/ABC-12",
        "fix/a_b-c.d",
        "ünïcode",
        "a@b",
        "x-",
    ] {
        assert_eq!(check_branch(name), Ok(()), "{name}");
    }
}

#[test]
fn what_git_forbids_or_could_misread_is_forbidden() {
    let long = "x".repeat(201);
    for (name, fault) in [
        ("", BranchFault::Empty),
        (&*long, BranchFault::TooLong),
        ("-d", BranchFault::Option),
        ("--force", BranchFault::Option),
        ("@", BranchFault::Malformed),
        ("HEAD", BranchFault::Malformed),
        ("a..b", BranchFault::Malformed),
        ("@{-1}", BranchFault::Malformed),
        ("a b", BranchFault::Malformed),
        ("a\tb", BranchFault::Malformed),
        ("a~1", BranchFault::Malformed),
        ("a^", BranchFault::Malformed),
        ("HEAD:main", BranchFault::Malformed),
        ("a?", BranchFault::Malformed),
        ("a*", BranchFault::Malformed),
        ("a[b", BranchFault::Malformed),
        ("a\\b", BranchFault::Malformed),
        ("/a", BranchFault::Malformed),
        ("a/", BranchFault::Malformed),
        ("a//b", BranchFault::Malformed),
        ("a/.b", BranchFault::Malformed),
        (".a", BranchFault::Malformed),
        ("a.lock", BranchFault::Malformed),
        ("a.lock/b", BranchFault::Malformed),
        ("a.", BranchFault::Malformed),
    ] {
        assert_eq!(check_branch(name), Err(fault), "{name}");
    }
}

#[test]
fn the_branch_of_a_ticket_has_a_known_beginning() {
    for prefix in ALLOWED_PREFIXES {
        assert_eq!(check_work_branch(&format!("{prefix}ABC-12")), Ok(()));
        assert_eq!(check_work_branch(prefix), Err(BranchFault::Malformed));
    }
    for name in ["main", "features/x", "Feature/x", "x/feature/y"] {
        assert_eq!(check_work_branch(name), Err(BranchFault::Prefix), "{name}");
    }
    assert_eq!(
        BranchFault::Prefix.to_string(),
        "must begin with one of feature/, bugfix/, hotfix/, chore/, fix/, refactor/"
    );
}

#[test]
fn keys_of_tickets_have_one_form() {
    for key in ["AB-1", "A1-1", "ABCDEFGHIJKLMNOP-123456789"] {
        assert!(is_ticket_key(key) && may_name_ticket(key), "{key}");
    }
    for key in [
        "",
        "AB",
        "AB-",
        "-1",
        "1A-1",
        "ab-1",
        "AB-1x",
        "AB-1-2",
        "AB-1234567890",
        "ABCDEFGHIJKLMNOPQ-1",
        "AB-1\n",
        "ÄB-1",
    ] {
        assert!(!is_ticket_key(key) && !may_name_ticket(key), "{key}");
    }
    // An identifier of a company with such a prefix; in a text it may be anything.
    assert!(may_name_ticket("A-1") && !is_ticket_key("A-1"));
}

proptest! {
    #[test]
    fn nothing_that_is_admitted_looks_like_an_option_or_an_expression(name in ".{0,40}") {
        if check_branch(&name).is_ok() {
            prop_assert!(!name.starts_with('-'));
            prop_assert!(!name.contains([' ', ':', '~', '^', '\\', '\n', '\0']));
            let misread = name.contains("..") || name.contains("@{");
            prop_assert!(!misread);
        }
    }
}
