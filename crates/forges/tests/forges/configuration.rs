//! Which forge keeps a repository.

use workforce_domain::string_enum::StringEnum as _;
use workforce_forges::{ForgeConfig, ForgeKind, Forges, Limits, RepositoryAddress, Token};

fn config(kind: ForgeKind, host: &str, api_url: Option<&str>) -> ForgeConfig {
    ForgeConfig {
        kind,
        host: host.to_owned(),
        api_url: api_url.map(str::to_owned),
        token: Token::parse("geheim"),
    }
}

/// What a repository is asked about, as `kind api`.
fn asked(forges: &Forges, repository: &str) -> Option<String> {
    let forge = forges.of(&RepositoryAddress::parse(repository).unwrap())?;
    let shown = format!("{forge:?}");
    let api = shown.split('"').nth(1).unwrap();
    Some(format!("{} {api}", forge.kind()))
}

#[test]
fn the_public_forges_are_known() {
    let forges = Forges::new(Vec::new(), Limits::default()).unwrap();
    for (repository, expected) in [
        (
            "https://github.com/a/b",
            Some("github https://api.github.com"),
        ),
        (
            "git@GitHub.com:a/b.git",
            Some("github https://api.github.com"),
        ),
        (
            "https://gitlab.com/a/b/c",
            Some("gitlab https://gitlab.com"),
        ),
        (
            "ssh://git@codeberg.org/a/b",
            Some("gitea https://codeberg.org"),
        ),
        ("https://github.com.evil.example/a/b", None),
        ("https://github.com:8443/a/b", None),
        ("https://git.example.com/a/b", None),
    ] {
        assert_eq!(
            asked(&forges, repository).as_deref(),
            expected,
            "{repository}"
        );
    }
    let repository = RepositoryAddress::parse("https://github.com/a/b").unwrap();
    assert!(!forges.of(&repository).unwrap().has_token());
}

#[test]
fn an_operator_names_others_and_gives_tokens_to_the_public_ones() {
    let forges = vec![
        config(ForgeKind::GitHub, "GitHub.com", None),
        config(ForgeKind::GitHub, "ghe.example.com", None),
        config(ForgeKind::GitLab, "git.example.com:8443", None),
        config(
            ForgeKind::Gitea,
            "code.example.com",
            Some("http://10.0.0.5:3000/git/api/v1/"),
        ),
    ];
    let forges = Forges::new(forges, Limits::default()).unwrap();
    for (repository, expected) in [
        ("https://github.com/a/b", "github https://api.github.com"),
        (
            "https://GHE.example.com/a/b",
            "github https://ghe.example.com",
        ),
        (
            "https://git.example.com:8443/a/b",
            "gitlab https://git.example.com:8443",
        ),
        // The port of SSH is another one.
        (
            "ssh://git@git.example.com:2222/a/b",
            "gitlab https://git.example.com:8443",
        ),
        ("git@code.example.com:a/b", "gitea http://10.0.0.5:3000"),
    ] {
        assert_eq!(asked(&forges, repository).as_deref(), Some(expected));
        let kind = forges.kind_of(&RepositoryAddress::parse(repository).unwrap());
        assert!(kind.is_some_and(|kind| expected.starts_with(kind.as_str())));
    }
    assert_eq!(asked(&forges, "https://git.example.com/a/b"), None);
    let unknown = RepositoryAddress::parse("https://git.example.com/a/b").unwrap();
    assert_eq!(forges.kind_of(&unknown), None);
    let shown = format!("{forges:?}");
    assert!(shown.contains("git.example.com:8443"), "{shown}");
    assert!(!shown.contains("geheim"), "{shown}");
    let repository = RepositoryAddress::parse("https://github.com/a/b").unwrap();
    assert!(forges.of(&repository).unwrap().has_token());
}

#[test]
fn what_is_no_place_of_an_interface_is_refused() {
    for url in [
        "",
        "git.example.com/api/v4",
        "ftp://git.example.com/",
        "file:///srv/git",
        "https://",
        "https:///api",
        "https://user:geheim@git.example.com/",
        "https://geheim@git.example.com/",
        "https://git.example.com/api?token=geheim",
        "https://git.example.com/api#geheim",
        "https://git.example.com/a b",
        "https://git.example.com/../x",
        "https://git.example.com/%2e%2e/x",
        "https://git.example.com:99999/",
        "https://git.example.com:0/",
    ] {
        let forges = vec![config(ForgeKind::GitLab, "git.example.com", Some(url))];
        let Err(error) = Forges::new(forges, Limits::default()) else {
            panic!("{url}");
        };
        let text = error.to_string();
        assert!(text.starts_with("the forge `git.example.com`"), "{text}");
        assert!(!text.contains("geheim"), "{text}");
    }
    for host in [
        "",
        "a b",
        "https://git.example.com",
        "user@host",
        "host/path",
        "h:x",
    ] {
        let forges = vec![config(ForgeKind::GitLab, host, None)];
        assert!(Forges::new(forges, Limits::default()).is_err(), "{host}");
    }
    let twice = ["git.example.com", "Git.Example.com:443"];
    let twice = twice.map(|host| config(ForgeKind::Gitea, host, None));
    let Err(error) = Forges::new(twice.into(), Limits::default()) else {
        panic!("configured twice");
    };
    assert!(error.to_string().contains("twice"), "{error}");
}

#[test]
fn kinds_are_words() {
    for (kind, word) in [
        (ForgeKind::GitHub, "\"github\""),
        (ForgeKind::GitLab, "\"gitlab\""),
        (ForgeKind::Gitea, "\"gitea\""),
    ] {
        assert_eq!(serde_json::to_string(&kind).unwrap(), word);
        assert_eq!(serde_json::from_str::<ForgeKind>(word).unwrap(), kind);
    }
}
