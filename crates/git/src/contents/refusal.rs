//! What is not committed, whoever asks for it.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Component, Path};

use crate::contents::lfs::LFS;
use crate::folder::{Folder, Kind};

/// The largest file that is committed, in bytes.
pub const MAX_FILE: u64 = 50 * 1024 * 1024;
/// All files that one commit changes have at most so many bytes.
pub const MAX_CHANGED: u64 = 1024 * 1024 * 1024;
/// The largest of the files that git reads whole to know what it does, in bytes.
pub(crate) const MAX_READ_BY_GIT: u64 = 1024 * 1024;

/// Files that git reads wherever they are.
const READ_BY_GIT: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// Names of files that hold secrets, in lower case.
const SECRET_NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "application_default_credentials.json",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
];

/// Endings of such names.
const SECRET_ENDINGS: &[&str] = &[
    ".jks",
    ".kdbx",
    ".key",
    ".keystore",
    ".p12",
    ".pem",
    ".pfx",
    ".ppk",
];

/// Endings of paths in folders of programs that keep credentials there.
const SECRET_PATHS: &[&[&str]] = &[
    &[".aws", "credentials"],
    &[".aws", "config"],
    &[".docker", "config.json"],
    &[".kube", "config"],
    &[".cargo", "credentials"],
    &[".cargo", "credentials.toml"],
    &["gcloud", "credentials.db"],
];

/// What follows `.env` in names of files that show what is to be filled in.
const EXAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".defaults"];

/// Why a path is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its name is one of files that hold secrets.
    SecretName,
    /// It holds a private key.
    PrivateKey,
    /// Larger than [`MAX_FILE`].
    TooLarge,
    /// All changed files together are larger than [`MAX_CHANGED`], and it is among the
    /// largest of them.
    TooMuch,
    /// A repository in the repository, or a submodule that is new.
    NestedRepository,
    /// A part of its path could be taken for `.git`.
    GitFolder,
    /// A pipe, a socket or a device.
    SpecialFile,
    /// It has folders in folders, hundreds of levels deep, or names that are as long
    /// together.
    TooDeep,
    /// A `.gitignore`, `.gitattributes` or `.gitmodules` of more than 1 MiB, or so many
    /// `.gitignore` files that they have more than 16 MiB.
    TooLargeForGit,
    /// It cannot be read.
    Unreadable,
    /// It has this filter, which did not change it.
    Filter(String),
    /// It is a pointer of Git LFS whose object the server cannot upload.
    LfsObject,
    /// Its bytes are no text in this encoding, which its attributes name.
    Encoding(String),
    /// Both sides of a merge changed it, and it has this merge driver.
    MergeDriver(String),
}

impl Reason {
    /// The filter that it has, if that is the reason.
    #[must_use]
    pub fn filter(&self) -> Option<&str> {
        match self {
            Self::Filter(filter) => Some(filter),
            Self::LfsObject => Some(LFS),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filter(filter) => return filtered(filter, f),
            Self::LfsObject => {
                "it is a pointer of Git LFS, and the repository has no object for it that could be \
                 uploaded"
            }
            Self::Encoding(encoding) => {
                return write!(
                    f,
                    "it is no text in {encoding}, its `working-tree-encoding`"
                );
            }
            Self::MergeDriver(driver) => {
                return write!(
                    f,
                    "both sides changed it, and the server does not run its merge driver \
                     `{driver}`: merge the other branch in the worktree"
                );
            }
            Self::SecretName => "its name is one of files that hold secrets",
            Self::PrivateKey => "it holds a private key",
            Self::TooLarge => "it is larger than 50 MiB",
            Self::TooMuch => {
                "it is among the largest of changed files with more than 1 GiB together"
            }
            Self::NestedRepository => "it is a repository of its own",
            Self::GitFolder => "a part of its path could be taken for `.git`",
            Self::SpecialFile => "it is no regular file",
            Self::TooDeep => "its folders lie too deep in each other",
            Self::TooLargeForGit => "it is too large for a file that git reads whole",
            Self::Unreadable => "it cannot be read",
        })
    }
}

