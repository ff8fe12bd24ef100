//! Bytes as lines, however they were cut.

/// Puts lines together out of chunks. A line that is too long is dropped while
/// it arrives.
#[derive(Debug)]
pub(crate) struct Lines {
    longest: usize,
    begun: Vec<u8>,
    drops: bool,
}

impl Lines {
    /// Room that is kept for the next line; what a longer one took is given back.
    const KEPT_ROOM: usize = 64 * 1024;

    pub(crate) fn new(longest: usize) -> Self {
        Self {
            longest,
            begun: Vec::new(),
            drops: false,
        }
    }

    /// Hands every line that the bytes end to `read`, without its line break.
    pub(crate) fn push(&mut self, bytes: &[u8], mut read: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.keep(line);
            self.end(&mut read);
            rest = after.get(1..).unwrap_or_default();
        }
        self.keep(rest);
    }

    /// Hands over the last line, if no line break ended it.
    pub(crate) fn finish(&mut self, read: impl FnMut(&[u8])) {
        if !self.begun.is_empty() {
            self.end(read);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.begun.len() + part.len() > self.longest {
            self.drops = true;
            self.begun = Vec::new();
        }
        if !self.drops {
            self.begun.extend_from_slice(part);
        }
    }

    fn end(&mut self, mut read: impl FnMut(&[u8])) {
        if !std::mem::take(&mut self.drops) {
            read(&self.begun);
        }
        self.begun.clear();
        self.begun.shrink_to(Self::KEPT_ROOM);
    }
}

/// The end of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Bytes that are kept at least, once there were as many.
    const KEPT: usize = 16 * 1024;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let begin = bytes.len().saturating_sub(Self::KEPT);
        self.0
            .extend_from_slice(bytes.get(begin..).unwrap_or(bytes));
        if self.0.len() > 2 * Self::KEPT {
            self.0.drain(..self.0.len() - Self::KEPT);
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}
