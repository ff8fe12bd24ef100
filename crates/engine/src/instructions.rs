//! The instructions of a run: a copy of its agent's bundle that is its own, so
//! that no change of the bundle reaches a live run (docs/heartbeats.md#files).

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workforce_app::agents::instructions::{RunFile, RunInstructions};
use workforce_app::prompt;
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::instructions::BundlePath;
use workforce_domain::port::{InstructionFileError, InstructionFiles, StoreError};
use workforce_domain::run::RunErrorCode;
use workforce_folders::{Folder, remove_folder};

use crate::execution_result::ExecutionResult;
use crate::log_store::folders_of;
use crate::private_files::{make_folder, write_file};
use crate::run_owner::RunOwner;
use crate::state::EngineState;

const FOLDER_NAME: &str = "instructions";

/// The copy that a run reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunCopy {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// The file the agent is given first.
    pub(crate) entry: PathBuf,
    /// Its path within the folder.
    pub(crate) entry_name: String,
    /// What it holds.
    pub(crate) entry_text: String,
    /// The paths of the other files within the folder.
    pub(crate) others: Vec<String>,
    /// How the interface is used, in a file beside the folder.
    pub(crate) skill: PathBuf,
}

/// Why a run has no instructions.
#[derive(Debug, thiserror::Error)]
enum CopyError {
    #[error("the entry file {entry} of the agent's instructions cannot be read")]
    Entry {
        entry: BundlePath,
        #[source]
        source: InstructionFileError,
    },
    #[error("the agent's instructions cannot be copied")]
    Copy(#[from] io::Error),
}

/// Copies the instructions of a run into a folder of its own.
pub(crate) async fn materialize(
    state: &EngineState,
    company: CompanyId,
    run: RunId,
    instructions: RunInstructions,
) -> Result<RunCopy, ExecutionResult> {
    let disk = Arc::clone(&state.store.ports.instructions);
    let config = state.config.clone();
    let copied = tokio::task::spawn_blocking(move || {
        config.make_run_folder(company, run)?;
        let (folder, owner) = (config.run_folder(company, run), config.containment.owner());
        copy(&*disk, &folder, instructions, &owner)
    })
    .await;
    match copied {
        Ok(Ok(copy)) => Ok(copy),
        Ok(Err(CopyError::Entry { entry, source })) => {
            let error = format!("the entry file {entry} cannot be read: {source}");
            Err(ExecutionResult::failed(
                RunErrorCode::InstructionsUnavailable,
                error,
            ))
        }
        Ok(Err(CopyError::Copy(error))) => Err(broken(&error).because(state, &error)),
        Err(error) => Err(broken(&error)),
    }
}

fn broken(error: &dyn std::error::Error) -> ExecutionResult {
    tracing::error!(%error, cause = ?error, "the instructions of a run cannot be copied");
    ExecutionResult::broken("the agent's instructions could not be copied")
}

fn copy(
    disk: &dyn InstructionFiles,
    run_folder: &Path,
    instructions: RunInstructions,
    owner: &RunOwner,
) -> Result<RunCopy, CopyError> {
    let (entry, files) = match instructions {
        RunInstructions::Managed { entry, files } => (entry, files),
        RunInstructions::External { entry, root } => {
            let files = external(disk, &entry, &root)?;
            (entry, files)
        }
    };
    let folder = run_folder.join(FOLDER_NAME);
    make_folder(&folder)?;
    let (mut entry_text, mut others) = (String::new(), Vec::new());
    for file in files {
        let path = folder.join(file.path.as_str());
        if let Some(parent) = path.parent() {
            make_folder(parent)?;
        }
        write_file(&path, &file.content)?;
        owner.give(&path)?;
        match file.path == entry {
            true => entry_text = file.content,
            false => others.push(file.path.as_str().to_owned()),
        }
    }
    let skill = run_folder.join(prompt::SKILL_FILE);
    write_file(&skill, prompt::SKILL)?;
    owner.give(&skill)?;
    // The innermost first: whoever owns a folder may exchange what is in it.
    for folder in folders_within(&folder)?.iter().rev() {
        std::fs::set_permissions(folder, Permissions::from_mode(0o500))?;
        owner.give(folder)?;
    }
    Ok(RunCopy {
        entry: folder.join(entry.as_str()),
        entry_name: entry.as_str().to_owned(),
        entry_text,
        others,
        folder,
        skill,
    })
}

/// The entry file, which must be there, and what else can be read.
fn external(
    disk: &dyn InstructionFiles,
    entry: &BundlePath,
    root: &str,
) -> Result<Vec<RunFile>, CopyError> {
    let failed = |source| CopyError::Entry {
        entry: entry.clone(),
        source,
    };
    let content = disk.read(root, entry).map_err(failed)?;
    let mut files = vec![RunFile {
        path: entry.clone(),
        content,
    }];
    for listed in disk.list(root).map_err(failed)?.files {
        if listed.path == *entry {
            continue;
        }
        // It may have gone or changed since it was listed.
        if let Ok(content) = disk.read(root, &listed.path) {
            files.push(RunFile {
                path: listed.path,
                content,
            });
        }
    }
    Ok(files)
}

/// A folder and all beneath it; links are no folders.
fn folders_within(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(folder) = found.get(next).cloned() {
        next += 1;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// Removes what a run had of its own beside its log.
pub(crate) async fn remove(state: &EngineState, company: CompanyId, run: RunId) {
    let folder = state.config.run_folder(company, run);
    let removed = tokio::task::spawn_blocking(move || remove_folder(&folder)).await;
    match removed {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, %run, "the folder of a run is left behind"),
        Err(error) => tracing::warn!(%error, %run, "the folder of a run is left behind"),
    }
}

/// Removes the folders of runs that ended without their server, before the
/// first run starts.
pub(crate) async fn clear_left(state: &EngineState) -> Result<(), StoreError> {
    let runs_dir = state.config.runs_dir.clone();
    let left = tokio::task::spawn_blocking(move || run_folders(&runs_dir))
        .await
        .unwrap_or_default();
    for (company, run) in left {
        let found = state
            .store
            .read(move |reads| {
                let company = InstanceScope::SYSTEM.enter(company);
                reads.runs().find(company.into(), run)
            })
            .await?;
        // One that is of no run somebody else made.
        if found.is_some_and(|run| !run.status.is_live()) {
            remove(state, company, run).await;
        }
    }
    Ok(())
}

/// The runs that have folders of their own, `<runs_dir>/<company>/<run>`. Links are none, and what
/// cannot be read has none.
pub fn run_folders(runs_dir: &Path) -> Vec<(CompanyId, RunId)> {
    let Ok(runs_dir) = Folder::open_without_links(runs_dir) else {
        return Vec::new();
    };
    let mut left = Vec::new();
    for (company, folder) in folders_of::<CompanyId>(&runs_dir) {
        let runs = folders_of::<RunId>(&folder);
        left.extend(runs.into_iter().map(|(run, _)| (company, run)));
    }
    left
}
