//! Messages on a stream: one JSON document a line.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream as StdStream;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The longest message. A prompt, an environment and secrets fit several times.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;

fn encoded(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Sends a message from a thread that may block.
pub(crate) fn send_blocking(stream: &mut StdStream, message: &impl Serialize) -> io::Result<()> {
    stream.write_all(&encoded(message)?)
}

/// The next message, for a thread that may block; `None` at the end. Reads not
/// one byte further, since the rest is read in another way.
pub(crate) fn receive_blocking<T: DeserializeOwned>(
    stream: &mut StdStream,
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let mut peeked = [0; 64 * 1024];
    loop {
        let available = peek(stream, &mut peeked)?;
        if available == 0 {
            return Ok(None);
        }
        let end = peeked[..available].iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(available, |end| end + 1);
        stream.read_exact(&mut peeked[..taken])?;
        line.extend_from_slice(&peeked[..taken]);
        if end.is_some() {
            return Ok(Some(serde_json::from_slice(&line)?));
        }
        if line.len() as u64 > MAX_MESSAGE {
            return Err(too_long());
        }
    }
}

fn peek(stream: &StdStream, buffer: &mut [u8]) -> io::Result<usize> {
    use std::os::fd::AsRawFd;

    use nix::sys::socket::{MsgFlags, recv};
    loop {
        match recv(stream.as_raw_fd(), buffer, MsgFlags::MSG_PEEK) {
            Ok(len) => return Ok(len),
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a message is too long")
}

/// Receives messages.
#[derive(Debug)]
pub(crate) struct Receiver {
    stream: BufReader<OwnedReadHalf>,
    line: Vec<u8>,
}

impl Receiver {
    /// The next message; `None` at the end. One that this version does not know
    /// is passed over: the other end may be of a later one. Loses nothing when it
    /// is dropped before it is done.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            let room = MAX_MESSAGE.saturating_sub(self.line.len() as u64);
            let mut stream = (&mut self.stream).take(room);
            stream.read_until(b'\n', &mut self.line).await?;
            if self.line.last() != Some(&b'\n') {
                return match self.line.len() as u64 >= MAX_MESSAGE {
                    true => Err(too_long()),
                    false => Ok(None),
                };
            }
            let message = serde_json::from_slice(&self.line);
            self.line.clear();
            if let Ok(message) = message {
                return Ok(Some(message));
            }
        }
    }
}

/// Sends messages.
#[derive(Debug)]
pub(crate) struct Sender(OwnedWriteHalf);

impl Sender {
    pub(crate) async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.0.write_all(&encoded(message)?).await
    }
}

/// Both directions of a stream.
pub(crate) fn halves(stream: UnixStream) -> (Receiver, Sender) {
    let (read, write) = stream.into_split();
    let receiver = Receiver {
        stream: BufReader::new(read),
        line: Vec::new(),
    };
    (receiver, Sender(write))
}
