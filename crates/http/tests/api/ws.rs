//! A reader that speaks WebSocket (RFC 6455), and as badly as it is told to.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::described;

pub(crate) const TEXT: u8 = 1;
const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
const PONG: u8 = 10;

/// An open WebSocket.
pub(crate) struct Socket {
    stream: TcpStream,
    /// How the server said goodbye, when it did.
    pub(crate) goodbye: Option<(u16, String)>,
    /// What it answered to pings.
    pub(crate) pongs: Vec<Vec<u8>>,
}

/// An answer that opens nothing.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Refusal {
    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, &self.body["code"]), (status, &code.into()));
    }
}

/// The headers in the beginning of an answer.
fn headers_of(head: &str) -> HeaderMap {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        })
        .collect()
}

impl Socket {
    /// Asks for the WebSocket at `path`.
    pub(crate) fn ask(base: &str, path: &str, headers: &[(&str, &str)]) -> Result<Self, Refusal> {
        let host = base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        // Nothing in these tests keeps it waiting for so long.
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(b"\r\n").unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        described::check("GET", path, status, &headers_of(&head), b"");
        if status != 101 {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            let body = serde_json::from_slice(&body).unwrap();
            return Err(Refusal { status, body });
        }
        // The example of RFC 6455, section 1.3.
        assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="));
        assert!(head.contains("\r\nx-request-id: "), "{head}");
        Ok(Self {
            stream,
            goodbye: None,
            pongs: Vec::new(),
        })
    }

    /// Opens the WebSocket at `path`.
    #[track_caller]
    pub(crate) fn open(base: &str, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::ask(base, path, headers).unwrap_or_else(|refusal| panic!("{path}: {refusal:?}"))
    }

    /// The next frame; `None` at the end of the connection.
    pub(crate) fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut bytes = |count: usize| {
            let mut bytes = vec![0; count];
            match self.stream.read_exact(&mut bytes) {
                Ok(()) => Some(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing comes"),
                Err(_ended) => None,
            }
        };
        let head = bytes(2)?;
        assert_eq!(head[0] & 0xf0, 0x80, "a whole frame");
        assert_eq!(head[1] & 0x80, 0, "a server masks nothing");
        let length = match head[1] {
            126 => bytes(2)?
                .iter()
                .fold(0, |all, byte| (all << 8) | usize::from(*byte)),
            127 => bytes(8)?
                .iter()
                .fold(0, |all, byte| (all << 8) | usize::from(*byte)),
            short => usize::from(short),
        };
        Some((head[0] & 0x0f, bytes(length)?))
    }

    /// The next message, past pings; `None` at the end.
    pub(crate) fn message(&mut self) -> Option<Value> {
        loop {
            let (kind, payload) = self.frame()?;
            match kind {
                TEXT => return Some(serde_json::from_slice(&payload).unwrap()),
                PING => {}
                PONG => self.pongs.push(payload),
                CLOSE => {
                    let why = String::from_utf8(payload[2..].to_vec()).unwrap();
                    let code = u16::from_be_bytes([payload[0], payload[1]]);
                    self.goodbye = Some((code, why));
                    assert_eq!(self.frame(), None, "nothing follows");
                    return None;
                }
                other => panic!("a frame of the kind {other}"),
            }
        }
    }

    /// The next `count` messages that are no positions.
    #[track_caller]
    pub(crate) fn take(&mut self, count: usize) -> Vec<Value> {
        let mut taken = Vec::new();
        while taken.len() < count {
            let message = self
                .message()
                .unwrap_or_else(|| panic!("ends after {taken:?}: {:?}", self.goodbye));
            if message["type"] != "position" {
                taken.push(message);
            }
        }
        taken
    }

    /// Reads on until the end; how the server said goodbye.
    #[track_caller]
    pub(crate) fn end(&mut self) -> (u16, String) {
        while self.message().is_some() {}
        self.goodbye.clone().unwrap()
    }

    /// Sends these bytes, whatever they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a frame.
    pub(crate) fn say(&mut self, kind: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | kind];
        match u8::try_from(payload.len()) {
            Ok(length) if length < 126 => frame.push(0x80 | length),
            _ => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
            }
        }
        // A mask that changes nothing.
        frame.extend([0; 4]);
        frame.extend(payload);
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.say(TEXT, text.as_bytes());
    }

    pub(crate) fn close(&mut self, code: u16) {
        self.say(CLOSE, &code.to_be_bytes());
    }
}

/// The numbers of messages.
pub(crate) fn numbers(messages: &[Value]) -> Vec<i64> {
    let numbers = messages.iter().map(|message| message["id"].as_i64());
    numbers.collect::<Option<_>>().unwrap()
}
