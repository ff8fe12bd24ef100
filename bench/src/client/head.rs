//! The head of an answer, and where its body ends.

use std::ops::Range;

use anyhow::{Context as _, Result, bail};

/// What is needed of the head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) body: Body,
}

/// How one knows where a body ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// It has so many bytes.
    Length(usize),
    /// It comes in pieces that tell their length. Workforce sends none, other servers do.
    Chunks,
}

impl Head {
    pub(super) fn parse(head: &[u8]) -> Result<Self> {
        let head = std::str::from_utf8(head).context("the head of an answer is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .context("an answer has no status")?;
        let mut body = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                let length = value.trim().parse().context("a length is not a number")?;
                body = Some(Body::Length(length));
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                body = Some(Body::Chunks);
            }
        }
        let body = match body {
            Some(body) => body,
            None if status == 204 => Body::Length(0),
            None => bail!("an answer does not say its length"),
        };
        Ok(Self { status, body })
    }
}

/// Once the last chunk of the body that begins at `begin` has arrived, leaves nothing of it but
/// its content and says so. Until then nothing changes.
pub(super) fn join_chunks(received: &mut Vec<u8>, begin: usize) -> Result<bool> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = begin;
    loop {
        let Some(line) = received[at..].windows(2).position(|it| it == b"\r\n") else {
            return Ok(false);
        };
        let text = String::from_utf8_lossy(&received[at..at + line]);
        let digits = text.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16)
            .with_context(|| format!("the length of a chunk is `{digits}`"))?;
        let piece = at + line + 2..at + line + 2 + length;
        if received.len() < piece.end + 2 {
            return Ok(false);
        }
        at = piece.end + 2;
        if length == 0 {
            break;
        }
        pieces.push(piece);
    }
    let mut end = begin;
    for piece in pieces {
        let length = piece.len();
        received.copy_within(piece, end);
        end += length;
    }
    received.truncate(end);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_needed_unless_there_is_no_content() {
        let body = |text: &str| Head::parse(text.as_bytes()).map(|it| it.body);
        let empty = body("HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(empty.unwrap(), Body::Length(0));
        assert!(body("HTTP/1.1 200 OK\r\n\r\n").is_err());
        let chunked = body("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        assert_eq!(chunked.unwrap(), Body::Chunks);
    }

    #[test]
    fn a_chunk_has_a_length() {
        assert!(join_chunks(&mut b"xyz\r\n".to_vec(), 0).is_err());
    }
}
