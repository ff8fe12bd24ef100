use super::pieces::{Heading, Piece};
use super::vocabulary::{self, Modality};

/// A piece up to so many characters is not too long.
const HANDY: usize = 120;

/// How much a piece says about what is to be done
/// (docs/workspaces.md#short-form).
pub(super) fn weight(piece: &Piece, words: &[String], heading: Option<&Heading>) -> i32 {
    let tone = match vocabulary::modality(&piece.text, words) {
        Modality::Required => 5,
        Modality::Recommended => 3,
        Modality::Descriptive => 0,
    };
    let code = if names_code(&piece.text) { 2 } else { 0 };
    let item = i32::from(piece.is_item);
    let place = i32::from(heading.is_some_and(|heading| heading.is_favoured));
    let surplus = piece.length.saturating_sub(HANDY) / HANDY;
    let length = i32::try_from(surplus.min(6)).unwrap_or(6);
    let left_out = if piece.is_left_out { 4 } else { 0 };
    tone + code + item + place - length - left_out
}

/// Whether a text has code in it, or names a file, a path or an identifier.
fn names_code(text: &str) -> bool {
    text.contains('`') || text.split_whitespace().any(is_name)
}

fn is_name(word: &str) -> bool {
    let word = word
        .trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_'))
        .trim_end_matches('.');
    let inner = |mark: char| {
        word.split_once(mark).is_some_and(|(before, after)| {
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
        })
    };
    let is_file = || {
        word.rsplit_once('.').is_some_and(|(name, extension)| {
            !name.is_empty()
                && (1..=4).contains(&extension.len())
                && extension.bytes().all(|b| b.is_ascii_lowercase())
        })
    };
    word.contains("::") || inner('/') || inner('_') || is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_told_from_words() {
        for text in [
            "run `x`",
            "see src/lib.rs",
            "in main.rs.",
            "a::b",
            "snake_case here",
        ] {
            assert!(names_code(text), "{text}");
        }
        for text in [
            "a word.",
            "one - two",
            "v1.2",
            "really?",
            "a / b",
            "_emphasis_",
        ] {
            assert!(!names_code(text), "{text}");
        }
    }
}
