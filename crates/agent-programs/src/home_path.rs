//! Where a program keeps something of its user.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A path in the folder that a program has in the home of its user.
#[derive(Debug)]
pub struct HomePath {
    /// The variable that names the folder, when it is not the usual one.
    pub folder_variable: Option<&'static str>,
    /// The usual folder, below the home.
    pub folder: &'static str,
    /// The path below the folder.
    pub path: &'static str,
}

impl HomePath {
    /// The whole path, by the environment of the program. An empty variable is none.
    pub fn find<'a>(&self, variable: impl Fn(&str) -> Option<&'a OsStr>) -> Option<PathBuf> {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let named = self.folder_variable.and_then(value).map(OsString::from);
        let usual = || Some(Path::new(value("HOME")?).join(self.folder));
        let folder = named.map(PathBuf::from).or_else(usual)?;
        Some(folder.join(self.path))
    }
}
