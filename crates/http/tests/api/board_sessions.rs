//! Sessions of the board, as the interface tells of them. How they begin is tested where the pages
//! are.

use serde_json::{Value, json};
use workforce_domain::board::BoardMember;
use workforce_domain::board_session::BoardSession;
use workforce_domain::port::{Failure, TokenKind};
use workforce_testkit::ports;

use crate::support::{Api, NOTHING, api_tests, id};

const PATH: &str = "/api/board-sessions";
const LINKS: &str = "/api/login-links";

/// Begins a session of the token that the server was started with.
fn begin(api: &Api) -> (BoardSession, String) {
    let (minted, now) = (
        ports::tokens().mint(TokenKind::BoardSession),
        ports::clock().now(),
    );
    let session = BoardSession {
        id: ports::ids().next().into(),
        digest: minted.digest,
        member: BoardMember::StartToken,
        created_at: now,
        last_used_at: now,
        expires_at: BoardSession::expiry(now, now),
    };
    let kept = api
        .store
        .write(|tx| Ok::<_, Failure<()>>(tx.board_sessions_mut().insert(&session)?));
    assert!(kept.is_ok(), "{kept:?}");
    (session, minted.token)
}

api_tests! {
    fn sessions_are_listed_and_ended(api) {
        let (first, value) = begin(api);
        let (second, _) = begin(api);
        let listed = api.get(PATH);
        assert!(!listed.text.contains(&value));
        let listed = listed.ok(200);
        assert_eq!(id(&listed[0]), first.id.to_string());
        assert_eq!(listed[0]["memberId"], "start-token");
        assert_eq!(listed[0]["expiresAt"], json!(first.expires_at));
        let page = api.get(&format!("{PATH}?limit=1"));
        assert_eq!(page.ok(200).as_array().unwrap().len(), 1);
        let path = format!("{PATH}/{}", first.id);
        assert_eq!(api.send("DELETE", &path, &[], b"").ok(200), listed[0]);
        api.send("DELETE", &path, &[], b"").problem(404, "not_found");
        api.send("DELETE", &format!("{PATH}/x"), &[], b"").problem(404, "not_found");
        let left = api.get(PATH).ok(200);
        assert_eq!((left.as_array().unwrap().len(), id(&left[0])), (1, &*second.id.to_string()));
    }

    fn a_session_is_no_credential_of_the_interface(api) {
        let (_, value) = begin(api);
        api.bearing(&value).get("/api/companies").problem(401, "credential_invalid");
        let link = api.post(LINKS, &json!({})).ok(201);
        assert_eq!(link["url"], Value::Null);
        let value = link["path"].as_str().unwrap().strip_prefix("/login/link?key=").unwrap();
        assert!(value.starts_with("wfl_") && value.len() == 56, "{value}");
        api.bearing(value).get("/api/companies").problem(401, "credential_invalid");
    }

    fn sessions_and_links_are_the_boards_alone(api) {
        let agent = api.bearing(&api.key(&api.agent(&api.company("Acme"), "Ada")));
        agent.get(PATH).problem(403, "board_required");
        agent.post(LINKS, &json!({})).problem(403, "board_required");
        let path = format!("{PATH}/{NOTHING}");
        agent.send("DELETE", &path, &Value::Null).problem(403, "board_required");
    }
}
