//! What is secret is on no page.

use serde_json::json;
use workforce_testkit::store::sqlite_store;

use crate::pages::PAGES;
use crate::scene::Scene;

const SECRET: &str = "canary-of-a-secret";
const ROTATED: &str = "canary-of-its-next-version";
const VARIABLE: &str = "canary-of-a-variable";

#[test]
fn no_page_tells_what_is_secret() {
    let scene = Scene::on(sqlite_store());
    let board = &scene.board;
    let secrets = scene.place("/c/PREFIX/secrets");
    let fields = [("name", "canary"), ("value", SECRET)];
    let made = board.send(&secrets, &secrets, &fields);
    let secret = made.leads_to().to_owned();
    let rotate = [("deed", "rotate"), ("value", ROTATED)];
    let rotated = board.send(&secret, &secret, &rotate);
    let keys = scene.place("/c/PREFIX/agents/AGENT/keys");
    let key = [("deed", "make"), ("name", "canary")];
    let shown = board.send(&keys, &keys, &key);
    let (_, rest) = shown.ok().split_once("wfk_").unwrap();
    let key = format!("wfk_{}", rest.split('<').next().unwrap());
    assert!(key.len() > 30, "{key}");
    let agent = scene.place("AGENT");
    let company = board.company();
    let found = board.told(&format!("/api/agents/{agent}?companyId={company}"));
    let env = json!({ "adapterConfig": { "env": { "API_TOKEN": VARIABLE, "SECRET": {
        "type": "secret_ref", "secretId": secret.rsplit('/').next() } } } });
    let path = format!("/api/agents/{}", found["id"].as_str().unwrap());
    board.call_with("PATCH", &path, &[], &env);

    let canaries = [SECRET, ROTATED, VARIABLE, &key];
    let is_silent = |place: &str, text: &str| {
        let told = canaries.iter().find(|canary| text.contains(**canary));
        assert_eq!(told, None, "{place}");
    };
    for answer in [&made, &rotated] {
        is_silent("the address after a form", answer.leads_to());
    }
    let places = PAGES.iter().map(|(_, address)| scene.place(address));
    let more = [
        secret,
        scene.place("/c/PREFIX/activity?kind=secrets"),
        scene.place("/c/PREFIX/search?q=canary"),
    ];
    for place in places.chain(more) {
        is_silent(&place, board.get(&place).ok());
    }
    // Nor is it told again by a form that comes back.
    let agents = scene.place("/c/PREFIX/agents/AGENT/configuration");
    let again = [
        ("name", ""),
        ("env/0/name", "API_TOKEN"),
        ("env/0/value", VARIABLE),
    ];
    let refused = board.send(&agents, &agents, &again);
    assert_eq!(refused.status / 100, 4, "{}", refused.html);
    is_silent(&agents, &refused.html);
}
