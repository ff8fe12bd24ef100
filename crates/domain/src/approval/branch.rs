//! The names that a plan may give to a ticket and its branches. They end up in calls of a
//! program, so that nothing is admitted here that the program could take for an option or an
//! expression.

use core::fmt;

/// How the branch of a ticket must begin.
pub const ALLOWED_PREFIXES: [&str; 6] = [
    "feature/",
    "bugfix/",
    "hotfix/",
    "chore/",
    "fix/",
    "refactor/",
];

/// A branch is at most so many bytes long: its name becomes the name of a file.
const MAX_BRANCH: usize = 200;

/// Why a text is no name of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchFault {
    /// Nothing at all.
    Empty,
    /// Longer than a branch may be.
    TooLong,
    /// Begins with a hyphen, like an option.
    Option,
    /// Holds what git does not allow in a name.
    Malformed,
    /// Is no branch of work: see [`ALLOWED_PREFIXES`].
    Prefix,
}

impl fmt::Display for BranchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("must not be empty"),
            Self::TooLong => write!(f, "must be at most {MAX_BRANCH} bytes long"),
            Self::Option => f.write_str("must not begin with `-`"),
            Self::Malformed => f.write_str("must be a valid branch name"),
            Self::Prefix => {
                f.write_str("must begin with one of ")?;
                for (n, prefix) in ALLOWED_PREFIXES.iter().enumerate() {
                    let separator = if n == 0 { "" } else { ", " };
                    write!(f, "{separator}{prefix}")?;
                }
                Ok(())
            }
        }
    }
}

/// True for characters that show nothing, or turn what stands beside them: the board
/// would read another name than git.
const fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Admits what `git check-ref-format --branch` admits, without its shorthands
/// such as `@{-1}`, and without what nobody sees.
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_branch(name: &str) -> Result<(), BranchFault> {
    if name.is_empty() {
        return Err(BranchFault::Empty);
    }
    if name.len() > MAX_BRANCH {
        return Err(BranchFault::TooLong);
    }
    if name.starts_with('-') {
        return Err(BranchFault::Option);
    }
    let forbidden = |c: char| {
        let marks = matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
        c.is_control() || c.is_whitespace() || marks || is_unseen(c)
    };
    let malformed = name == "@"
        || name == "HEAD"
        || name.ends_with('.')
        || name.contains("..")
        || name.contains("@{")
        || name.contains(forbidden)
        || name
            .split('/')
            .any(|part| part.is_empty() || part.starts_with('.') || part.ends_with(".lock"));
    if malformed {
        Err(BranchFault::Malformed)
    } else {
        Ok(())
    }
}

/// Admits the branch of a ticket: a valid name with one of the
/// [`ALLOWED_PREFIXES`].
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_work_branch(name: &str) -> Result<(), BranchFault> {
    check_branch(name)?;
    if ALLOWED_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
    {
        Ok(())
    } else {
        Err(BranchFault::Prefix)
    }
}

/// True for what is taken for the key of a ticket in a text: `^[A-Z][A-Z0-9]{1,15}-[0-9]{1,9}$`.
pub fn is_ticket_key(text: &str) -> bool {
    text.find('-').is_some_and(|letters| letters > 1) && may_name_ticket(text)
}

/// True for what names a ticket where nothing else can be meant: such a key, or an identifier of a
/// company whose prefix is one letter.
pub fn may_name_ticket(text: &str) -> bool {
    let Some((project, number)) = text.split_once('-') else {
        return false;
    };
    let mut letters = project.bytes();
    letters.next().is_some_and(|b| b.is_ascii_uppercase())
        && (1..=16).contains(&project.len())
        && letters.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && (1..=9).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}
