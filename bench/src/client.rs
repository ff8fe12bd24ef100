//! A lean HTTP/1.1 client for load.
//!
//! It shares the cores with the server that it measures, so every microsecond it spends is missing
//! there. A general client parses every header, allocates per request and keeps a pool; this one
//! sends bytes that were made before, and reads of the answer only its status and its length.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// No answer takes so long; a server that hangs fails the measurement.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection that is kept open.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer, as it lies in the buffer of its [`Client`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// Fails unless the status says success.
    pub(crate) fn require_success(&self) -> Result<()> {
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        let body = String::from_utf8_lossy(self.body);
        bail!("the server answered {}: {body}", self.status)
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).context("failed to connect to the server")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let received = Vec::with_capacity(64 * 1024);
        Ok(Self { stream, received })
    }

    /// Sends a request that [`get`] or [`post`] made, and reads the whole answer.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream
            .write_all(request)
            .context("failed to send a request")?;
        self.received.clear();
        let head_length = loop {
            let searched = self.received.len().saturating_sub(3);
            self.receive()?;
            let end = self.received[searched..]
                .windows(4)
                .position(|it| it == b"\r\n\r\n");
            if let Some(end) = end {
                break searched + end + 4;
            }
        };
        let head = Head::parse(&self.received[..head_length])?;
        while self.received.len() < head_length + head.body_length {
            self.receive()?;
        }
        Ok(Answer {
            status: head.status,
            body: &self.received[head_length..head_length + head.body_length],
        })
    }

    fn receive(&mut self) -> Result<()> {
        let old = self.received.len();
        self.received.resize(old + 16 * 1024, 0);
        let read = self
            .stream
            .read(&mut self.received[old..])
            .context("failed to read an answer")?;
        self.received.truncate(old + read);
        if read == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// What is needed of the head of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    body_length: usize,
}

impl Head {
    fn parse(head: &[u8]) -> Result<Self> {
        let head = std::str::from_utf8(head).context("the head of an answer is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .context("an answer has no status")?;
        let mut body_length = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                body_length = Some(value.trim().parse().context("a length is not a number")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                bail!("the answer comes in chunks, which this client does not read");
            }
        }
        let body_length = match body_length {
            Some(length) => length,
            None if status == 204 => 0,
            None => bail!("an answer does not say its length"),
        };
        Ok(Self {
            status,
            body_length,
        })
    }
}

/// A GET of `path`, by the holder of `key`, or by the board where there is none.
pub(crate) fn get(path: &str, key: Option<&str>) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\n{}\r\n", headers(key)).into_bytes()
}

/// A POST of the JSON text `body` to `path`.
pub(crate) fn post(path: &str, key: Option<&str>, body: &str) -> Vec<u8> {
    sending("POST", path, key, body)
}

fn sending(method: &str, path: &str, key: Option<&str>, body: &str) -> Vec<u8> {
    let headers = headers(key);
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A PATCH of `path` with the JSON text `body`.
pub(crate) fn patch(path: &str, key: Option<&str>, body: &str) -> Vec<u8> {
    sending("PATCH", path, key, body)
}

fn headers(key: Option<&str>) -> String {
    let credential = key.map_or_else(String::new, |key| {
        format!("Authorization: Bearer {key}\r\n")
    });
    format!("Host: 127.0.0.1\r\n{credential}")
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    /// A client whose server reads one request and sends `parts`, one after the other.
    fn answered_with(parts: &'static [&'static str]) -> Result<(u16, String)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert_ne!(stream.read(&mut [0; 1024]).unwrap(), 0);
            for part in parts {
                stream.write_all(part.as_bytes()).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut client = Client::connect(address).unwrap();
        let outcome = client
            .send(&get("/", None))
            .map(|it| (it.status, String::from_utf8_lossy(it.body).into_owned()));
        server.join().unwrap();
        outcome
    }

    #[test]
    fn an_answer_is_read_whole_however_it_is_cut() {
        let answer = answered_with(&[
            "HTTP/1.1 201 Created\r\nContent-Len",
            "gth: 7\r\nx: y\r\n\r",
            "\n{\"a\"",
            ":1}",
        ]);
        assert_eq!(answer.unwrap(), (201, "{\"a\":1}".to_owned()));
    }

    #[test]
    fn an_answer_that_ends_early_is_a_failure() {
        let answer = answered_with(&["HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{}"]);
        let message = answer.unwrap_err().to_string();
        assert_eq!(message, "the server closed the connection");
    }

    #[test]
    fn a_length_is_needed_unless_there_is_no_content() {
        let head = |text: &str| Head::parse(text.as_bytes()).map(|it| (it.status, it.body_length));
        assert_eq!(head("HTTP/1.1 204 No Content\r\n\r\n").unwrap(), (204, 0));
        assert!(head("HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(head("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }

    #[test]
    fn a_request_says_who_asks_and_how_long_its_body_is() {
        assert_eq!(
            String::from_utf8(post("/a", Some("k"), "{}")).unwrap(),
            "POST /a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        );
        let anonymous = String::from_utf8(get("/b", None)).unwrap();
        assert_eq!(anonymous, "GET /b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
}
