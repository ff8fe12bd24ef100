//! Where the token goes, and where it does not.

use workforce_forge_imitation::{Failure, ImitatedForge, TOKEN};
use workforce_forges::Token;

use crate::site::{HEAD, Site, config, on_every_forge};

#[test]
fn the_token_stands_in_the_header_of_its_forge_and_nowhere_else() {
    on_every_forge(|site| {
        site.forge()
            .find_or_create(&site.new_pull_request())
            .unwrap();
        site.forge().state(&site.repository, 1, None).unwrap();
        for mut request in site.imitation.requests() {
            let (name, value) = match site.imitation.kind() {
                ImitatedForge::GitHub => ("authorization", format!("Bearer {TOKEN}")),
                ImitatedForge::GitLab => ("private-token", TOKEN.to_owned()),
                ImitatedForge::Gitea => ("authorization", format!("token {TOKEN}")),
            };
            assert_eq!(request.headers.remove(name), Some(value));
            assert!(!format!("{request:?}").contains(TOKEN));
            let version = env!("CARGO_PKG_VERSION");
            let agent = format!("workforce/{version}");
            assert_eq!(request.headers.get("user-agent"), Some(&agent));
        }
    });
}

#[test]
fn a_token_of_ones_own_takes_the_place_of_the_configured_one() {
    on_every_forge(|site| {
        site.imitation.refuse_tokens();
        site.imitation.accept_token("of-the-company");
        let find = |forge: workforce_forges::Forge| forge.find_open(&site.repository, HEAD, "main");
        let error = find(site.forge()).unwrap_err();
        assert_eq!(error.code(), "unauthorized");
        let own = Token::parse("of-the-company").unwrap();
        assert_eq!(find(site.forge().with_token(own)), Ok(None));
    });
}

#[test]
fn without_a_token_none_is_sent() {
    on_every_forge(|site| {
        let config = config(&site.imitation, None);
        let forges = workforce_forges::Forges::new(vec![config], crate::site::limits()).unwrap();
        let forge = forges.of(&site.repository).unwrap();
        assert!(!forge.has_token());
        let error = forge.find_open(&site.repository, HEAD, "main").unwrap_err();
        assert_eq!(error.code(), "unauthorized");
        let headers = &site.imitation.requests()[0].headers;
        assert!(!headers.contains_key("authorization"));
        assert!(!headers.contains_key("private-token"));
    });
}

#[test]
fn no_text_holds_the_token() {
    on_every_forge(|site| {
        let said = |status| {
            let body = format!("{{\"message\": \"{}{TOKEN} is wrong\"}}", "x".repeat(480));
            Failure::answer(status, &body)
        };
        let mut failures: Vec<Failure> = [400, 401, 403, 404, 409, 422, 500, 202].map(said).into();
        failures.push(Failure::answer(200, &format!("[\"{TOKEN}\"]")));
        failures.push(Failure::redirect(&format!("http://{TOKEN}.example/")));
        for failure in failures {
            site.imitation.fail(failure);
            let error = site.find().unwrap_err();
            let texts = format!("{error} {error:?}");
            // Nor its beginning, where the text is cut.
            assert!(!texts.contains(&TOKEN[..8]), "{texts}");
        }
        let shown = format!(
            "{:?} {:?}",
            site.forge(),
            config(&site.imitation, Token::parse(TOKEN))
        );
        assert!(!shown.contains(TOKEN), "{shown}");
    });
}

impl Site {
    /// The page of a pull request whose forge says that it is there.
    fn page_told(&self, url: &str) -> String {
        let told = Failure::answer(200, &self.list_of_one(HEAD, "main", url));
        self.imitation.fail(told);
        self.find().unwrap().unwrap().url
    }
}

#[test]
fn the_page_of_a_pull_request_is_on_the_host_of_the_repository() {
    on_every_forge(|site| {
        let host = site.imitation.host();
        let own = format!("http://{host}/anywhere");
        assert_eq!(site.page_told(&own), own);
        let usual = match site.imitation.kind() {
            ImitatedForge::GitHub => format!("http://{host}/acme/shop/pull/1"),
            ImitatedForge::GitLab => format!("http://{host}/acme/shop/-/merge_requests/1"),
            ImitatedForge::Gitea => format!("http://{host}/acme/shop/pulls/1"),
        };
        for odd in [
            "https://evil.example/acme/shop/pull/1",
            "javascript:alert(1)",
            "//evil.example/",
            "",
            &format!("http://{host}@evil.example/"),
            &format!("http://user:password@{host}/"),
            &format!("http://{host}/{}", "x".repeat(3000)),
        ] {
            assert_eq!(site.page_told(odd), usual, "{odd}");
        }
    });
}
