//! Callers that send no requests, and callers of a server that was stopped for a while.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::harness::{PATIENCE, Server, folder};

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.base.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The first line of what is answered; nothing when the connection just ends.
fn status_line(stream: &mut TcpStream) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|length| length > 0) && byte != *b"\r" {
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).into_owned()
}

#[test]
fn garbage_leaves_no_errors_in_the_log() {
    let folder = folder();
    let server = Server::start(folder.path());
    let long = [b"GET /".as_slice(), &vec![b'a'; 300 * 1024]].concat();
    let garbage: [&[u8]; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello of TLS\r\n\r\n",
        b"HELLO\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: \xc3\x28\x00\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/companies HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST /api/companies HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        &long,
    ];
    for sent in garbage {
        let mut stream = connect(&server);
        // A server that has read enough closes while the rest is being sent.
        let _sent_or_refused = stream.write_all(sent);
        let answer = status_line(&mut stream);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    server.get("/api/health");
    let log = server.log();
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
    let log = log.lock().unwrap();
    assert!(!log.contains("ERROR"), "{log}");
}

#[test]
fn what_is_asked_during_a_stop_of_the_server_is_answered_after_it() {
    let folder = folder();
    let server = Server::start(folder.path());
    // One that is connected already, and one that comes while the server is stopped; both ask
    // only in part before it goes on.
    let request = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (head, rest) = request.split_at(9);
    let mut before = connect(&server);
    before.write_all(head).unwrap();
    server.get("/api/health");
    server.signal(Signal::SIGSTOP);
    let mut during = connect(&server);
    during.write_all(head).unwrap();
    before.write_all(rest).unwrap();
    // Longer than a client may take for its head.
    std::thread::sleep(Duration::from_secs(6));
    server.signal(Signal::SIGCONT);
    let mut after = connect(&server);
    after.write_all(head).unwrap();
    assert_eq!(status_line(&mut before), "HTTP/1.1 200 OK");
    for stream in [&mut during, &mut after] {
        stream.write_all(rest).unwrap();
        assert_eq!(status_line(stream), "HTTP/1.1 200 OK");
    }
}

#[test]
fn whoever_does_not_ask_at_all_is_turned_away() {
    let folder = folder();
    let server = Server::start(folder.path());
    let mut slow = connect(&server);
    slow.write_all(b"GET /api/hea").unwrap();
    assert_eq!(status_line(&mut slow), "HTTP/1.1 408 Request Timeout");
}

#[test]
fn whoever_begins_to_ask_again_and_does_not_end_is_let_go() {
    let folder = folder();
    let server = Server::start(folder.path());
    let mut slow = connect(&server);
    let request = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    slow.write_all(request).unwrap();
    let mut answer = [0; 4096];
    let length = slow.read(&mut answer).unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200 OK"));
    slow.write_all(&request[..9]).unwrap();
    let began = Instant::now();
    assert_eq!(slow.read(&mut answer).unwrap(), 0);
    assert!(
        began.elapsed() > Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
}
