//! Finds private keys in the form of PEM, wherever they begin.

use std::io::{self, Read};

const BEGIN: &[u8] = b"-----BEGIN ";
const HYPHENS: usize = 5;
const ENDINGS: [&[u8]; 2] = [b"PRIVATE KEY", b"PRIVATE KEY BLOCK"];
/// What follows `BEGIN` is looked at up to so many bytes.
const LABEL: usize = 64;
/// A first line that a part of a file ends in is seen whole in the next part.
const OVERLAP: usize = BEGIN.len() + LABEL;
const PART: usize = 256 * 1024;

/// True for the first line of a private key.
pub(crate) fn holds_private_key(bytes: &[u8]) -> bool {
    // One of five hyphens lies at each fifth byte.
    let mut at = HYPHENS - 1;
    while at < bytes.len() {
        if bytes[at] == b'-' {
            let first = at + 1 - HYPHENS;
            if (first..=at).any(|start| begins_private_key(&bytes[start..])) {
                return true;
            }
        }
        at += HYPHENS;
    }
    false
}

fn begins_private_key(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(BEGIN) else {
        return false;
    };
    let rest = &rest[..rest.len().min(LABEL)];
    let label = rest.split(|&b| b == b'-' || b == b'\n').next();
    label.is_some_and(|label| ENDINGS.iter().any(|ending| label.ends_with(ending)))
}

/// Reads all of a file in parts, and tells how much that was and whether a private key
/// is in it.
pub(crate) fn find_private_key(mut from: impl Read) -> io::Result<(u64, bool)> {
    let mut buffer = vec![0; OVERLAP + PART];
    let (mut kept, mut size) = (0, 0);
    loop {
        let read = match from.read(&mut buffer[kept..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            return Ok((size, false));
        }
        size += read as u64;
        let end = kept + read;
        if holds_private_key(&buffer[..end]) {
            return Ok((size, true));
        }
        kept = end.min(OVERLAP);
        buffer.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_keys_are_found_by_their_first_line() {
        for text in [
            "-----BEGIN PRIVATE KEY-----\n",
            "x = \"\"\"-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "--------BEGIN EC PRIVATE KEY-----",
            "-----BEGIN -----BEGIN PRIVATE KEY-----",
        ] {
            assert!(holds_private_key(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "----BEGIN PRIVATE KEY-----",
            "-----BEGIN X\nPRIVATE KEY-----",
        ] {
            assert!(!holds_private_key(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn private_keys_are_found_wherever_they_begin() {
        let key = b"-----BEGIN PRIVATE KEY-----\n";
        for at in (0..20).chain(PART - 100..PART + 200) {
            let mut text = vec![b'x'; at];
            text.extend_from_slice(key);
            assert!(find_private_key(&text[..]).unwrap().1, "{at}");
            let (size, is_found) = find_private_key(&text[..at + 20]).unwrap();
            assert_eq!((size, is_found), (at as u64 + 20, false));
        }
    }
}
