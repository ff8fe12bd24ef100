/// Which of its two streams a child wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Removes from output what must not be stored, before it reaches the log.
pub trait Scrub: Send {
    /// Appends to `clean` what of `chunk` may be stored. What may be the
    /// beginning of something to remove can be held back until more comes.
    fn scrub(&mut self, source: OutputSource, chunk: &[u8], clean: &mut Vec<u8>);

    /// Appends to `clean` what was held back; no more comes from either
    /// stream.
    fn finish(&mut self, clean: &mut Vec<u8>);
}
