//! Where repositories are.

use proptest::prelude::*;
use workforce_forges::RepositoryAddress;

#[test]
fn an_address_is_a_host_an_owner_and_a_name() {
    for (text, host, owner, name) in [
        ("https://github.com/acme/shop", "github.com", "acme", "shop"),
        (
            "https://github.com/acme/shop.git",
            "github.com",
            "acme",
            "shop",
        ),
        (
            "https://github.com/acme/shop/",
            "github.com",
            "acme",
            "shop",
        ),
        (
            "HTTPS://GitHub.COM/Acme/Shop.git",
            "github.com",
            "Acme",
            "Shop",
        ),
        (
            "http://git.example.com:3000/a/b",
            "git.example.com:3000",
            "a",
            "b",
        ),
        (
            "https://git.example.com:443/a/b",
            "git.example.com",
            "a",
            "b",
        ),
        ("http://git.example.com:80/a/b", "git.example.com", "a", "b"),
        (
            "https://git.example.com:80/a/b",
            "git.example.com:80",
            "a",
            "b",
        ),
        (
            "ssh://git@git.example.com:2222/a/b.git",
            "git.example.com",
            "a",
            "b",
        ),
        ("ssh://git.example.com/a/b", "git.example.com", "a", "b"),
        (
            "git+ssh://git@git.example.com/a/b",
            "git.example.com",
            "a",
            "b",
        ),
        ("git@github.com:acme/shop.git", "github.com", "acme", "shop"),
        (
            "git@github.com:/acme/shop.git",
            "github.com",
            "acme",
            "shop",
        ),
        (
            "https://gitlab.com/a/b/c/shop.git",
            "gitlab.com",
            "a/b/c",
            "shop",
        ),
        ("https://h/a/.github", "h", "a", ".github"),
        ("https://h/a/b.js", "h", "a", "b.js"),
        ("https://[::1]:3000/a/b", "[::1]:3000", "a", "b"),
        (
            "https://127.0.0.1:3000/a_b/c-d",
            "127.0.0.1:3000",
            "a_b",
            "c-d",
        ),
    ] {
        let address = RepositoryAddress::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(address.host(), host, "{text}");
        assert_eq!(address.owner(), owner, "{text}");
        assert_eq!(address.name(), name, "{text}");
        assert_eq!(address.full_name(), format!("{owner}/{name}"));
        assert_eq!(address.to_string(), format!("{host}/{owner}/{name}"));
    }
}

#[test]
fn credentials_are_dropped() {
    for text in [
        "https://user:geheim@github.com/acme/shop",
        "https://geheim@github.com/acme/shop",
        "https://a@geheim@github.com/acme/shop",
        "ssh://geheim@github.com/acme/shop",
        "geheim@github.com:acme/shop",
        "-oProxyCommand=geheim@github.com:acme/shop",
    ] {
        let address = RepositoryAddress::parse(text).unwrap();
        assert_eq!(address.host(), "github.com");
        assert!(!format!("{address} {address:?}").contains("geheim"));
    }
}

#[test]
fn what_is_at_no_forge_is_no_address() {
    for text in [
        "",
        "shop",
        "/srv/git/shop.git",
        "./shop",
        "../a/b",
        "C:/a/b",
        "c:a/b",
        "file:///srv/git/a/b",
        "file://host/a/b",
        "git://github.com/a/b",
        "ftp://github.com/a/b",
        "https:github.com/a/b",
        "https://github.com",
        "https://github.com/",
        "https://github.com/acme",
        "https://github.com/acme/",
        "https://github.com/acme//shop",
        "https://github.com//shop",
        "https://github.com/acme/.git",
        "https://github.com/acme/..",
        "https://github.com/../shop",
        "https://github.com/./shop",
        "https://github.com/acme/shop%2e",
        "https://github.com/acme%2fshop/x",
        "https://github.com/acme/shop?x=1",
        "https://github.com/acme/shop#x",
        "https://github.com/acme/shop shop",
        "https://github.com/acme/sh\\op",
        "https://github.com/acme/shöp",
        "https:///acme/shop",
        "https://:443/acme/shop",
        "https://github.com:/acme/shop",
        "https://github.com:0/acme/shop",
        "https://github.com:x/acme/shop",
        "https://github.com:65536/acme/shop",
        "https://github.com:+80/acme/shop",
        "https://git hub.com/acme/shop",
        "https://-x/acme/shop",
        "https://[::1/acme/shop",
        "https://[x]/acme/shop",
        "a/b@host:c/d",
        "host:a/b",
        " https://github.com/acme/shop",
        "https://github.com/acme/shop\n",
    ] {
        let read = RepositoryAddress::parse(text);
        assert_eq!(read, None, "{text:?}");
    }
    let long = format!("https://github.com/acme/{}", "x".repeat(3000));
    assert_eq!(RepositoryAddress::parse(&long), None);
    let deep = format!("https://github.com/{}x", "a/".repeat(30));
    assert_eq!(RepositoryAddress::parse(&deep), None);
}

#[test]
fn one_repository_has_several_addresses() {
    let is_same = |one: &str, other: &str| {
        let read = |text| RepositoryAddress::parse(text).unwrap();
        let same = read(one).is_same(&read(other));
        assert_eq!(same, read(other).is_same(&read(one)));
        same
    };
    assert!(is_same("https://github.com/a/b", "git@GITHUB.com:A/B.git"));
    assert!(is_same("https://h:8443/a/b", "ssh://git@h:22/a/b"));
    assert!(!is_same("https://h:8443/a/b", "https://h/a/b"));
    assert!(!is_same("https://h/a/b", "https://h/a/c"));
    assert!(!is_same("https://h/a/b", "https://i/a/b"));
    assert!(!is_same("https://h/a/b", "https://h/c/b"));
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in ".{0,80}") {
        let _ = RepositoryAddress::parse(&text);
    }

    #[test]
    fn what_is_read_is_plain(
        text in "(https?|ssh)?(://)?[a-z@:.%0-9\\[\\]/?#\\\\ -]{0,30}[:/][a-z./%-]{0,20}",
    ) {
        if let Some(address) = RepositoryAddress::parse(&text) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            prop_assert!(address.full_name().chars().all(is_plain), "{address}");
            let host = address.host();
            prop_assert!(!host.contains(['@', '/', '%', '?', '#', ' ', '\\']), "{address}");
            let again = RepositoryAddress::parse(&format!("https://{address}"));
            prop_assert!(again.is_none_or(|again| again.full_name() == address.full_name()));
        }
    }

    #[test]
    fn every_spelling_is_read_alike(
        host in "[a-z]{1,8}(\\.[a-z]{2,4}){0,2}",
        owner in "[A-Za-z0-9][A-Za-z0-9_-]{0,10}(/[a-z]{1,5}){0,3}",
        name in "[A-Za-z0-9][A-Za-z0-9_-]{0,10}",
    ) {
        let whole = format!("{owner}/{name}");
        let spellings = [
            format!("https://{host}/{whole}"),
            format!("https://u:p@{host}/{whole}.git"),
            format!("ssh://git@{host}:22/{whole}.git"),
            format!("git@{host}:{whole}.git"),
        ];
        let read = spellings.map(|text| RepositoryAddress::parse(&text).unwrap());
        for address in &read {
            prop_assert_eq!(address.full_name(), whole.clone());
            prop_assert!(address.is_same(&read[0]));
        }
    }
}
