//! Answers that come slowly, or not to their end.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use workforce_model_imitation::{Cut, LoggedRequest, ModelImitation, Reply, Rule};

/// Long past the end of every test.
const FOREVER: Duration = Duration::from_secs(3600);

/// A connection over which a stream was asked for.
fn ask(imitation: &ModelImitation) -> TcpStream {
    let address = imitation.url();
    let mut connection = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let body = json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": "Do it."}]})
    .to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: imitation\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(body.as_bytes()).unwrap();
    connection
}

fn start(reply: Reply) -> ModelImitation {
    ModelImitation::start(Rule::new().then(reply).into()).unwrap()
}

/// Everything until the connection ends.
fn rest(mut connection: TcpStream) -> String {
    let mut all = Vec::new();
    match connection.read_to_end(&mut all) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => {
            panic!(
                "it does not end: {error}: {}",
                String::from_utf8_lossy(&all)
            );
        }
        _ => {}
    }
    String::from_utf8(all).unwrap()
}

#[track_caller]
fn wait_until(imitation: &ModelImitation, holds: impl Fn(&[LoggedRequest]) -> bool) {
    let has_come = imitation.wait_for(Duration::from_secs(30), holds);
    assert!(has_come, "{:?}", imitation.requests());
}

#[test]
fn a_dropped_answer_has_a_beginning_and_no_end() {
    let imitation = start(Reply::text("A longer answer.").drops());
    let got = rest(ask(&imitation));
    assert!(got.starts_with("HTTP/1.1 200"), "{got}");
    assert!(got.contains("message_start"), "{got}");
    assert!(!got.contains("message_stop"), "{got}");
    wait_until(&imitation, |requests| requests[0].cut == Some(Cut::Dropped));
}

#[test]
fn what_hangs_ends_with_the_imitation() {
    let imitation = start(Reply::text("A longer answer.").hangs(FOREVER));
    let connection = ask(&imitation);
    wait_until(&imitation, |requests| requests.len() == 1);
    drop(imitation);
    let got = rest(connection);
    assert!(!got.contains("message_stop"), "{got}");
}

#[test]
fn a_request_is_in_the_log_before_its_answer_begins() {
    let imitation = start(Reply::text("Late.").delay(FOREVER));
    let _connection = ask(&imitation);
    wait_until(&imitation, |requests| requests.len() == 1);
}

#[test]
fn a_client_that_goes_away_is_noted() {
    let imitation = start(Reply::text("A longer answer.").chunk_delay(Duration::from_millis(20)));
    let mut connection = ask(&imitation);
    let mut first = [0; 16];
    connection.read_exact(&mut first).unwrap();
    drop(connection);
    wait_until(&imitation, |requests| {
        requests[0].cut == Some(Cut::ClientGone)
    });
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let imitation = start(Reply::text("Done."));
    let mut connection = ask(&imitation);
    let mut all = Vec::new();
    let mut part = [0; 4096];
    // The last chunk of a stream is empty.
    while !all.ends_with(b"0\r\n\r\n") {
        let length = connection.read(&mut part).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&part[..length]);
    }
    let request = b"GET /v1/models HTTP/1.1\r\nhost: imitation\r\nconnection: close\r\n\r\n";
    connection.write_all(request).unwrap();
    let answer = rest(connection);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(imitation.requests().len(), 2);
}

#[test]
fn waiting_ends_with_patience() {
    let imitation = start(Reply::text("Done."));
    assert!(!imitation.wait_for(Duration::from_millis(5), |requests| !requests.is_empty()));
}
