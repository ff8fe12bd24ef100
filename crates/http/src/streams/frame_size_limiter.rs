/// The longest head of a WebSocket frame: two bytes, and eight of its length.
const MAX_HEAD: usize = 10;

/// Follows the frames that a client sends by what their heads announce, so that
/// one above the limit is refused before any of it is gathered.
#[derive(Debug)]
pub(super) struct FrameSizeLimiter {
    limit: u64,
    /// What is known of the next head.
    head: Vec<u8>,
    /// Bytes of the current frame that are still to come.
    rest: u64,
}

impl FrameSizeLimiter {
    /// Frames of at most `limit` bytes each.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            head: Vec::with_capacity(MAX_HEAD),
            rest: 0,
        }
    }

    /// Takes what came next; false when a frame above the limit begins in it.
    pub(super) fn admits(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((&first, others)) = bytes.split_first() {
            if self.rest > 0 {
                let within =
                    usize::try_from(self.rest).map_or(bytes.len(), |it| it.min(bytes.len()));
                self.rest -= within as u64;
                bytes = &bytes[within..];
                continue;
            }
            self.head.push(first);
            bytes = others;
            let Some((length, is_masked)) = announced(&self.head) else {
                continue;
            };
            if length > self.limit {
                return false;
            }
            self.rest = length + if is_masked { 4 } else { 0 };
            self.head.clear();
        }
        true
    }
}

/// How many bytes a head announces, and whether they are masked; `None` while
/// it is not whole (RFC 6455 section 5.2).
fn announced(head: &[u8]) -> Option<(u64, bool)> {
    let second = *head.get(1)?;
    let length = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(head.get(2..4)?.try_into().ok()?)),
        127 => u64::from_be_bytes(head.get(2..MAX_HEAD)?.try_into().ok()?),
        short => u64::from(short),
    };
    Some((length, second & 0x80 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A masked frame of so many bytes, its length spelt in the shortest form.
    fn frame(length: usize) -> Vec<u8> {
        let mut frame = vec![0x82];
        match length {
            0..126 => frame.push(0x80 | u8::try_from(length).unwrap()),
            126..0x1_0000 => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(vec![0xff; 4 + length]);
        frame
    }

    #[test]
    fn frames_up_to_the_limit_pass_however_they_are_cut() {
        let frames: Vec<u8> = [0, 1, 125, 126, 4096, 7].map(frame).concat();
        for size in [1, 2, 3, 7, 100, 5000, frames.len()] {
            let mut inbound = FrameSizeLimiter::new(4096);
            for piece in frames.chunks(size) {
                assert!(inbound.admits(piece), "{size}");
            }
            assert_eq!((inbound.rest, inbound.head.len()), (0, 0));
        }
    }

    #[test]
    fn a_frame_above_the_limit_is_refused_by_its_head() {
        for length in [4097, 0x1_0000, 1 << 20] {
            let head = &frame(length)[..if length < 0x1_0000 { 4 } else { 10 }];
            let mut inbound = FrameSizeLimiter::new(4096);
            assert!(inbound.admits(&frame(4096)));
            let (last, before) = head.split_last().unwrap();
            assert!(before.iter().all(|byte| inbound.admits(&[*byte])));
            assert!(!inbound.admits(&[*last]), "{length}");
        }
        assert!(!FrameSizeLimiter::new(4096).admits(&[0x89, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0]));
    }
}
