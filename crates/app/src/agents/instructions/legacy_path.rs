use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{AdapterType, Agent};
use workforce_domain::id::AgentId;
use workforce_domain::instructions::{BundleMode, BundlePath, BundlePointer};
use workforce_domain::port::{Failure, InstructionFileError, InstructionFiles, Reads, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSource};

use super::InstructionsError;
use super::bundle::{BundleView, about, manifest, view};
use super::files::store;
use crate::access::FieldFault;
use crate::activity_log::log_activity_with;
use crate::agents::{adapter_config, lock};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Where the path is kept unless the caller says otherwise.
const PATH_KEY: &str = "instructionsFilePath";
/// Keys of an adapter's configuration that mean something else.
const OTHER_KEYS: [&str; 12] = [
    "args",
    "bootstrapPromptTemplate",
    "command",
    "cwd",
    "env",
    "extraArgs",
    "graceSec",
    "idleTimeoutSec",
    "promptTemplate",
    "stdin",
    "timeoutSec",
    "url",
];

/// Says by the path of one file where an agent's instructions are: the way of
/// old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInstructionsPath {
    /// The absolute path of the file; `None` clears it.
    pub path: Option<String>,
    /// The key of the adapter's configuration that keeps it.
    pub key: Option<String>,
}

/// The bundle that a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InferredBundle {
    /// None: the path was cleared.
    Cleared,
    /// The folder of the file, with the file as entry file.
    Known {
        /// The folder.
        root: String,
        /// The file.
        entry: BundlePath,
        /// What the caller should know about it.
        warning: Option<String>,
    },
    /// None that may be used.
    Unknown {
        /// Why.
        warning: String,
    },
}

/// A path that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionsPath {
    /// How the agent is run.
    pub adapter_type: AdapterType,
    /// The key that keeps the path.
    pub key: String,
    /// The path.
    pub path: Option<String>,
    /// The bundle as it is now.
    pub bundle: BundleView,
}

/// Finds out which bundle a path stands for. Touches the disk.
pub fn infer(
    disk: &dyn InstructionFiles,
    command: &SetInstructionsPath,
) -> Result<InferredBundle, InstructionsError> {
    check_key(command.key.as_deref())?;
    let Some(path) = command.path.as_deref() else {
        return Ok(InferredBundle::Cleared);
    };
    let (root, name) = split(path)?;
    let unknown = |why: String| {
        let warning = format!("the path is kept, and the bundle stays as it is: {why}");
        Ok(InferredBundle::Unknown { warning })
    };
    let entry = match BundlePath::parse(name) {
        Ok(entry) => entry,
        Err(fault) => return unknown(format!("the name of the file {fault}")),
    };
    if let Err(error) = disk.check_root(root) {
        return unknown(error.to_string());
    }
    let warning = match disk.read(root, &entry) {
        Ok(_content) => None,
        Err(InstructionFileError::NotFound) => {
            Some("the file does not exist yet; runs fail until it does".to_owned())
        }
        Err(error) => Some(format!("runs fail as long as this is so: {error}")),
    };
    Ok(InferredBundle::Known {
        root: root.to_owned(),
        entry,
        warning,
    })
}

/// The folder and the name of a file.
fn split(path: &str) -> Result<(&str, &str), InstructionsError> {
    const MAX: usize = 4096;
    let fault = |message| Err(FieldFault::invalid("/path", message).into());
    if !path.starts_with('/') {
        return fault("must be the absolute path of a file");
    }
    if path.len() > MAX {
        return fault("must be at most 4096 bytes long");
    }
    if path.chars().any(char::is_control) {
        return fault("must not contain control characters");
    }
    if path.split('/').any(|part| part == "..") {
        return fault("must not contain `..`");
    }
    match path.rsplit_once('/') {
        Some((root, name)) if !name.is_empty() && name != "." => {
            Ok((if root.is_empty() { "/" } else { root }, name))
        }
        _ => fault("must name a file"),
    }
}

fn check_key(key: Option<&str>) -> Result<(), InstructionsError> {
    let Some(key) = key else { return Ok(()) };
    let mut bytes = key.bytes();
    let is_word = bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && key.len() <= 64;
    if is_word && !OTHER_KEYS.contains(&key) {
        return Ok(());
    }
    let message = "must be a word that no other setting of the adapter has";
    Err(FieldFault::invalid("/adapterConfigKey", message).into())
}

/// What [`set_path`] and [`infer`] refuse with.
pub const SET_PATH: Codes = Codes::of(&[Code::InvalidField]);

/// Keeps the path in the adapter's configuration, and makes the bundle the one
/// it stands for. Board only.
pub fn set_path(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: &SetInstructionsPath,
    inferred: &InferredBundle,
) -> Result<InstructionsPath, Failure<InstructionsError>> {
    let mut agent = about(lock(tx, ctx, id))?;
    ctx.require_board()?;
    let pointer = tx.instructions().pointer(agent.scope(), id)?;
    let pointer = pointer.unwrap_or_default();
    let before = AgentConfig::of(&agent, pointer.clone());
    let key = command.key.clone().unwrap_or_else(|| PATH_KEY.to_owned());
    let had = match &command.path {
        Some(path) => agent
            .adapter_config
            .insert(key.clone(), Value::String(path.clone())),
        None => agent.adapter_config.remove(&key),
    };
    adapter_config::check_adapter(agent.adapter_type, &agent.adapter_config)?;
    let (after, warning) = match inferred {
        InferredBundle::Known {
            root,
            entry,
            warning,
        } => {
            let after = BundlePointer {
                mode: BundleMode::External,
                root_path: Some(root.clone()),
                entry_file: entry.clone(),
                version: pointer.version,
            };
            (after, warning.clone())
        }
        InferredBundle::Unknown { warning } => (pointer, Some(warning.clone())),
        InferredBundle::Cleared => (cleared(tx.reads(), &agent, pointer, had.as_ref())?, None),
    };
    let source = RevisionSource::InstructionsPathPatch;
    let details = json!({ "mode": after.mode, "entryFile": after.entry_file, "key": key });
    let changes = store(tx, ctx, &mut agent, &before, after, source)?;
    if !changes.is_empty() {
        let action = Action::AgentInstructionsUpdated;
        log_activity_with(tx, ctx, action, &agent, details, changes);
    }
    let mut bundle = view(tx.reads(), ctx, &agent)?;
    bundle.warnings.extend(warning);
    Ok(InstructionsPath {
        adapter_type: agent.adapter_type,
        key,
        path: command.path.clone(),
        bundle,
    })
}

/// Where the instructions are once the path is gone: a bundle that came of the
/// path is managed again.
fn cleared(
    reads: &mut dyn Reads,
    agent: &Agent,
    pointer: BundlePointer,
    had: Option<&Value>,
) -> Result<BundlePointer, Failure<InstructionsError>> {
    let came_of_path = pointer.external_root().is_some_and(|root| {
        let root = root.trim_end_matches('/');
        had.and_then(Value::as_str) == Some(&*format!("{root}/{}", pointer.entry_file))
    });
    if !came_of_path {
        return Ok(pointer);
    }
    let files = manifest(reads, agent, &pointer)?;
    let usual = [pointer.entry_file.clone(), BundlePath::default_entry()];
    let entry_file = usual
        .into_iter()
        .find(|entry| files.find(entry).is_some())
        .or_else(|| files.files().first().map(|file| file.path.clone()))
        .unwrap_or_else(BundlePath::default_entry);
    Ok(BundlePointer {
        mode: BundleMode::Managed,
        root_path: None,
        entry_file,
        version: pointer.version,
    })
}
