use crate::process::{OutputSource, Scrub};

/// What stands in the log in the place of a credential.
const REDACTED: &[u8] = b"***REDACTED***";

/// Removes given credentials from the output of a run, also where one comes
/// in several pieces.
#[derive(Default)]
pub(crate) struct CredentialScrubber {
    credentials: Vec<Vec<u8>>,
    held: [Vec<u8>; 2],
}

impl CredentialScrubber {
    /// Removes these texts; an empty one is none.
    pub(crate) fn new<'a>(credentials: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let credentials = credentials
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        Self {
            credentials,
            held: Default::default(),
        }
    }
}

impl Scrub for CredentialScrubber {
    fn scrub(&mut self, source: OutputSource, chunk: &[u8], clean: &mut Vec<u8>) {
        let held = match source {
            OutputSource::Stdout => &mut self.held[0],
            OutputSource::Stderr => &mut self.held[1],
        };
        held.extend_from_slice(chunk);
        let mut at = 0;
        while at < held.len() {
            let rest = &held[at..];
            if let Some(found) = self.credentials.iter().find(|text| rest.starts_with(text)) {
                clean.extend_from_slice(REDACTED);
                at += found.len();
            } else if self.credentials.iter().any(|text| text.starts_with(rest)) {
                break;
            } else {
                clean.push(rest[0]);
                at += 1;
            }
        }
        held.drain(..at);
    }

    fn finish(&mut self, clean: &mut Vec<u8>) {
        for held in &mut self.held {
            clean.append(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &[u8] = b"wfr_abc_secret";

    fn scrubbed(pieces: &[(OutputSource, &[u8])]) -> String {
        let mut scrubber = CredentialScrubber::new([TOKEN, b"wfr_abc_other", b""]);
        let mut clean = Vec::new();
        for (source, piece) in pieces {
            scrubber.scrub(*source, piece, &mut clean);
        }
        scrubber.finish(&mut clean);
        String::from_utf8(clean).unwrap()
    }

    #[test]
    fn a_credential_is_removed_wherever_it_is_cut() {
        let text = [b"key=wwfr_wfr_abc_".as_slice(), TOKEN, b"; wfr_abc_other!"].concat();
        for cut in 0..=text.len() {
            let (one, other) = text.split_at(cut);
            let pieces = [(OutputSource::Stdout, one), (OutputSource::Stdout, other)];
            let clean = scrubbed(&pieces);
            assert_eq!(
                clean, "key=wwfr_wfr_abc_***REDACTED***; ***REDACTED***!",
                "{cut}"
            );
        }
        let bytes: Vec<_> = text
            .chunks(1)
            .map(|byte| (OutputSource::Stderr, byte))
            .collect();
        assert!(!scrubbed(&bytes).contains("secret"));
    }

    #[test]
    fn the_two_streams_do_not_make_up_a_credential_nor_hide_one() {
        let (one, other) = TOKEN.split_at(5);
        let pieces = [
            (OutputSource::Stdout, one),
            (OutputSource::Stderr, b"wfr_"),
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
