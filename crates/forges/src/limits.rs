use std::time::Duration;

/// What bounds the talk with a forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long a request may take, from its connection to the end of its answer.
    pub request: Duration,
    /// How many bytes of an answer are read; a longer one is refused.
    pub answer_bytes: u64,
    /// How often a question is asked, with its first time, when the forge is not there. What
    /// changes something is sent once.
    pub tries: u32,
    /// How long the second try waits, about; each further one waits twice as long.
    pub backoff: Duration,
    /// If a forge wants a longer wait than this, the caller is told instead.
    pub longest_wait: Duration,
    /// How many pages of a list are read.
    pub pages: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(30),
            answer_bytes: 4 << 20,
            tries: 3,
            backoff: Duration::from_millis(300),
            longest_wait: Duration::from_secs(5),
            pages: 20,
        }
    }
}
