//! Settings of a repository, read as text: nothing they say is obeyed.

use std::path::Path;

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::program::{Command, lossy};
use crate::{Git, GitError};

const MAX_CONFIG: usize = 4 * 1024 * 1024;

/// All settings of one file, in its order. Names are in lower case, but for the
/// middle part.
#[derive(Debug)]
pub(crate) struct Config(Vec<(String, String)>);

impl Config {
    /// Reads the settings in the common folder of a repository, without the files
    /// that they include.
    ///
    /// # Errors
    /// [`GitError::Unsupported`] for a file that git does not understand.
    pub(crate) async fn of_repository(git: &Git, folder: &Folder) -> Result<Self, GitError> {
        let text = folder
            .read("config", MAX_CONFIG)
            .tried(|| "read the settings of the repository".to_owned())?
            .unwrap_or_default();
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let scratch: &Path = &git.settings().scratch;
        let listed = Command::new(git, "config", scratch)
            .args(["--file", "-", "--no-includes", "-z", "--list"])
            .input(text)
            .run()
            .await?;
        if listed.code != Some(0) {
            let what = format!("its settings cannot be read: {}", listed.failed("config"));
            return Err(GitError::Unsupported { what });
        }
        let entries = listed
            .stdout
            .split(|&b| b == 0)
            .filter(|entry| !entry.is_empty());
        Ok(Self(
            entries
                .map(|entry| {
                    let entry = lossy(entry);
                    match entry.split_once('\n') {
                        Some((key, value)) => (key.to_owned(), value.to_owned()),
                        // A name alone means yes.
                        None => (entry, "true".to_owned()),
                    }
                })
                .collect(),
        ))
    }

    /// The value that counts if only one may.
    pub(crate) fn last(&self, key: &str) -> Option<&str> {
        self.all(key).last()
    }

    /// All values of a name.
    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn has_key(&self, matches: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|(key, _)| matches(key))
    }

    /// All settings, as name and value.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
