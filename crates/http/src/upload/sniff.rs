//! What bytes look like, whatever their sender says about them
//! (docs/issues.md#attachments).

use std::str::from_utf8;

use workforce_domain::text::MediaType;

/// So many bytes at the beginning tell most kinds.
const HEAD: usize = 8 * 1024;

/// Looks at bytes as they pass.
#[derive(Debug, Default)]
pub(super) struct Sniffer {
    head: Vec<u8>,
    text: TextScan,
}

impl Sniffer {
    pub(super) fn see(&mut self, bytes: &[u8]) {
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.text.see(bytes);
    }

    /// What all of the bytes seen are.
    pub(super) fn conclude(self) -> MediaType {
        let is_text = self.text.is_text();
        let known = infer::get(&self.head).map(|kind| kind.mime_type());
        match known {
            // Scripts of shells and the like are text to whoever looks at them.
            Some(name) if name.starts_with("text/") && is_text => text_kind(&self.head),
            Some(name) => MediaType::parse(name).unwrap_or_else(|_| MediaType::opaque()),
            None if is_text => text_kind(&self.head),
            None => MediaType::opaque(),
        }
    }
}

/// Which kind of text begins like this: markup of some kind, or plain text.
fn text_kind(head: &[u8]) -> MediaType {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start().to_ascii_lowercase();
    let is_markup = match head.as_slice() {
        [b'<', second, ..] => second.is_ascii_alphabetic() || b"!?/".contains(second),
        _ => false,
    };
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    let name = if !is_markup {
        MediaType::PLAIN_TEXT
    } else if has(b"<svg") {
        "image/svg+xml"
    } else if head.starts_with(b"<?xml") && !has(b"<html") {
        "text/xml"
    } else {
        "text/html"
    };
    MediaType::parse(name).unwrap_or_else(|_| MediaType::opaque())
}

/// Finds out whether bytes are UTF-8 text that a person can read, piece by
/// piece.
#[derive(Debug)]
struct TextScan {
    is_text: bool,
    /// The beginning of a character that the next piece goes on with.
    begun: Vec<u8>,
}

impl Default for TextScan {
    fn default() -> Self {
        Self {
            is_text: true,
            begun: Vec::new(),
        }
    }
}

impl TextScan {
    fn see(&mut self, mut bytes: &[u8]) {
        if !self.is_text {
            return;
        }
        while !self.begun.is_empty()
            && let Some((first, rest)) = bytes.split_first()
        {
            self.begun.push(*first);
            bytes = rest;
            match from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => self.is_text = false,
            }
            if !self.is_text {
                return;
            }
        }
        self.is_text = !bytes.iter().copied().any(is_binary);
        if let Err(error) = from_utf8(bytes) {
            self.is_text &= error.error_len().is_none();
            self.begun = bytes[error.valid_up_to()..].to_vec();
        }
    }

    const fn is_text(&self) -> bool {
        self.is_text && self.begun.is_empty()
    }
}

/// Control characters that text does not have. Escape begins the colours of a
/// terminal, which logs do have.
const fn is_binary(byte: u8) -> bool {
    byte == 0x7f || (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_in_pieces(bytes: &[u8], size: usize) -> String {
        let mut sniffer = Sniffer::default();
        for piece in bytes.chunks(size) {
            sniffer.see(piece);
        }
        sniffer.conclude().into()
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        for size in [1, 2, 3, 7, 100_000] {
            assert_eq!(kind_in_pieces(bytes, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn signatures_tell() {
        check(b"\x89PNG\r\n\x1a\n rest", "image/png");
        check(b"\xff\xd8\xff\xe0 rest", "image/jpeg");
        check(b"GIF89a rest", "image/gif");
        check(b"RIFF\x10\0\0\0WEBPVP8 rest", "image/webp");
        check(b"%PDF-1.7 rest", "application/pdf");
        check(b"PK\x03\x04\x14\0 rest", "application/zip");
    }

    #[test]
    fn text_is_utf8_without_control_characters_to_its_end() {
        check(
            "caf\u{e9} \u{1f980}\r\n\tx \u{1b}[31mred".as_bytes(),
            "text/plain",
        );
        check(b"\xef\xbb\xbfa,b\n1,2\n", "text/plain");
        check(b"# Title\n\n* point", "text/plain");
        check(b"#!/bin/sh\necho", "text/plain");
        check(b"1 < 2 and 2 <3", "text/plain");
        check(b"cut \xf0\x9f\xa6", "application/octet-stream");
        check(b"latin \xe9 one", "application/octet-stream");
        check(b"nul\0", "application/octet-stream");
        let mut late = vec![b'a'; 3 * HEAD];
        check(&late, "text/plain");
        late.push(0);
        check(&late, "application/octet-stream");
    }

    #[test]
    fn markup_is_never_plain_text() {
        check(b"<!DOCTYPE html><p>x", "text/html");
        check(b" \n<script>alert(1)</script>", "text/html");
        check(b"<p>x", "text/html");
        check(b"\xef\xbb\xbf<SVG onload=alert(1)>", "image/svg+xml");
        check(b"<?xml version=\"1.0\"?><svg/>", "image/svg+xml");
        check(b"<?xml version=\"1.0\"?><a/>", "text/xml");
        check(b"<!-- x --><html>", "text/html");
    }
}
