use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::instructions::{BundleMode, BundlePath, BundlePointer, Manifest};
use workforce_domain::port::{Failure, InstructionFiles, Locked, Reads, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSource};

use super::bundle::{BundleView, about, described, is_listed, keep_version, manifest, view};
use super::{
    BOOTSTRAP_KEY, CHANGED_BUNDLE, CHANGED_FILE, InstructionsError, ON_DISK, TEMPLATE_KEY,
    check_content, check_not_legacy, moved, on_disk,
};
use crate::access::{Denied, FieldFault};
use crate::activity_log::log_activity_with;
use crate::agents::revisions::{ConfigChange, keep};
use crate::agents::{lock, readable};
use crate::changes::Changes;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Writes a file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutFile {
    /// Its path within the bundle.
    pub path: BundlePath,
    /// What it is to hold.
    pub content: String,
    /// Writes it only over this content, by SHA-256.
    pub if_match: Option<String>,
    /// Clears the legacy templates too.
    pub clear_legacy: bool,
}

/// Deletes a file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteFile {
    /// Its path within the bundle.
    pub path: BundlePath,
}

/// What is to be done on disk before the store is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// Nothing: the bundle is managed.
    Nothing,
    /// A file is to be written.
    Write {
        /// The folder of the bundle.
        root: String,
        /// Whether the file may be a new one.
        may_create: bool,
    },
    /// A file is to be deleted.
    Delete {
        /// The folder of the bundle.
        root: String,
    },
}

impl FileOperation {
    fn root(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Write { root, .. } | Self::Delete { root } => Some(root),
        }
    }
}

/// What a change of a bundle is refused with: one that is not the caller's to
/// make, one that others made at the same time, one that the disk forbids.
pub(super) const CHANGE: Codes = Codes::with(
    &[Code::BoardRequired, Code::InstructionsFileConflict],
    &[ON_DISK],
);

/// Agents write their own managed bundle and nothing else
/// (docs/workspaces.md#instructions).
pub(super) fn check_writer(
    ctx: &Context<'_>,
    agent: &Agent,
    pointer: &BundlePointer,
) -> Result<(), Failure<InstructionsError>> {
    let Some(caller) = ctx.agent() else {
        return Ok(());
    };
    ctx.require_working_company()?;
    if caller.agent != agent.id {
        return Err(Denied::Forbidden("an agent may change its own instructions only").into());
    }
    if pointer.mode == BundleMode::External {
        return Err(Denied::BoardRequired.into());
    }
    Ok(())
}

