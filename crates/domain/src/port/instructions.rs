use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::CompanyScope;
use crate::agent::Agent;
use crate::id::{AgentId, CompanyId};
use crate::instructions::{BundlePath, BundlePointer, Manifest};
use crate::time::Timestamp;

/// Reads of instructions bundles.
pub trait InstructionReads {
    /// Where an agent's instructions are; `None` when nothing was ever said.
    fn pointer(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<BundlePointer>, StoreError>;

    /// The managed files of one version.
    fn manifest(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        version: i32,
    ) -> Result<Option<Manifest>, StoreError>;

    /// The content of a managed file of an agent, by its digest.
    fn content(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        sha256: &str,
    ) -> Result<Option<String>, StoreError>;
}

/// Writes of instructions bundles. The agent's lock guards its bundle.
pub trait InstructionWrites {
    /// Says where an agent's instructions are.
    fn set_pointer(
        &mut self,
        agent: &Locked<Agent>,
        pointer: &BundlePointer,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Keeps a new version of the managed files and answers its number, one
    /// above the highest there is.
    fn add_version(
        &mut self,
        agent: &Locked<Agent>,
        manifest: &Manifest,
        now: Timestamp,
    ) -> Result<i32, StoreError>;

    /// Keeps the content of a managed file under its digest.
    fn keep_content(
        &mut self,
        agent: &Locked<Agent>,
        sha256: &str,
        content: &str,
    ) -> Result<(), StoreError>;
}

/// Why a file of an external bundle cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum InstructionFileError {
    /// The folder is not beneath one that the operator allows, or reached by
    /// a link.
    #[error(
        "the folder must be an existing one beneath a folder that the operator allows, without links on the way"
    )]
    RootRefused,
    /// There is no such file.
    #[error("the bundle has no such file")]
    NotFound,
    /// It is no plain file of the folder: a link, a folder, a device, a hidden
    /// file.
    #[error("only plain, visible files of the folder can be used, no links and no devices")]
    NotPlain,
    /// It is too long for an instruction.
    #[error("the file is longer than a file of a bundle may be")]
    TooLarge,
    /// It holds something else than text.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// It is not what the caller saw last.
    #[error("the file was changed meanwhile")]
    Changed,
    /// The system refused.
    #[error("the file cannot be used")]
    Failed(#[source] Box<dyn core::error::Error + Send + Sync>),
}

/// A file of an external bundle, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFile {
    /// Its path within the bundle.
    pub path: BundlePath,
    /// Its length in bytes.
    pub size: u64,
}

/// What an external bundle holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalListing {
    /// The text files, by path.
    pub files: Vec<ExternalFile>,
    /// Whether there are more than a bundle may have.
    pub is_cut: bool,
}

/// The folders of the server's machine that external bundles are in. Each
/// access finds its way anew, from a folder the operator allows downwards,
/// and follows no link on it.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait InstructionFiles: Send + Sync {
    /// Where the managed files of an agent would lie, for people.
    fn managed_root(&self, company: CompanyId, agent: AgentId) -> String;

    /// Makes sure that a folder may hold a bundle.
    ///
    /// # Errors
    /// [`InstructionFileError::RootRefused`]
    fn check_root(&self, root: &str) -> Result<(), InstructionFileError>;

    /// The text files of a bundle, by path.
    ///
    /// # Errors
    /// When the folder may not or cannot be read.
    fn list(&self, root: &str) -> Result<ExternalListing, InstructionFileError>;

    /// The content of a file.
    fn read(&self, root: &str, path: &BundlePath) -> Result<String, InstructionFileError>;

    /// Replaces a file in one step, or makes it where `may_create` says so.
    /// With `expected`, only when its present content is that.
    fn write<'a>(
        &self,
        root: &'a str,
        path: &'a BundlePath,
        content: &'a str,
        expected: Option<&'a str>,
        may_create: bool,
    ) -> Result<(), InstructionFileError>;

    /// Deletes a file.
    fn delete(&self, root: &str, path: &BundlePath) -> Result<(), InstructionFileError>;
}
