use workforce_app::authenticate::AuthPolicy;
use workforce_testkit::ports;

use crate::support::{Board, board_tests};

board_tests! {
    fn the_first_visit_leads_to_the_first_company(board) {
        assert_eq!(board.get("/").leads_to(), "/companies/new");
        let home = board.found("Acme & Sons");
        assert_eq!(home, "/c/ACM");
        assert_eq!(board.get("/").leads_to(), home);
        let page = board.get(&home);
        assert!(page.ok().contains("Acme &#38; Sons"), "{}", page.html);
        assert!(page.html.contains("Hire the first agent"));
        // With a second one there is a choice.
        let second = board.found("Other");
        let page = board.get("/");
        for link in [&home, &second] {
            assert!(page.ok().contains(&format!(r#"href="{link}""#)), "{}", page.html);
        }
    }

    fn a_form_that_is_sent_twice_does_it_once(board) {
        let form = board.get("/companies/new");
        let fields = [("key", form.hidden("key")), ("name", "Acme")];
        let first = board.post("/companies/new", &fields);
        let second = board.post("/companies/new", &fields);
        assert_eq!(first.leads_to(), second.leads_to());
        assert_eq!(board.told("/api/companies").as_array().unwrap().len(), 1);
    }

    fn what_is_refused_comes_back_with_what_was_typed(board) {
        let new = "/companies/new";
        let typed = [("description", "Makes <everything>."), ("budgetMonthlyCents", "a lot")];
        let page = board.send(new, new, &typed);
        assert_eq!(page.status, 422);
        assert!(page.html.contains("Makes &#60;everything&#62;."), "{}", page.html);
        assert!(page.html.contains("must be an amount in dollars"));
        assert!(page.html.contains(r##"href="#budgetMonthlyCents""##));
        assert!(page.html.contains(r#"value="a lot""#));
        let page = board.send(new, new, &[("budgetMonthlyCents", "12.50")]);
        assert_eq!(page.status, 400);
        assert!(page.html.contains("is required"), "{}", page.html);
        let page = board.send(new, new, &[("name", "Acme"), ("budgetMonthlyCents", "12.50")]);
        page.leads_to();
        assert_eq!(board.told("/api/companies")[0]["budgetMonthlyCents"], 1250);
    }

    fn a_form_is_taken_from_here_only(board) {
        let form = board.get("/companies/new");
        let fields = [("key", form.hidden("key")), ("name", "Acme")];
        let host = board.host();
        for headers in [
            &[][..],
            &[("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "same-site")],
            &[("Sec-Fetch-Site", "none")],
            &[("Origin", "null")],
            &[("Origin", "http://elsewhere.example")],
        ] {
            let refused = board.post_with("/companies/new", headers, &fields);
            assert_eq!(refused.status, 403, "{headers:?}");
        }
        assert_eq!(board.told("/api/companies").as_array().unwrap().len(), 0);
        let origin = format!("http://{host}");
        let taken = board.post_with("/companies/new", &[("Origin", &origin)], &fields);
        taken.leads_to();
    }

    fn a_company_to_look_at_is_founded_once(board) {
        let form = board.get("/companies/new");
        let key = format!("{}-demo", form.hidden("key"));
        for _ in 0..2 {
            let founded = board.post("/companies/demo", &[("key", &key)]);
            assert_eq!(founded.leads_to(), "/c/MOR");
        }
        for shown in ["Mara Manager", "Eli Engineer"] {
            assert!(board.get("/c/MOR").ok().contains(shown), "{shown}");
        }
    }

    fn what_is_refused_before_it_is_read_is_a_page_too(board) {
        let html = ("Accept", "text/html");
        let home = board.found("Acme");
        let refused = [
            (403, board.get_with(&home, &[html, ("Host", "elsewhere.example")])),
            (403, board.post_with(&home, &[("Origin", "http://elsewhere.example")], &[])),
            (405, board.get("/companies/demo")),
            (405, board.post(&home, &[])),
        ];
        for (status, page) in &refused {
            assert_eq!(page.status, *status, "{}", page.html);
            assert!(page.header("content-type").starts_with("text/html"), "{}", page.html);
        }
        assert_eq!(refused[3].1.header("allow"), "GET, HEAD");
        let program = board.get_with("/api/companies", &[html, ("Host", "elsewhere.example")]);
        assert_eq!(program.header("content-type"), "application/problem+json");
    }

    fn a_page_that_is_not_there_is_told_to_a_browser_as_a_page(board) {
        for path in ["/nowhere", "/c/XYZ", "/assets/board.0.css"] {
            let page = board.get(path);
            assert_eq!(page.status, 404, "{path}");
            assert!(page.header("content-type").starts_with("text/html"), "{path}");
        }
        for (path, accept) in [("/api/nowhere", "text/html"), ("/nowhere", "application/json")] {
            let problem = board.get_with(path, &[("Accept", accept)]);
            assert_eq!(problem.header("content-type"), "application/problem+json", "{path}");
        }
    }

    fn what_pages_load_is_there_and_kept_for_good(board) {
        let page = board.get("/companies/new");
        let loaded: Vec<&str> = page.ok().split('"').filter(|it| it.starts_with("/assets/")).collect();
        assert!(loaded.len() >= 3, "{loaded:?}");
        for path in loaded {
            let path = path.split('#').next().unwrap();
            for encoding in ["gzip", "identity"] {
                let asset = board.get_with(path, &[("Accept-Encoding", encoding)]);
                assert_eq!(asset.status, 200, "{path}");
                assert!(asset.header("cache-control").contains("immutable"), "{path}");
            }
        }
    }
}

#[test]
fn without_a_credential_there_is_nothing_to_see() {
    let tokens = ports::tokens();
    let store = workforce_testkit::store::sqlite_store();
    let board = Board::known(store, AuthPolicy::token(tokens.digest("start-token")));
    let page = board.get_with("/", &[("Authorization", "Bearer ")]);
    assert_eq!(page.status, 401);
    assert!(page.header("content-type").starts_with("text/html"));
    let known = [
        ("Authorization", "Bearer start-token"),
        ("Accept", "text/html"),
    ];
    assert_eq!(board.get_with("/", &known).status, 303);
    let unknown = [("Authorization", "Bearer other"), ("Accept", "text/html")];
    assert_eq!(board.get_with("/", &unknown).status, 401);
}
