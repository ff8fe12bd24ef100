//! A server on which people sign in.

use serde_json::Value;
use workforce_app::authenticate::AuthPolicy;
use workforce_browser::Browser;
use workforce_testkit::ports;
use workforce_testkit::store::sqlite_store;

use crate::support::Board;

const TOKEN: &str = "open-sesame-open-sesame";
const BEARER: (&str, &str) = ("Authorization", "Bearer open-sesame-open-sesame");

/// A server that knows this token, and a browser that asks it under its own name.
pub(crate) fn guarded() -> (Board, Browser) {
    let auth = AuthPolicy::token(ports::tokens().digest(TOKEN));
    let board = Board::set_up(sqlite_store(), auth, ports::clock(), |state| state);
    let host = board.host().replace("127.0.0.1", "workforce.localhost");
    let browser = Browser::of(&host);
    (board, browser)
}

pub(crate) fn sign_in(browser: &Browser) {
    browser.write("#token", TOKEN);
    browser.click("main [type=submit]");
}

/// Calls the interface as the board.
pub(crate) fn call(board: &Board, method: &str, path: &str, body: &Value) -> Value {
    board.call_with(method, path, &[BEARER], body)
}
