//! The instructions bundle of an agent: the files that tell it how to work.

mod defaults;
mod path;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use defaults::{DefaultFile, default_files};
pub use path::{BundlePath, PathFault};

use crate::string_enum;

/// A file of a bundle has at most so many bytes.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// A bundle has at most so many files.
pub const MAX_FILES: usize = 200;
/// The files of a bundle have at most so many bytes together.
pub const MAX_BUNDLE_BYTES: u64 = 8 * 1024 * 1024;

/// The file of every bundle that an agent is given first, unless it is told
/// otherwise.
pub const DEFAULT_ENTRY: &str = "AGENTS.md";
/// The name under which a legacy prompt template shows among the files.
pub const LEGACY_TEMPLATE: &str = "promptTemplate.legacy.md";

string_enum! {
    /// Where the files of a bundle are kept.
    pub enum BundleMode {
        /// By workforce, in versions.
        Managed = "managed",
        /// In a folder of the server's machine.
        External = "external",
    }
}

/// Where an agent's instructions are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = InstructionsPointer))]
#[serde(rename_all = "camelCase")]
pub struct BundlePointer {
    /// Who keeps the files.
    pub mode: BundleMode,
    /// The folder of an external bundle.
    pub root_path: Option<String>,
    /// The file an agent is given first.
    pub entry_file: BundlePath,
    /// The version of the managed files; 0 for those every agent of its role
    /// begins with.
    pub version: i32,
}

impl Default for BundlePointer {
    /// What an agent has of which nothing was ever said.
    fn default() -> Self {
        Self {
            mode: BundleMode::Managed,
            root_path: None,
            entry_file: BundlePath::default_entry(),
            version: 0,
        }
    }
}

impl BundlePointer {
    /// The folder of an external bundle; `None` for a managed one.
    pub fn external_root(&self) -> Option<&str> {
        match self.mode {
            BundleMode::External => self.root_path.as_deref(),
            BundleMode::Managed => None,
        }
    }
}

/// A file of a managed bundle, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedFile {
    /// Its path within the bundle.
    pub path: BundlePath,
    /// SHA-256 of its content in lower-case hexadecimal.
    pub sha256: String,
    /// Bytes of its content.
    pub size: u64,
}

/// Why a file cannot be added to a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleFault {
    /// The bundle is full.
    #[error("a bundle has at most {MAX_FILES} files")]
    TooManyFiles,
    /// The bundle is too heavy.
    #[error("the files of a bundle have at most {MAX_BUNDLE_BYTES} bytes together")]
    TooLarge,
    /// A file would stand where another has its folder.
    #[error("a file and a folder of the bundle would have the same name")]
    FileAsFolder,
}

/// The files of one version of a managed bundle, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest(Vec<ManagedFile>);

impl Manifest {
    /// The files, ordered by path.
    pub fn files(&self) -> &[ManagedFile] {
        &self.0
    }

    /// The file at a path.
    pub fn find(&self, path: &BundlePath) -> Option<&ManagedFile> {
        self.0.iter().find(|file| file.path == *path)
    }

    /// The same bundle with one file written.
    ///
    /// # Errors
    /// When the bundle would break a limit.
    pub fn with(&self, file: ManagedFile) -> Result<Self, BundleFault> {
        let mut files: Vec<ManagedFile> = self
            .0
            .iter()
            .filter(|present| present.path != file.path)
            .cloned()
            .collect();
        if files
            .iter()
            .any(|other| file.path.clashes_with(&other.path))
        {
            return Err(BundleFault::FileAsFolder);
        }
        files.push(file);
        if files.len() > MAX_FILES {
            return Err(BundleFault::TooManyFiles);
        }
        if files.iter().map(|file| file.size).sum::<u64>() > MAX_BUNDLE_BYTES {
            return Err(BundleFault::TooLarge);
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self(files))
    }

    /// The same bundle without one file.
    #[must_use]
    pub fn without(&self, path: &BundlePath) -> Self {
        let files = self.0.iter().filter(|file| file.path != *path).cloned();
        Self(files.collect())
    }
}

/// The language of a file by the end of its name, as editors name it.
pub fn language_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    match end.to_string().to_ascii_lowercase().as_str() {
        "md" | "markdown" | "mdx" => "markdown",
        "json" => "json",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "xml" => "xml",
        "html" | "htm" => "html",
        "css" => "css",
        "csv" => "csv",
        "js" | "mjs" | "cjs" | "jsx" => "javascript",
        "ts" | "tsx" => "typescript",
        "py" => "python",
        "rs" => "rust",
        "go" => "go",
        "sh" | "bash" | "zsh" => "shell",
        "sql" => "sql",
        _ => "text",
    }
}

/// Whether a file on disk is taken for text by the end of its name.
pub fn is_text_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let known = [
        "txt", "text", "rst", "adoc", "ini", "cfg", "conf", "tmpl", "prompt",
    ];
    end.is_empty()
        || language_of(path) != "text"
        || known.iter().any(|known| end.eq_ignore_ascii_case(known))
}