/// git-crypt names a filter after each further key.
pub(crate) fn is_git_crypt(filter: &str) -> bool {
    filter
        .strip_prefix("git-crypt")
        .is_some_and(|key| key.is_empty() || key.starts_with('-'))
}

/// Says what to do about a file that a filter has to change first.
fn filtered(filter: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if filter == LFS {
        return f.write_str(
            "it belongs into Git LFS: install `git-lfs` for the server and whoever commits it, \
             and let neither `.lfsconfig` nor settings of the repository name another server",
        );
    }
    write!(
        f,
        "it has the filter `{filter}`, which the server does not run: "
    )?;
    if is_git_crypt(filter) {
        f.write_str("commit it with git where git-crypt is unlocked, ")?;
    }
    f.write_str(
        "leave it to somebody who has the filter, or have `.gitattributes` of the base branch \
         take the filter from it",
    )
}

/// A path that is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The path in the repository; what is no UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

/// Why a path is refused by its name alone.
pub(crate) fn by_name(path: &Path) -> Option<Reason> {
    let parts: Vec<String> = path
        .components()
        .map(|part| match part {
            Component::Normal(part) => part.to_string_lossy().to_lowercase(),
            _ => "..".to_owned(),
        })
        .collect();
    if parts.iter().any(|part| is_git(part)) {
        return Some(Reason::GitFolder);
    }
    let name = parts.last().map_or("", String::as_str);
    let is_environment = name
        .strip_prefix(".env.")
        .is_some_and(|rest| !EXAMPLES.iter().any(|e| format!(".{rest}").ends_with(e)));
    let is_account = name.ends_with(".json")
        && (name.starts_with("service-account") || name.starts_with("service_account"));
    let is_secret = is_environment
        || is_account
        || SECRET_NAMES.contains(&name)
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_PATHS.iter().any(|ending| {
            parts
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .ends_with(ending)
        });
    is_secret.then_some(Reason::SecretName)
}

/// True for what some file system takes for `.git`: NTFS knows short names and
/// leaves dots, blanks and streams out at the end; HFS+ leaves out characters that
/// are not seen.
fn is_git(part: &str) -> bool {
    let seen: String = part.chars().filter(|&c| !is_ignored_by_hfs(c)).collect();
    let name = seen.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches(['.', ' ']);
    matches!(name, ".git" | "git~1" | "..") || seen.contains('\\')
}

const fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Why git must not come upon an entry of a folder, which it would read whole, or wait
/// for. Git follows no link to such a file.
pub(crate) fn by_git_reading(
    folder: &Folder,
    name: &OsStr,
    kind: Kind,
) -> io::Result<Option<Reason>> {
    if !READ_BY_GIT.iter().any(|read| name == *read) {
        return Ok(None);
    }
    match kind {
        Kind::Special => Ok(Some(Reason::SpecialFile)),
        Kind::File => {
            let size = folder.stat_of(name)?.map_or(0, |stat| stat.st_size);
            let is_large = size.unsigned_abs() > MAX_READ_BY_GIT;
            Ok(is_large.then_some(Reason::TooLargeForGit))
        }
        Kind::Folder | Kind::Link => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for path in [
            ".env",
            "a/.ENV",
            ".env.production",
            "server.pem",
            "a/b.KEY",
            "id_rsa",
            ".npmrc",
            "x/.aws/credentials",
            "service-account-prod.json",
            "secrets.yml",
        ] {
            assert_eq!(by_name(Path::new(path)), Some(Reason::SecretName), "{path}");
        }
        for path in [
            ".env.example",
            ".env.local.sample",
            "environment.ts",
            "id_rsa.pub",
            "keys.rs",
            "aws/credentials",
            "secrets.rs",
            ".gitignore",
            ".github/a.yml",
        ] {
            assert_eq!(by_name(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn disguises_of_git_folders() {
        for path in [
            "a/.git/config",
            ".GIT/x",
            "git~1",
            ".git./x",
            ".git /x",
            ".g\u{200c}it/x",
            ".git::$INDEX_ALLOCATION/x",
            "a\\.git\\config",
        ] {
            assert_eq!(by_name(Path::new(path)), Some(Reason::GitFolder), "{path}");
        }
    }
}
