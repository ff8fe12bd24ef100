//! The instructions bundle of an agent (docs/workspaces.md#instructions).
//!
//! What is on disk is touched between transactions, never within one. A call
//! that needs it comes in three parts: one looks at the store and says what is
//! to be done outside, one does that, and one locks the agent, looks again,
//! and writes.

mod bundle;
mod files;
mod legacy_path;
mod patch;
mod read;
mod run;

use serde_json::{Value, json};
use workforce_domain::agent::Agent;
use workforce_domain::instructions::{
    BundleFault, BundlePath, LEGACY_TEMPLATE, MAX_FILE_BYTES, Manifest,
};
use workforce_domain::port::InstructionFileError;
use workforce_domain::revision::AgentConfig;

pub use bundle::{BundleFile, BundleView};
pub use files::{
    DELETE_FILE, DeleteFile, FileOperation, PUT_FILE, PutFile, delete_file, do_outside,
    plan_delete, plan_put, put_file,
};
pub use legacy_path::{
    InferredBundle, InstructionsPath, SET_PATH, SetInstructionsPath, infer, set_path,
};
pub use patch::{PATCH, PatchBundle, PatchPlan, Prepared, patch, plan_patch, prepare};
pub use read::{FILE, FileView, FoundFile, file, get, load, written};
pub use run::{RunFile, RunInstructions, for_run};

use super::AgentError;
use crate::access::{Denied, FieldFault};
use crate::changes::{Changes, Shown};
use crate::refusal::{Code, Codes, Refusal};

/// The key under which a legacy prompt template is kept.
const TEMPLATE_KEY: &str = "promptTemplate";
/// The key under which the legacy template of an agent's first run is kept.
const BOOTSTRAP_KEY: &str = "bootstrapPromptTemplate";

/// Why a call about instructions is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstructionsError {
    /// The caller may not, or there is no such agent or file.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The agent cannot be changed like this.
    #[error(transparent)]
    Agent(AgentError),
    /// The entry file cannot be deleted.
    #[error("{path} is the entry file: make another file the entry file before you delete it")]
    EntryProtected {
        /// The entry file.
        path: BundlePath,
    },
    /// Something is longer than it may be.
    #[error("{0}")]
    TooLarge(String),
    /// The file or the bundle is another than the caller saw.
    #[error("{0}")]
    Conflict(&'static str),
    /// A folder or file on disk cannot be used.
    #[error("{0}")]
    Unavailable(&'static str),
}

impl From<AgentError> for InstructionsError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Denied(denied) => Self::Denied(denied),
            AgentError::Field(fault) => Self::Field(fault),
            other => Self::Agent(other),
        }
    }
}

impl Refusal for InstructionsError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::Agent(error) => error.code(),
            Self::EntryProtected { .. } => Code::EntryFileProtected,
            Self::TooLarge(_) => Code::BodyTooLarge,
            Self::Conflict(_) => Code::InstructionsFileConflict,
            Self::Unavailable(_) => Code::InstructionsUnavailable,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Agent(error) => error.details(),
            Self::EntryProtected { path } => Some(json!({ "entryFile": path })),
            Self::TooLarge(_) | Self::Conflict(_) | Self::Unavailable(_) => None,
        }
    }
}

/// What a file on disk is refused with.
const ON_DISK: Codes = Codes::of(&[Code::InvalidField, Code::InstructionsUnavailable]);

/// The fault that a file on disk is for the field that names it.
fn on_disk(error: &InstructionFileError, pointer: &str) -> InstructionsError {
    match error {
        InstructionFileError::RootRefused => InstructionsError::Unavailable(
            "the folder of the bundle is not there, or not one that the operator allows",
        ),
        InstructionFileError::NotFound => {
            InstructionsError::Denied(Denied::NotFound("file in the bundle"))
        }
        InstructionFileError::NotPlain
        | InstructionFileError::TooLarge
        | InstructionFileError::NotText => {
            InstructionsError::Field(FieldFault::invalid(pointer, error.to_string()))
        }
        InstructionFileError::Changed => CHANGED_FILE,
        InstructionFileError::Failed(_) => {
            InstructionsError::Unavailable("the server cannot use the file")
        }
    }
}

const CHANGED_FILE: InstructionsError =
    InstructionsError::Conflict("the file was changed since you read it");
const CHANGED_BUNDLE: InstructionsError =
    InstructionsError::Conflict("the bundle was changed at the same time; look at it and repeat");

/// Refuses a content that is too long for a file.
fn check_content(content: &str) -> Result<(), InstructionsError> {
    if content.len() > MAX_FILE_BYTES {
        let message = format!("/content: a file of a bundle has at most {MAX_FILE_BYTES} bytes");
        return Err(InstructionsError::TooLarge(message));
    }
    Ok(())
}

/// Refuses the name under which a legacy template shows.
fn check_not_legacy(path: &BundlePath, pointer: &str) -> Result<(), InstructionsError> {
    if path.as_str() != LEGACY_TEMPLATE {
        return Ok(());
    }
    let message = "shows adapterConfig.promptTemplate; clear it with clearLegacyPromptTemplate";
    Err(FieldFault::invalid(pointer, message).into())
}

impl From<BundleFault> for InstructionsError {
    fn from(fault: BundleFault) -> Self {
        match fault {
            BundleFault::TooLarge => Self::TooLarge(fault.to_string()),
            BundleFault::TooManyFiles | BundleFault::FileAsFolder => {
                Self::Field(FieldFault::invalid("/path", fault.to_string()))
            }
        }
    }
}

/// The legacy template of an agent, when it has one.
fn template<'a>(agent: &'a Agent, key: &str) -> Option<&'a str> {
    agent
        .adapter_config
        .get(key)
        .and_then(Value::as_str)
        .filter(|template| !template.is_empty())
}

/// What changed of an agent, with where its instructions are.
pub(super) fn moved(changes: Changes, before: &AgentConfig, after: &AgentConfig) -> Changes {
    let (from, to) = (&before.instructions, &after.instructions);
    let (from, to) = (Shown::Instructions(from), Shown::Instructions(to));
    changes.and_field("instructionsBundle", &from, &to)
}

/// The bundle without any file.
fn empty() -> Manifest {
    Manifest::default()
}
