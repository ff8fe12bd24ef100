//! The tree that the tasks work on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use walkdir::{DirEntry, WalkDir};

/// Directories that hold nothing a person wrote.
const NOT_SOURCES: [&str; 5] = [".git", "target", "data", "bench-results", "node_modules"];

/// A checked out repository.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository this program belongs to.
    pub(crate) fn own() -> Self {
        // Cargo sets it for what it runs. What it was at build time may be outdated: cargo does not
        // build again when a repository moves together with its target directory.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        Self::at(package.parent().unwrap_or(&package))
    }

    /// The repository whose top directory is `root`.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The content of the file at `path` from the root.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = self.root.join(path);
        fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
    }

    /// Every file and directory of the repository, as paths from the root, in order.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>> {
        WalkDir::new(&self.root)
            .min_depth(1)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| !is_outside(entry))
            .map(|entry| {
                let entry = entry.context("failed to walk the repository")?;
                Ok(entry.path().strip_prefix(&self.root)?.to_owned())
            })
            .collect()
    }

    /// Every file whose name ends in `.` and one of `extensions`, as paths from the root.
    pub(crate) fn files(&self, extensions: &[&str]) -> Result<Vec<PathBuf>> {
        let has_extension = |path: &PathBuf| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| extensions.contains(&extension))
                && self.root.join(path).is_file()
        };
        Ok(self.paths()?.into_iter().filter(has_extension).collect())
    }
}

fn is_outside(entry: &DirEntry) -> bool {
    entry.depth() == 1
        && entry
            .file_name()
            .to_str()
            .is_some_and(|name| NOT_SOURCES.contains(&name))
}