fn found(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<(Agent, BundlePointer), Failure<InstructionsError>> {
    let agent = readable::<InstructionsError>(reads, ctx, id)?;
    let pointer = reads.instructions().pointer(agent.scope(), id)?;
    let pointer = pointer.unwrap_or_default();
    check_writer(ctx, &agent, &pointer)?;
    Ok((agent, pointer))
}

fn check_put(
    ctx: &Context<'_>,
    pointer: &BundlePointer,
    command: &PutFile,
) -> Result<(), Failure<InstructionsError>> {
    check_content(&command.content).map_err(Failure::Refused)?;
    check_not_legacy(&command.path, "/path").map_err(Failure::Refused)?;
    if command.clear_legacy && ctx.agent().is_some() {
        return Err(Denied::BoardRequired.into());
    }
    if pointer.mode == BundleMode::External && !is_listed(pointer, &command.path) {
        let message = "in an external bundle only the entry file and the listed text files \
                       can be written";
        return Err(FieldFault::invalid("/path", message).into());
    }
    Ok(())
}

/// What writing a file takes outside.
pub fn plan_put(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    command: &PutFile,
) -> Result<FileOperation, Failure<InstructionsError>> {
    let (_agent, pointer) = found(reads, ctx, id)?;
    check_put(ctx, &pointer, command)?;
    Ok(match pointer.external_root() {
        None => FileOperation::Nothing,
        Some(root) => FileOperation::Write {
            root: root.to_owned(),
            may_create: command.path == pointer.entry_file,
        },
    })
}

/// What deleting a file takes outside.
pub fn plan_delete(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    command: &DeleteFile,
) -> Result<FileOperation, Failure<InstructionsError>> {
    let (_agent, pointer) = found(reads, ctx, id)?;
    check_delete(&pointer, &command.path).map_err(Failure::Refused)?;
    Ok(match pointer.external_root() {
        None => FileOperation::Nothing,
        Some(root) => FileOperation::Delete {
            root: root.to_owned(),
        },
    })
}

fn check_delete(pointer: &BundlePointer, path: &BundlePath) -> Result<(), InstructionsError> {
    check_not_legacy(path, "?path")?;
    if *path == pointer.entry_file {
        return Err(InstructionsError::EntryProtected { path: path.clone() });
    }
    if pointer.mode == BundleMode::External && !is_listed(pointer, path) {
        return Err(Denied::NotFound("file in the bundle").into());
    }
    Ok(())
}

/// Does on disk what is to be done there; `written` is what a file is to hold.
pub fn do_outside(
    disk: &dyn InstructionFiles,
    deed: &FileOperation,
    path: &BundlePath,
    written: Option<&PutFile>,
) -> Result<(), InstructionsError> {
    match (deed, written) {
        (FileOperation::Write { root, may_create }, Some(put)) => {
            let expected = put.if_match.as_deref();
            disk.write(root, path, &put.content, expected, *may_create)
                .map_err(|error| on_disk(&error, "/path"))
        }
        (FileOperation::Delete { root }, _) => disk
            .delete(root, path)
            .map_err(|error| on_disk(&error, "?path")),
        (FileOperation::Nothing | FileOperation::Write { .. }, _) => Ok(()),
    }
}

/// What [`put_file`] and its plan refuse with.
pub const PUT_FILE: Codes = Codes::with(&[Code::BodyTooLarge], &[CHANGE]);

/// Writes a file of a managed bundle, or notes that one of an external bundle
/// was written.
pub fn put_file(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: &PutFile,
    done: &FileOperation,
) -> Result<BundleView, Failure<InstructionsError>> {
    let mut agent = about(lock(tx, ctx, id))?;
    let (_agent, pointer) = found(tx.reads(), ctx, id)?;
    check_put(ctx, &pointer, command)?;
    if pointer.external_root() != done.root() {
        return Err(Failure::Refused(CHANGED_BUNDLE));
    }
    let file = described(command.path.clone(), &command.content);
    // Peers read this, who may not read the bundle: its versions tell more to those who may.
    let details = json!({ "path": file.path });
    let before = AgentConfig::of(&agent, pointer.clone());
    let mut after = pointer.clone();
    let mut is_new = pointer.mode == BundleMode::External;
    if pointer.mode == BundleMode::Managed {
        let files = manifest(tx.reads(), &agent, &pointer)?;
        let present = files.find(&command.path);
        if let Some(expected) = &command.if_match
            && present.is_none_or(|present| !present.sha256.eq_ignore_ascii_case(expected))
        {
            return Err(Failure::Refused(CHANGED_FILE));
        }
        if present != Some(&file) {
            let digest = file.sha256.clone();
            let files = files.with(file)?;
            tx.instructions_mut()
                .keep_content(&agent, &digest, &command.content)?;
            after.version = keep_version(tx, ctx, &agent, &pointer, &files)?;
            is_new = true;
        }
    }
    if command.clear_legacy {
        clear_legacy(&mut agent);
    }
    let source = RevisionSource::InstructionsBundleFilePut;
    let changes = store(tx, ctx, &mut agent, &before, after, source)?;
    if is_new || !changes.is_empty() {
        let action = Action::AgentInstructionsFilePut;
        log_activity_with(tx, ctx, action, &agent, details, changes);
    }
    Ok(view(tx.reads(), ctx, &agent)?)
}

/// What [`delete_file`] and its plan refuse with.
pub const DELETE_FILE: Codes = Codes::with(&[Code::EntryFileProtected], &[CHANGE]);

/// Deletes a file of a managed bundle, or notes that one of an external bundle
/// was deleted.
pub fn delete_file(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: &DeleteFile,
    done: &FileOperation,
) -> Result<BundleView, Failure<InstructionsError>> {
    let mut agent = about(lock(tx, ctx, id))?;
    let (_agent, pointer) = found(tx.reads(), ctx, id)?;
    check_delete(&pointer, &command.path).map_err(Failure::Refused)?;
    if pointer.external_root() != done.root() {
        return Err(Failure::Refused(CHANGED_BUNDLE));
    }
    let before = AgentConfig::of(&agent, pointer.clone());
    let mut after = pointer.clone();
    if pointer.mode == BundleMode::Managed {
        let files: Manifest = manifest(tx.reads(), &agent, &pointer)?;
        if files.find(&command.path).is_none() {
            return Err(Denied::NotFound("file in the bundle").into());
        }
        let files = files.without(&command.path);
        after.version = keep_version(tx, ctx, &agent, &pointer, &files)?;
    }
    let source = RevisionSource::InstructionsBundleFileDelete;
    let changes = store(tx, ctx, &mut agent, &before, after, source)?;
    let action = Action::AgentInstructionsFileDeleted;
    let details = json!({ "path": command.path });
    log_activity_with(tx, ctx, action, &agent, details, changes);
    Ok(view(tx.reads(), ctx, &agent)?)
}

/// Removes the templates of old from an agent's configuration.
pub(super) fn clear_legacy(agent: &mut Agent) {
    for key in [TEMPLATE_KEY, BOOTSTRAP_KEY] {
        agent.adapter_config.remove(key);
    }
}

/// Stores what changed of an agent and its pointer, keeps the revision, and answers what changed.
pub(super) fn store(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &mut Locked<Agent>,
    before: &AgentConfig,
    pointer: BundlePointer,
    source: RevisionSource,
) -> Result<Changes, Failure<InstructionsError>> {
    let after = AgentConfig::of(agent, pointer);
    let changes = moved(Changes::of(agent), before, &after);
    if after.instructions != before.instructions {
        tx.instructions_mut()
            .set_pointer(agent, &after.instructions, ctx.now)?;
    }
    if after.adapter_config != before.adapter_config {
        agent.updated_at = ctx.now;
        tx.agents_mut().save(agent)?;
    }
    let change = ConfigChange {
        source,
        before: Some(before),
        after: &after,
        rolled_back_from: None,
    };
    let (scope, id) = (agent.scope(), agent.id);
    keep(tx, ctx, scope, id, &change)?;
    Ok(changes)
}
