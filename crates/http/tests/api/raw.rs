//! Requests whose bytes a test writes itself, some of them only in part.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::Api;

/// Sends this much of a request and returns the connection.
pub(crate) fn begin(api: &Api, sent: &[u8]) -> TcpStream {
    let mut stream = api.connect();
    stream.write_all(sent).unwrap();
    stream
}

/// What is answered, up to the end of its JSON document.
pub(crate) fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while !answer.ends_with(b"}") {
        let length = stream.read(&mut chunk).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&chunk[..length]);
    }
    String::from_utf8(answer).unwrap()
}
