/// A version has at most so many bytes.
const LONGEST: usize = 64;

/// The version in what a program prints when it is asked for it, such as `2.1.330` in
/// `2.1.330 (Claude Code)`: the first word that begins with two numbers.
#[must_use]
pub fn version_in(output: &str) -> Option<&str> {
    output.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let version = word[..end].trim_end_matches(['.', '-']);
        let (major, rest) = version.split_once('.')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let begins = rest.bytes().next().is_some_and(|it| it.is_ascii_digit());
        (is_number(major) && begins && version.len() <= LONGEST).then_some(version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_programs_print() {
        for (output, version) in [
            ("2.1.330 (Claude Code)\n", "2.1.330"),
            ("codex-cli 0.169.0\n", "0.169.0"),
            ("0.61.0-preview.1\n", "0.61.0-preview.1"),
            ("warning: an old node\nv1.18.33.\n", "1.18.33"),
            ("2025.09.18-7ae6800", "2025.09.18-7ae6800"),
        ] {
            assert_eq!(version_in(output), Some(version), "{output:?}");
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        let long = format!("1.{}", "0".repeat(LONGEST));
        for output in ["", "no version", "7", "a.b.c", ".5", "1.x", long.as_str()] {
            assert_eq!(version_in(output), None, "{output:?}");
        }
    }
}
