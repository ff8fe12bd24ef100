//! What is not committed, whoever asks for it.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Component, Path};

use crate::folder::{Folder, Kind};

/// The largest file that is committed, in bytes.
pub const MAX_FILE: u64 = 50 * 1024 * 1024;
/// So much of a file is searched for a private key, in bytes.
pub(crate) const SEARCHED: u64 = 64 * 1024;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its name is one of files that hold secrets.
    SecretName,
    /// It holds a private key.
    PrivateKey,
    /// Larger than [`MAX_FILE`].
    TooLarge,
    /// A repository in the repository, or a submodule that is new.
    NestedRepository,
    /// A part of its path could be taken for `.git`.
    GitFolder,
    /// A pipe, a socket or a device.
    SpecialFile,
    /// It has folders in folders, hundreds of levels deep.
    TooDeep,
    /// It cannot be read.
    Unreadable,
}

impl Reason {
    /// The reason in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SecretName => "its name is one of files that hold secrets",
            Self::PrivateKey => "it holds a private key",
            Self::TooLarge => "it is larger than 50 MiB",
            Self::NestedRepository => "it is a repository of its own",
            Self::GitFolder => "a part of its path could be taken for `.git`",
            Self::SpecialFile => "it is no regular file",
            Self::TooDeep => "its folders lie too deep in each other",
            Self::Unreadable => "it cannot be read",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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

/// Why a file is refused by what it is or holds.
pub(crate) fn by_content(folder: &Folder, path: &Path) -> Option<Reason> {
    look(folder, path).unwrap_or(Some(Reason::Unreadable))
}

fn look(folder: &Folder, path: &Path) -> io::Result<Option<Reason>> {
    let parent = folder.below(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or_default();
    let Some(stat) = parent.stat_of(name)? else {
        return Ok(Some(Reason::Unreadable));
    };
    match Kind::of(&stat) {
        Kind::Special => return Ok(Some(Reason::SpecialFile)),
        Kind::Folder => return Ok(Some(Reason::NestedRepository)),
        Kind::Link => return Ok(None),
        Kind::File => {}
    }
    if stat.st_size.unsigned_abs() > MAX_FILE {
        return Ok(Some(Reason::TooLarge));
    }
    let Some(file) = parent.open_file(name)? else {
        return Ok(Some(Reason::Unreadable));
    };
    let mut start = Vec::new();
    file.take(SEARCHED).read_to_end(&mut start)?;
    Ok(holds_private_key(&start).then_some(Reason::PrivateKey))
}

/// True for the first line of a private key in the form of PEM.
pub(crate) fn holds_private_key(bytes: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"PRIVATE KEY";
    bytes.contains(&b'-')
        && bytes.windows(BEGIN.len()).enumerate().any(|(at, window)| {
            let rest = &bytes[at + BEGIN.len().min(bytes.len() - at)..];
            let label = rest.split(|&b| b == b'-' || b == b'\n').next();
            window == BEGIN
                && label.is_some_and(|label| {
                    label.ends_with(END) || label.ends_with(b"PRIVATE KEY BLOCK")
                })
        })
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

    #[test]
    fn private_keys_are_found_by_their_first_line() {
        for text in [
            "-----BEGIN PRIVATE KEY-----\n",
            "x = \"\"\"-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        ] {
            assert!(holds_private_key(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN ",
            "PRIVATE KEY-----",
        ] {
            assert!(!holds_private_key(text.as_bytes()), "{text}");
        }
    }
}
