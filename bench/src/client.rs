//! A lean HTTP/1.1 client for load.
//!
//! It shares the cores with the server that it measures, so every microsecond it spends is missing
//! there. A general client parses every header, allocates per request and keeps a pool; this one
//! sends bytes that were made before, and reads of the answer only its status and its length.

mod head;
mod refusal;
mod target;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use self::head::{Body, Head};
pub(crate) use self::refusal::Refused;
pub(crate) use self::target::{Caller, Target};

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
        Err(Refused::of(*self).into())
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
        let body = match head.body {
            Body::Length(length) => {
                while self.received.len() < head_length + length {
                    self.receive()?;
                }
                head_length..head_length + length
            }
            Body::Chunks => {
                while !head::join_chunks(&mut self.received, head_length)? {
                    self.receive()?;
                }
                head_length..self.received.len()
            }
        };
        Ok(Answer {
            status: head.status,
            body: &self.received[body],
        })
    }

    /// Waits longer, or less long, for what is asked from now on.
    pub(crate) fn wait_at_most(&self, patience: Duration) -> Result<()> {
        Ok(self.stream.set_read_timeout(Some(patience))?)
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

/// A GET of `path`.
pub(crate) fn get(path: &str, caller: Caller<'_>) -> Vec<u8> {
    without_body("GET", path, caller)
}

/// A DELETE of `path`.
pub(crate) fn delete(path: &str, caller: Caller<'_>) -> Vec<u8> {
    without_body("DELETE", path, caller)
}

/// A POST of the JSON text `body` to `path`.
pub(crate) fn post(path: &str, caller: Caller<'_>, body: &str) -> Vec<u8> {
    with_body("POST", path, caller, body)
}

/// A PATCH of `path` with the JSON text `body`.
pub(crate) fn patch(path: &str, caller: Caller<'_>, body: &str) -> Vec<u8> {
    with_body("PATCH", path, caller, body)
}

/// The method and the path of a request.
pub(crate) fn asked(request: &[u8]) -> String {
    let end = request.windows(10).position(|it| it == b" HTTP/1.1\r");
    String::from_utf8_lossy(&request[..end.unwrap_or(request.len())]).into_owned()
}

fn without_body(method: &str, path: &str, caller: Caller<'_>) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\n{}\r\n", caller.headers()).into_bytes()
}

fn with_body(method: &str, path: &str, caller: Caller<'_>, body: &str) -> Vec<u8> {
    let headers = caller.headers();
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
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
            .send(&get("/", Caller::BOARD))
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
    fn chunks_are_joined_however_they_are_cut() {
        let answer = answered_with(&[
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a",
            "\r\n4;x=y\r\n\":1}\r",
            "\n0\r\n\r",
            "\n",
        ]);
        assert_eq!(answer.unwrap(), (200, "{\"a\":1}".to_owned()));
    }

    #[test]
    fn a_request_is_known_by_its_method_and_path() {
        assert_eq!(asked(&get("/a?b=c", Caller::BOARD)), "GET /a?b=c");
    }

    #[test]
    fn a_request_says_who_asks_and_how_long_its_body_is() {
        assert_eq!(
            String::from_utf8(post("/a", Caller::agent("k"), "{}")).unwrap(),
            "POST /a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        );
        let anonymous = String::from_utf8(get("/b", Caller::BOARD)).unwrap();
        assert_eq!(anonymous, "GET /b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
}
