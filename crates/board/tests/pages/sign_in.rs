//! Who sees pages where not everybody does, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::port::Clock;
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{SettableClock, World};

use crate::support::{Board, Page, board_tests};

/// The token that the server was started with.
const START: &str = "open-sesame-open-sesame";
const BY_START: (&str, &str) = ("Authorization", "Bearer open-sesame-open-sesame");
/// What a browser sends.
const PAGE: (&str, &str) = ("Accept", "text/html,*/*;q=0.8");
const OWN_HOST: (&str, &str) = ("Host", "workforce.localhost");
const FROM_HERE: (&str, &str) = ("Sec-Fetch-Site", "same-origin");
const SHOWN: &str = "/companies/new";

fn policy() -> AuthPolicy {
    AuthPolicy::token(ports::tokens().digest(START))
}

fn guarded(store: TestStore) -> Board {
    Board::known(store, policy())
}

fn behind_tls(store: TestStore) -> Board {
    Board::set_up(store, policy(), ports::clock(), |state| {
        state.with_public_url(Some("https://board.example".to_owned()))
    })
}

/// A server whose clock is turned by the test.
struct Timed {
    board: Board,
    hands: Hands,
}

struct Hands(SettableClock);

impl Hands {
    fn turn(&self, seconds: u64) {
        self.0.set(self.0.now().plus(Duration::from_secs(seconds)));
    }
}

/// A server and an agent at work.
struct Staffed {
    board: Board,
    /// The token of its run.
    run: String,
}

fn staffed(store: TestStore) -> Staffed {
    let world = World::on(&store);
    let company = world.company("Acme");
    world.todo_for(&world.hired(company.id, "Ada"), "Task");
    let run = world.start_next().unwrap().token;
    let board = guarded(store);
    Staffed { board, run }
}

fn timed(store: TestStore) -> Timed {
    let clock = SettableClock::default();
    let board = Board::set_up(store, policy(), Arc::new(clock.clone()), |state| state);
    Timed {
        board,
        hands: Hands(clock),
    }
}

fn tries(board: &Board, token: &str, next: &str) -> Page {
    let fields = [("token", token), ("next", next)];
    board.post_with("/login", &[FROM_HERE, OWN_HOST], &fields)
}

/// The cookie of an answer, as a browser sends it back.
fn cookie(page: &Page) -> String {
    let cookie = page.header("set-cookie");
    cookie.split(';').next().unwrap().to_owned()
}

fn session(board: &Board, token: &str) -> String {
    let signed_in = tries(board, token, "");
    assert_eq!(signed_in.leads_to(), "/");
    cookie(&signed_in)
}

fn with_cookie(board: &Board, path: &str, cookie: &str) -> Page {
    board.get_with(path, &[PAGE, OWN_HOST, ("Cookie", cookie)])
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap()
}

fn token(board: &Board) -> Value {
    board.call_with(
        "POST",
        "/api/board-tokens",
        &[BY_START],
        &json!({ "name": "ada" }),
    )
}

fn agent_key(board: &Board) -> String {
    let company = board.call_with(
        "POST",
        "/api/companies",
        &[BY_START],
        &json!({ "name": "Acme" }),
    );
    let agents = format!("/api/companies/{}/agents", text(&company, "id"));
    let agent = json!({ "name": "Ada", "role": "engineer", "adapterType": "process",
        "adapterConfig": { "command": "true" } });
    let agent = board.call_with("POST", &agents, &[BY_START], &agent);
    let keys = format!("/api/agents/{}/keys", text(&agent, "id"));
    let key = board.call_with("POST", &keys, &[BY_START], &json!({}));
    text(&key, "token").to_owned()
}

