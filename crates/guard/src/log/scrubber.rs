use workforce_scrub::{Patterns, StreamScrubber};

use super::source::OutputSource;

/// Removes the secrets of a run from its output, also when one comes in several
/// pieces. Each source is a text of its own.
pub(crate) struct OutputScrubber {
    stdout: StreamScrubber,
    stderr: StreamScrubber,
    usage_file: StreamScrubber,
}

impl OutputScrubber {
    /// Removes these values.
    pub(crate) fn of(secrets: &[String]) -> Self {
        let patterns = Patterns::of(secrets.iter().map(String::as_str));
        Self {
            stdout: patterns.stream(),
            stderr: patterns.stream(),
            usage_file: patterns.stream(),
        }
    }

    /// Appends to `clean` what of `chunk` may be stored. What may be the
    /// beginning of something to remove is held back until more comes.
    pub(crate) fn scrub(&mut self, source: OutputSource, chunk: &[u8], clean: &mut Vec<u8>) {
        self.stream(source).push(chunk, clean);
    }

    /// Appends to `clean` what was held back of a stream, of which no more comes.
    pub(crate) fn finish(&mut self, source: OutputSource, clean: &mut Vec<u8>) {
        self.stream(source).finish(clean);
    }

    const fn stream(&mut self, source: OutputSource) -> &mut StreamScrubber {
        match source {
            OutputSource::Stdout => &mut self.stdout,
            OutputSource::Stderr => &mut self.stderr,
            OutputSource::UsageFile => &mut self.usage_file,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "wfr_abc_secret";

    fn scrubbed(pieces: &[(OutputSource, &[u8])]) -> String {
        let mut scrubber =
            OutputScrubber::of(&[TOKEN.into(), "wfr_abc_other".into(), String::new()]);
        let mut clean = Vec::new();
        for (source, piece) in pieces {
            scrubber.scrub(*source, piece, &mut clean);
        }
        scrubber.finish(OutputSource::Stdout, &mut clean);
        scrubber.finish(OutputSource::Stderr, &mut clean);
        String::from_utf8(clean).unwrap()
    }

    #[test]
    fn the_two_streams_do_not_make_up_a_credential_nor_hide_one() {
        let (one, other) = TOKEN.as_bytes().split_at(5);
        let pieces = [
            (OutputSource::Stdout, one),
            (OutputSource::Stderr, &b"wfr_"[..]),
            (OutputSource::Stdout, other),
        ];
        assert_eq!(scrubbed(&pieces), "***REDACTED***wfr_");
    }

    #[test]
    fn what_only_began_like_one_is_kept_to_the_end() {
        let pieces = [(OutputSource::Stdout, &b"end wfr_abc"[..])];
        assert_eq!(scrubbed(&pieces), "end wfr_abc");
    }
}
