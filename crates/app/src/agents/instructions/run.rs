use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::instructions::BundlePath;
use workforce_domain::port::{Reads, StoreError};

use super::bundle::{content, manifest};

/// A file as a run gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Its path within the bundle.
    pub path: BundlePath,
    /// What it holds.
    pub content: String,
}

/// The instructions a run begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunInstructions {
    /// Files that workforce keeps, as they are now.
    Managed {
        /// The file the agent is given first.
        entry: BundlePath,
        /// All files, by path.
        files: Vec<RunFile>,
    },
    /// Files on disk, which are read when the run begins.
    External {
        /// The file the agent is given first.
        entry: BundlePath,
        /// The folder.
        root: String,
    },
}

/// The instructions of an agent, for a run that begins.
pub fn for_run(reads: &mut dyn Reads, agent: &Agent) -> Result<RunInstructions, StoreError> {
    let pointer = reads.instructions().pointer(agent.scope(), agent.id)?;
    let pointer = pointer.unwrap_or_default();
    let entry = pointer.entry_file.clone();
    if let Some(root) = pointer.external_root() {
        let root = root.to_owned();
        return Ok(RunInstructions::External { entry, root });
    }
    let manifest = manifest(reads, agent, &pointer)?;
    let files = manifest
        .files()
        .iter()
        .map(|file| {
            Ok(RunFile {
                path: file.path.clone(),
                content: content(reads, agent, &pointer, file)?,
            })
        })
        .collect::<Result<_, StoreError>>()?;
    Ok(RunInstructions::Managed { entry, files })
}