board_tests! {
    fn a_page_is_shown_to_the_board_alone(board = staffed) {
        let Staffed { board, run } = board;
        let host = board.host().rsplit_once(':').unwrap().1;
        let own = format!("http://workforce.localhost:{host}/companies/new?a=1");
        assert_eq!(board.get("/companies/new?a=1").leads_to(), own);
        let nobody = board.get_with("/companies/new?a=1", &[PAGE, OWN_HOST]);
        assert_eq!(nobody.leads_to(), "/login?next=%2Fcompanies%2Fnew%3Fa%3D1");
        assert_eq!(board.get_with(SHOWN, &[OWN_HOST]).status, 401, "no browser asks");
        assert_eq!(board.post(SHOWN, &[("name", "x")]).status, 401);

        let made = token(board);
        let revoked = token(board);
        let path = format!("/settings/tokens/{}/revoke", text(&revoked, "id"));
        board.post_with(&path, &[FROM_HERE, BY_START], &[]).leads_to();
        let key = agent_key(board);
        let asks = |credential: &str, cookie: Option<&str>| {
            let credential = bearer(credential);
            let mut headers = vec![PAGE, OWN_HOST, ("Authorization", credential.as_str())];
            headers.extend(cookie.map(|cookie| ("Cookie", cookie)));
            board.get_with(SHOWN, &headers).status
        };
        let session = session(board, text(&made, "token"));
        let value = session.split_once('=').unwrap().1;
        for (credential, expected) in [
            (START, 200),
            (text(&made, "token"), 200),
            (text(&revoked, "token"), 401),
            (key.as_str(), 403),
            (run.as_str(), 403),
            ("wfr_abcdefgh_x", 401),
            (value, 401),
            ("", 401),
        ] {
            assert_eq!(asks(credential, None), expected, "{credential}");
            assert_eq!(asks(credential, Some(&session)), expected, "nothing falls back");
        }
        with_cookie(board, SHOWN, &session).ok();
        for other in [
            format!("{session}x"),
            format!("workforce_session={}", text(&made, "token")),
            format!("workforce_session={START}"),
            "workforce_session=".to_owned(),
        ] {
            let refused = with_cookie(board, SHOWN, &other);
            assert_eq!(refused.status, 401, "{other}");
            assert!(refused.html.contains("/login?next=%2Fcompanies%2Fnew"), "{}", refused.html);
        }
    }

    fn the_interface_takes_no_session(board = guarded) {
        let session = session(board, START);
        let value = session.split_once('=').unwrap().1;
        let refused = |headers: &[(&str, &str)]| {
            let page = board.get_with("/api/companies", headers);
            assert_eq!(page.status, 401);
            serde_json::from_str::<Value>(&page.html).unwrap()["code"].clone()
        };
        assert_eq!(refused(&[OWN_HOST, ("Cookie", &session)]), "credential_missing");
        assert_eq!(refused(&[("Authorization", &bearer(value))]), "credential_invalid");
    }

    fn the_cookie_is_a_credential_of_its_own(board = guarded) {
        let signed_in = tries(board, START, "/c/ACM?x=1");
        assert_eq!(signed_in.leads_to(), "/c/ACM?x=1");
        let cookie = signed_in.header("set-cookie");
        assert!(cookie.starts_with("workforce_session=wfs_"), "{cookie}");
        assert!(cookie.ends_with("; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax"), "{cookie}");
        assert!(!cookie.contains(START) && !signed_in.html.contains(START));
        let listed = board.get_with("/api/board-sessions", &[BY_START]);
        let value = cookie.split(['=', ';']).nth(1).unwrap();
        assert!(listed.ok().contains("start-token") && !listed.html.contains(value));
        // Who signs in again has one session.
        let old = cookie.split(';').next().unwrap();
        let headers = [FROM_HERE, OWN_HOST, ("Cookie", old)];
        board.post_with("/login", &headers, &[("token", START)]).leads_to();
        assert_eq!(with_cookie(board, SHOWN, old).status, 401);
    }

    fn over_tls_the_cookie_is_of_this_host_alone(board = behind_tls) {
        let headers = [FROM_HERE, ("Host", "board.example")];
        let signed_in = board.post_with("/login", &headers, &[("token", START)]);
        let cookie = signed_in.header("set-cookie");
        assert!(cookie.starts_with("__Host-workforce_session=wfs_"), "{cookie}");
        assert!(cookie.ends_with("; Secure") && !cookie.contains("Domain"), "{cookie}");
        let sent = cookie.split(';').next().unwrap();
        with_cookie(board, SHOWN, sent).ok();
        let plain = sent.trim_start_matches("__Host-");
        assert!(with_cookie(board, SHOWN, plain).leads_to().starts_with("/login"));
        // A proxy may name this machine.
        assert!(board.get(SHOWN).leads_to().starts_with("/login"));
        let link = board.call_with("POST", "/api/login-links", &[BY_START], &json!({}));
        assert_eq!(text(&link, "url"), format!("https://board.example{}", text(&link, "path")));
    }

    fn a_link_signs_in_once_within_a_minute(board = timed) {
        let Timed { board, hands } = board;
        let link = || {
            let link = board.call_with("POST", "/api/login-links", &[BY_START], &json!({}));
            text(&link, "path").to_owned()
        };
        let take = |path: &str| {
            let key = path.split_once("?key=").unwrap().1;
            board.post_with("/login/link", &[FROM_HERE, OWN_HOST], &[("key", key)])
        };
        let path = link();
        // Whoever looks at a preview uses nothing up.
        for _ in 0..2 {
            assert!(board.get_with(&path, &[PAGE, OWN_HOST]).ok().contains("wfl_"));
        }
        let signed_in = take(&path);
        assert_eq!(signed_in.leads_to(), "/");
        with_cookie(board, SHOWN, &cookie(&signed_in)).ok();
        assert_eq!(take(&path).status, 401, "it was used");
        let late = link();
        hands.turn(60);
        assert_eq!(take(&late).status, 401, "it is too old");
        let elsewhere = board.post_with(
            "/login/link",
            &[("Sec-Fetch-Site", "cross-site"), OWN_HOST],
            &[("key", link().split_once("?key=").unwrap().1)],
        );
        assert_eq!(elsewhere.status, 403);
        // What makes a session is no credential.
        let value = bearer(link().split_once("?key=").unwrap().1);
        assert_eq!(board.get_with(SHOWN, &[("Authorization", &value)]).status, 401);
    }

    fn wrong_tokens_are_answered_alike_and_make_wait(board = timed) {
        let Timed { board, hands } = board;
        let key = agent_key(board);
        for wrong in ["", "guess", "wfb_abcdefgh_x", &key, "wfr_abcdefgh_x"] {
            let refused = tries(board, wrong, "/c/ACM");
            assert_eq!(refused.status, 401, "{wrong}");
            assert!(refused.html.contains("That token was not accepted."), "{}", refused.html);
            assert!(refused.html.contains(r#"value="/c/ACM""#));
            assert!(wrong.is_empty() || !refused.html.contains(wrong));
            assert_eq!(refused.header("set-cookie"), "");
        }
        hands.turn(10);
        let waits = tries(board, START, "");
        assert_eq!((waits.status, waits.header("retry-after")), (429, "50"));
        assert!(waits.html.contains("Wait 50 seconds"), "{}", waits.html);
        hands.turn(50);
        session(board, START);
    }

    fn nobody_is_led_to_another_host(board = guarded) {
        for next in ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/a\nb"] {
            assert_eq!(tries(board, START, next).leads_to(), "/", "{next}");
        }
        let typed = "/login?next=%22%3E%3Cscript%3E//evil.example";
        let shown = board.get_with(typed, &[PAGE, OWN_HOST]);
        assert!(!shown.ok().contains("<script>"));
        // Under a name that other programs share nobody signs in.
        assert!(board.get("/login").ok().contains("workforce.localhost"));
        let refused = board.post("/login", &[("token", START)]);
        assert_eq!((refused.status, refused.header("set-cookie")), (421, ""));
    }

    fn a_session_ends_in_each_of_its_ways(board = timed) {
        let Timed { board, hands } = board;
        let made = token(board);
        let sees = |session: &str| with_cookie(board, SHOWN, session).status;
        // Its token is revoked.
        let of_token = session(board, text(&made, "token"));
        assert_eq!(sees(&of_token), 200);
        let path = format!("/settings/tokens/{}/revoke", text(&made, "id"));
        board.post_with(&path, &[FROM_HERE, BY_START], &[]).leads_to();
        assert_eq!(sees(&of_token), 401);
        // Whoever has it signs out.
        let own = session(board, START);
        let headers = [FROM_HERE, OWN_HOST, ("Cookie", own.as_str())];
        let out = board.post_with("/logout", &headers, &[]);
        assert_eq!(out.leads_to(), "/login");
        assert!(out.header("set-cookie").contains("Max-Age=0"));
        assert_eq!(sees(&own), 401);
        // It is not used for half a day.
        let idle = session(board, START);
        hands.turn(12 * 60 * 60 - 1);
        assert_eq!(sees(&idle), 200);
        hands.turn(1);
        // That use was not written down: it is once in a while.
        assert_eq!(sees(&idle), 401);
        assert_eq!(board.get_with("/api/board-sessions", &[BY_START]).ok(), "[]");
    }

    fn whoever_sees_the_settings_ends_sessions(board = guarded) {
        let [own, other, third] = [(); 3].map(|()| session(board, START));
        let shown = with_cookie(board, "/settings", &own);
        assert_eq!(shown.ok().matches("This one").count(), 1);
        assert_eq!(shown.html.matches("/end\"").count(), 3);
        let posts = |path: &str| {
            let headers = [FROM_HERE, OWN_HOST, ("Cookie", own.as_str())];
            board.post_with(path, &headers, &[]).leads_to().to_owned()
        };
        let listed = board.get_with("/api/board-sessions", &[BY_START]);
        let listed: Value = serde_json::from_str(listed.ok()).unwrap();
        posts(&format!("/settings/sessions/{}/end", text(&listed[1], "id")));
        let status = |session: &str| with_cookie(board, SHOWN, session).status;
        assert_eq!([&own, &other, &third].map(|it| status(it)), [200, 401, 200]);
        posts("/settings/sessions/end-others");
        assert_eq!([&own, &third].map(|it| status(it)), [200, 401]);
    }

    fn a_made_token_is_shown_once(board = guarded) {
        let own = session(board, START);
        let headers = [FROM_HERE, OWN_HOST, ("Cookie", own.as_str())];
        let shown = with_cookie(board, "/settings", &own);
        let form = [("key", shown.hidden("key")), ("name", "<b>ci</b>")];
        let made = board.post_with("/settings/tokens", &headers, &form);
        assert!(!made.ok().contains("<b>ci"), "{}", made.html);
        let value = made.html.split("<code>wfb_").nth(1).unwrap();
        let value = format!("wfb_{}", value.split('<').next().unwrap());
        let by_it = bearer(&value);
        board.get_with(SHOWN, &[("Authorization", &by_it)]).ok();
        assert!(!with_cookie(board, "/settings", &own).ok().contains(&value));
        let empty = board.post_with("/settings/tokens", &headers, &[("name", "")]);
        assert_eq!(empty.status, 400);
        assert!(empty.html.contains("New token for"), "the form is shown again");
    }

    fn where_everybody_is_the_board_nobody_signs_in(board) {
        let login = board.get("/login?next=/companies/new");
        assert_eq!(login.leads_to(), SHOWN);
        let posted = board.post("/login", &[("token", "guess")]);
        assert_eq!((posted.leads_to(), posted.header("set-cookie")), ("/", ""));
        board.get_with(SHOWN, &[PAGE, ("Cookie", "workforce_session=wfs_x")]).ok();
        let settings = board.get("/settings");
        assert!(!settings.ok().contains("Sign out"), "{}", settings.html);
        assert!(board.get("/system").ok().contains("can do its work"));
    }

    fn a_stream_ends_soon_after_its_session(board = guarded) {
        let company = board.call_with("POST", "/api/companies", &[BY_START], &json!({ "name": "Acme" }));
        let own = session(board, START);
        let live = format!("/live/{}", text(&company, "id"));
        let headers = [OWN_HOST, ("Accept", "text/event-stream"), ("Cookie", own.as_str())];
        std::thread::scope(|threads| {
            let stream = threads.spawn(|| board.get_with(&live, &headers));
            std::thread::sleep(Duration::from_millis(500));
            assert!(!stream.is_finished());
            let headers = [FROM_HERE, OWN_HOST, ("Cookie", own.as_str())];
            board.post_with("/logout", &headers, &[]).leads_to();
            let ended = Instant::now();
            assert_eq!(stream.join().unwrap().status, 200);
            assert!(ended.elapsed() < Duration::from_secs(15));
        });
        assert_eq!(board.get_with(&live, &headers).status, 401);
    }
}
