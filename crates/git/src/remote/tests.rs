use super::*;

#[test]
fn addresses_that_git_may_be_given() {
    for (address, kind) in [
        ("https://example.com/a.git", Kind::Http),
        ("http://127.0.0.1:8080/a", Kind::Http),
        ("ssh://git@example.com:22/a.git", Kind::Ssh),
        ("git@example.com:a/b.git", Kind::Ssh),
        ("example.com:a", Kind::Ssh),
        ("/srv/git/a.git", Kind::Local),
        ("file:///srv/git/a.git", Kind::Local),
    ] {
        let remote = Remote::new(address).unwrap();
        assert_eq!((remote.address(), remote.kind()), (address, kind));
    }
}

#[test]
fn addresses_that_run_programs_or_look_like_options() {
    for (address, fault) in [
        ("", AddressFault::Length),
        ("--upload-pack=touch x", AddressFault::Option),
        ("ext::sh -c x", AddressFault::Malformed),
        ("ext::sh", AddressFault::Scheme),
        ("fd::3", AddressFault::Scheme),
        ("git://example.com/a", AddressFault::Scheme),
        ("file://host/a", AddressFault::Scheme),
        ("ssh://-oProxyCommand=x/a", AddressFault::Option),
        ("ssh://u@-oProxyCommand=x/a", AddressFault::Option),
        ("host:-oProxyCommand", AddressFault::Option),
        ("../a.git", AddressFault::Scheme),
        ("a/b", AddressFault::Scheme),
        ("https:///a", AddressFault::Scheme),
        ("https://a/\nb", AddressFault::Malformed),
    ] {
        assert_eq!(Remote::new(address), Err(fault), "{address}");
    }
}

#[test]
fn a_password_in_an_address_becomes_the_credential() {
    let remote = Remote::new("https://ada:p%40ss@example.com:8443/a.git").unwrap();
    assert_eq!(remote.address(), "https://example.com:8443/a.git");
    let (key, value) = remote.header().unwrap();
    assert_eq!(key, "http.https://example.com:8443/.extraHeader");
    let encoded = BASE64.encode(b"ada:p@ss");
    assert_eq!(value, format!("Authorization: Basic {encoded}"));
}

#[test]
fn only_http_is_sent_a_credential() {
    for address in ["git@example.com:a", "/srv/a.git", "ssh://example.com/a"] {
        let remote = Remote::new(address).unwrap();
        let remote = remote.with_credential(Credential::token("secret"));
        assert_eq!(remote.header(), None, "{address}");
    }
}

#[test]
fn no_text_shows_a_credential() {
    let remote = Remote::new("https://example.com/a").unwrap();
    let remote = remote.with_credential(Credential::token("t0ken"));
    assert!(!format!("{remote:?}").contains("t0ken"));
    let encoded = BASE64.encode(b"x-access-token:t0ken");
    let text = format!("sent {encoded} or t0ken to 'https://u:p@other.com/a'");
    let clean = "sent [hidden] or [hidden] to 'https://other.com/a'";
    assert_eq!(remote.scrub(&text), clean);
}
