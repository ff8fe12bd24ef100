use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::{
    BundleMode, BundlePath, BundlePointer, LEGACY_TEMPLATE, ManagedFile, Manifest, default_files,
    is_text_name,
};
use workforce_domain::port::{
    ExternalListing, Failure, InstructionFiles, Locked, Reads, StoreError, Tx,
};

use super::{BOOTSTRAP_KEY, InstructionsError, TEMPLATE_KEY, empty, template};
use crate::context::Context;
use crate::digest::sha256;

/// A file as a bundle lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// Its path within the bundle.
    pub path: String,
    /// Bytes of its content.
    pub size: u64,
    /// SHA-256 of its content, where that is known without reading it.
    pub sha256: Option<String>,
    /// Whether agents are given it first.
    pub is_entry: bool,
    /// Whether the caller may write it.
    pub editable: bool,
    /// Whether it is no file but a setting of old.
    pub is_virtual: bool,
}

/// A bundle as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleView {
    /// Whose instructions.
    pub agent: AgentId,
    /// The company.
    pub company: CompanyId,
    /// Where they are.
    pub pointer: BundlePointer,
    /// Where the managed files would lie.
    pub managed_root: String,
    /// Whether the caller may change the bundle.
    pub editable: bool,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// A prompt template of old is in force.
    pub legacy_template: bool,
    /// A template of old for first runs is there.
    pub legacy_bootstrap: bool,
    /// The files, by path.
    pub files: Vec<BundleFile>,
}

impl BundleView {
    /// The folder of the bundle.
    pub fn root(&self) -> &str {
        self.pointer.external_root().unwrap_or(&self.managed_root)
    }

    /// The view with what only the server's disk tells. It never fails: what
    /// cannot be read is a warning.
    #[must_use]
    pub fn completed(mut self, disk: &dyn InstructionFiles) -> Self {
        self.managed_root = disk.managed_root(self.company, self.agent);
        let Some(root) = self.pointer.external_root() else {
            return self;
        };
        match disk.list(root) {
            Ok(listing) => self.add(listing),
            Err(error) => {
                let warning = format!("the files cannot be listed: {error}");
                self.warnings.push(warning);
            }
        }
        self
    }

    fn add(&mut self, listing: ExternalListing) {
        let entry = self.pointer.entry_file.clone();
        if listing.is_cut {
            let warning = "the folder holds more than a bundle may; the list is not complete";
            self.warnings.push(warning.into());
        }
        if !listing.files.iter().any(|file| file.path == entry) {
            let warning = format!("the entry file {entry} is missing or cannot be used");
            self.warnings.push(warning);
        }
        let editable = self.editable;
        let files = listing.files.into_iter().map(|file| BundleFile {
            is_entry: file.path == entry,
            path: file.path.to_string(),
            size: file.size,
            sha256: None,
            editable,
            is_virtual: false,
        });
        self.files.extend(files);
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
    }
}

/// A bundle as the store has it.
pub(super) fn view(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    agent: &Agent,
) -> Result<BundleView, StoreError> {
    let scope = agent.scope();
    let pointer = reads
        .instructions()
        .pointer(scope, agent.id)?
        .unwrap_or_default();
    let managed = pointer.mode == BundleMode::Managed;
    let editable = match ctx.agent() {
        None => true,
        Some(caller) => caller.agent == agent.id && managed,
    };
    let mut files = Vec::new();
    if managed {
        let manifest = manifest(reads, agent, &pointer)?;
        files.extend(manifest.files().iter().map(|file| BundleFile {
            path: file.path.to_string(),
            size: file.size,
            sha256: Some(file.sha256.clone()),
            is_entry: file.path == pointer.entry_file,
            editable,
            is_virtual: false,
        }));
    }
    let legacy = template(agent, TEMPLATE_KEY);
    files.extend(legacy.map(|template| BundleFile {
        path: LEGACY_TEMPLATE.into(),
        size: template.len() as u64,
        sha256: Some(sha256(template)),
        is_entry: false,
        editable: false,
        is_virtual: true,
    }));
    let mut warnings = Vec::new();
    if legacy.is_some() {
        let warning = "adapterConfig.promptTemplate is in force beside this bundle; \
                       clear it with clearLegacyPromptTemplate";
        warnings.push(warning.into());
    }
    Ok(BundleView {
        agent: agent.id,
        company: agent.company,
        managed_root: String::new(),
        editable,
        warnings,
        legacy_template: legacy.is_some(),
        legacy_bootstrap: template(agent, BOOTSTRAP_KEY).is_some(),
        files,
        pointer,
    })
}

/// The managed files of an agent, whoever keeps those that are in force.
pub(super) fn manifest(
    reads: &mut dyn Reads,
    agent: &Agent,
    pointer: &BundlePointer,
) -> Result<Manifest, StoreError> {
    if pointer.version == 0 {
        return Ok(default_manifest(agent));
    }
    let found = reads
        .instructions()
        .manifest(agent.scope(), agent.id, pointer.version)?;
    Ok(found.ok_or_else(|| Corrupt::new("instructions bundle", "its version is missing"))?)
}

fn default_manifest(agent: &Agent) -> Manifest {
    // Those few short files break no limit.
    default_files(&agent.role).fold(empty(), |manifest, file| {
        manifest
            .with(described(file.path, file.content))
            .unwrap_or(manifest)
    })
}

/// What a manifest says of a file.
pub(super) fn described(path: BundlePath, content: &str) -> ManagedFile {
    ManagedFile {
        path,
        sha256: sha256(content),
        size: content.len() as u64,
    }
}

/// The content of a managed file.
pub(super) fn content(
    reads: &mut dyn Reads,
    agent: &Agent,
    pointer: &BundlePointer,
    file: &ManagedFile,
) -> Result<String, StoreError> {
    if pointer.version == 0 {
        let brought = default_files(&agent.role).find(|brought| brought.path == file.path);
        if let Some(brought) = brought {
            return Ok(brought.content.to_owned());
        }
    }
    let found = reads
        .instructions()
        .content(agent.scope(), agent.id, &file.sha256)?;
    Ok(found.ok_or_else(|| Corrupt::new("instructions bundle", "a file has no content"))?)
}

/// Keeps the managed files as a new version and answers its number. Contents
/// of files that every agent begins with are kept with them from now on.
pub(super) fn keep_version(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: &Locked<Agent>,
    pointer: &BundlePointer,
    files: &Manifest,
) -> Result<i32, StoreError> {
    if pointer.version == 0 {
        for brought in default_files(&agent.role) {
            let digest = sha256(brought.content);
            if files.files().iter().any(|file| file.sha256 == digest) {
                tx.instructions_mut()
                    .keep_content(agent, &digest, brought.content)?;
            }
        }
    }
    tx.instructions_mut().add_version(agent, files, ctx.now)
}

/// Whether a file of an external bundle may be written: it is the entry file,
/// or one that the bundle lists.
pub(super) fn is_listed(pointer: &BundlePointer, path: &BundlePath) -> bool {
    *path == pointer.entry_file || is_text_name(path.as_str())
}

/// Passes a failure on as one about instructions.
pub(super) fn about<T>(
    outcome: Result<T, Failure<super::AgentError>>,
) -> Result<T, Failure<InstructionsError>> {
    outcome.map_err(|failure| failure.map(Into::into))
}
