use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use workforce_browser::Browser;
use workforce_testkit::store::sqlite_store;

use crate::scene::Scene;

/// Starts a server of somebody else, which shows this to everybody; its address.
fn somebody_else(html: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the test.
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = BufReader::new(&connection).lines();
            while head
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let length = html.len();
            // Whoever asks may be gone.
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n{html}"
            );
        }
    });
    address
}

#[test]
fn pages_of_others_neither_send_forms_nor_frame_pages() {
    if !Browser::is_there() {
        return;
    }
    let scene = Scene::on(sqlite_store());
    let host = scene.board.host();
    let issue = scene.place("/c/PREFIX/issues/ISSUE");
    let browser = Browser::of(scene.board.host());
    let here = format!("http://{host}");
    let other = somebody_else(format!(
        "<h1>Elsewhere</h1><iframe src='{here}{issue}'></iframe>\
         <form method='post' action='{here}{issue}/comments'>\
         <input name='body' value='Said elsewhere.'><button>Send</button></form>"
    ));
    browser.knows(other.clone());
    // The frame, and the refused form.
    browser.expect("frame");
    browser.expect("status of 403");
    browser.expect("favicon.ico");

    browser.open(&other);
    let framed = browser.value(
        "(() => { try { return frames[0].document.body.innerText } \
        catch { return 'out of reach' } })()",
    );
    assert_eq!(framed, "out of reach");
    let entered = browser.text_in_frame(0);
    assert!(!entered.contains("Damp the wrist"), "{entered}");

    browser.open(&other);
    browser.click("button");
    browser.until_told("origin_forbidden");
    // From a page without an origin of its own it is the same.
    let nested = format!(
        "<iframe sandbox='allow-forms allow-scripts' srcdoc=\"<form method='post' \
         action='{here}{issue}/comments'><input name='body' value='Said elsewhere.'></form>\
         <script>document.forms[0].submit()</script>\"></iframe>"
    );
    let nowhere = somebody_else(nested);
    browser.knows(nowhere.clone());
    browser.open(&nowhere);
    browser.until("document.readyState === 'complete'");

    browser.open(&issue);
    assert!(!browser.text(".thread").contains("Said elsewhere."));
}
