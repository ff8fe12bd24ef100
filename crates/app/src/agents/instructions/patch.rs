use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::AgentId;
use workforce_domain::instructions::{BundleMode, BundlePath, BundlePointer};
use workforce_domain::port::{Failure, InstructionFileError, InstructionFiles, Reads, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSource};

use super::bundle::{BundleView, about, content, described, keep_version, manifest, view};
use super::files::{CHANGE, check_writer, clear_legacy, store};
use super::{CHANGED_BUNDLE, InstructionsError, check_not_legacy, empty, on_disk};
use crate::access::{Denied, FieldFault};
use crate::activity_log::log_activity_with;
use crate::agents::{lock, readable};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Changes where the files of a bundle are, or which one comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchBundle {
    /// Who keeps the files.
    pub mode: Option<BundleMode>,
    /// The folder of an external bundle; of no meaning for a managed one.
    pub root_path: Option<String>,
    /// The file agents are given first.
    pub entry_file: Option<BundlePath>,
    /// Clears the legacy templates.
    pub clear_legacy: bool,
    /// Leaves nothing of the managed files but the entry file, with the
    /// content of the one that was in force.
    pub replace_existing: bool,
}

/// What a change comes to, and what it takes from the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchPlan {
    from: BundlePointer,
    to: BundlePointer,
    /// The external bundle is another one, which must be there.
    looks: bool,
    /// The entry file of the external bundle is carried over.
    carries: bool,
}

/// A change with what the disk had to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    plan: PatchPlan,
    carried: Option<String>,
}

/// What a change of a bundle comes to.
pub fn plan_patch(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    command: &PatchBundle,
) -> Result<PatchPlan, Failure<InstructionsError>> {
    let agent = readable::<InstructionsError>(reads, ctx, id)?;
    let from = reads.instructions().pointer(agent.scope(), id)?;
    let from = from.unwrap_or_default();
    check_writer(ctx, &agent, &from)?;
    if ctx.agent().is_some() {
        let moves = command.mode.is_some_and(|mode| mode != from.mode);
        if moves || command.root_path.is_some() || command.clear_legacy {
            return Err(Denied::BoardRequired.into());
        }
    }
    let mode = command.mode.unwrap_or(from.mode);
    let entry_file = command
        .entry_file
        .clone()
        .unwrap_or(from.entry_file.clone());
    check_not_legacy(&entry_file, "/entryFile").map_err(Failure::Refused)?;
    let root_path = match mode {
        BundleMode::Managed => None,
        BundleMode::External => Some(root(&from, command).map_err(Failure::Refused)?),
    };
    let to = BundlePointer {
        mode,
        root_path,
        entry_file,
        version: from.version,
    };
    let is_other = (to.external_root(), &to.entry_file) != (from.external_root(), &from.entry_file);
    Ok(PatchPlan {
        looks: mode == BundleMode::External && is_other,
        carries: mode == BundleMode::Managed
            && from.mode == BundleMode::External
            && command.replace_existing,
        from,
        to,
    })
}

fn root(from: &BundlePointer, command: &PatchBundle) -> Result<String, InstructionsError> {
    let root = command.root_path.as_deref().or(from.external_root());
    let fault = |message| InstructionsError::Field(FieldFault::invalid("/rootPath", message));
    let root = root.ok_or_else(|| fault("is required for an external bundle"))?;
    if !root.starts_with('/') {
        return Err(fault("must be an absolute path"));
    }
    if root.chars().any(char::is_control) {
        return Err(fault("must not contain control characters"));
    }
    Ok(root.to_owned())
}

/// Asks the disk what a change needs to know.
pub fn prepare(
    disk: &dyn InstructionFiles,
    plan: PatchPlan,
) -> Result<Prepared, InstructionsError> {
    if plan.looks
        && let Some(root) = plan.to.external_root()
    {
        disk.check_root(root).map_err(|error| {
            InstructionsError::Field(FieldFault::invalid("/rootPath", error.to_string()))
        })?;
        disk.read(root, &plan.to.entry_file)
            .map_err(|error| match error {
                InstructionFileError::NotFound => {
                    let message = "must be a file of the external bundle";
                    FieldFault::invalid("/entryFile", message).into()
                }
                error => on_disk(&error, "/entryFile"),
            })?;
    }
    let carried = match plan.from.external_root() {
        Some(root) if plan.carries => {
            let read = disk.read(root, &plan.from.entry_file);
            Some(read.map_err(|_unreadable| {
                InstructionsError::Unavailable(
                    "the entry file of the external bundle cannot be read, so that its content \
                     cannot be kept; leave replaceExisting out to go on without it",
                )
            })?)
        }
        _ => None,
    };
    Ok(Prepared { plan, carried })
}

/// What [`patch`] and its plan refuse with.
pub const PATCH: Codes = Codes::with(&[Code::BodyTooLarge], &[CHANGE]);

/// Changes a bundle as it was prepared.
pub fn patch(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    command: &PatchBundle,
    prepared: &Prepared,
) -> Result<BundleView, Failure<InstructionsError>> {
    let mut agent = about(lock(tx, ctx, id))?;
    let plan = plan_patch(tx.reads(), ctx, id, command)?;
    if plan != prepared.plan {
        return Err(Failure::Refused(CHANGED_BUNDLE));
    }
    let PatchPlan { from, mut to, .. } = plan;
    let before = AgentConfig::of(&agent, from.clone());
    let mut warnings = Vec::new();
    if to.mode == BundleMode::Managed {
        let files = manifest(tx.reads(), &agent, &from)?;
        let wanted = match (&prepared.carried, files.find(&to.entry_file)) {
            (Some(carried), _) => Some(carried.clone()),
            (None, Some(_)) if !command.replace_existing => None,
            (None, Some(present)) => Some(content(tx.reads(), &agent, &from, present)?),
            // The content of the entry file so far goes on under another name.
            (None, None) if command.replace_existing => match files.find(&from.entry_file) {
                Some(present) => Some(content(tx.reads(), &agent, &from, present)?),
                None => Some(String::new()),
            },
            (None, None) => {
                let entry = &to.entry_file;
                warnings.push(format!("{entry} did not exist and was made empty"));
                Some(String::new())
            }
        };
        if let Some(wanted) = wanted {
            let file = described(to.entry_file.clone(), &wanted);
            let digest = file.sha256.clone();
            let base = if command.replace_existing {
                &empty()
            } else {
                &files
            };
            let changed = base.with(file)?;
            if changed != files {
                tx.instructions_mut()
                    .keep_content(&agent, &digest, &wanted)?;
                to.version = keep_version(tx, ctx, &agent, &from, &changed)?;
            }
        }
    }
    if command.clear_legacy {
        clear_legacy(&mut agent);
    }
    let source = RevisionSource::InstructionsBundlePatch;
    let changes = store(tx, ctx, &mut agent, &before, to.clone(), source)?;
    if !changes.is_empty() {
        let details = json!({
            "mode": to.mode, "entryFile": to.entry_file, "version": to.version,
        });
        let action = Action::AgentInstructionsUpdated;
        log_activity_with(tx, ctx, action, &agent, details, changes);
    }
    let mut view = view(tx.reads(), ctx, &agent)?;
    view.warnings.extend(warnings);
    Ok(view)
}
