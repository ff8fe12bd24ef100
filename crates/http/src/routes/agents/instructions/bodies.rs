use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::agents::instructions::{
    BundleFile, BundleView, FileView, InstructionsPath, PatchBundle, PutFile, SetInstructionsPath,
};
use workforce_domain::agent::AdapterType;
use workforce_domain::change::Replace;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::{BundleMode, BundlePath, language_of};

use crate::problem::Problem;

/// A path within a bundle.
pub(crate) fn path(text: &str, pointer: &str) -> Result<BundlePath, Problem> {
    BundlePath::parse(text)
        .map_err(|fault| Problem::at(Code::InvalidField, pointer, &fault.to_string()))
}

/// Where the instructions of an agent are, and which files they have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InstructionsBundle)]
pub(super) struct BundleBody {
    /// Whose instructions.
    agent_id: AgentId,
    /// The company.
    company_id: CompanyId,
    /// Who keeps the files: workforce, or a folder of the server's machine.
    mode: BundleMode,
    /// The folder of the bundle.
    root_path: String,
    /// The folder of the managed bundle. The files are rows of the database;
    /// a run gets a copy.
    managed_root_path: String,
    /// The file an agent is given first.
    entry_file: String,
    /// The whole path of the entry file.
    resolved_entry_path: String,
    /// Whether the caller may change the bundle.
    editable: bool,
    /// The version of the managed files; 0 for those that every agent of its
    /// role begins with.
    version: i32,
    /// What the caller should know.
    warnings: Vec<String>,
    /// `adapterConfig.promptTemplate` is in force beside the bundle.
    legacy_prompt_template_active: bool,
    /// `adapterConfig.bootstrapPromptTemplate` is in force beside the bundle.
    legacy_bootstrap_prompt_template_active: bool,
    /// The files, by path.
    files: Vec<SummaryBody>,
}

/// A file of a bundle, without its content.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InstructionsFileSummary)]
pub(super) struct SummaryBody {
    /// Its path within the bundle.
    path: String,
    /// Bytes of its content.
    size: u64,
    /// SHA-256 of its content, where that is known without reading it.
    sha256: Option<String>,
    /// Its language, by the end of its name.
    language: &'static str,
    /// Whether it is Markdown.
    markdown: bool,
    /// Whether agents are given it first.
    is_entry_file: bool,
    /// Whether the caller may write it.
    editable: bool,
    /// Whether it is there for the sake of old configurations alone.
    deprecated: bool,
    /// Whether it is a setting that only shows as a file.
    #[serde(rename = "virtual")]
    is_virtual: bool,
}

impl From<BundleFile> for SummaryBody {
    fn from(file: BundleFile) -> Self {
        let language = language_of(&file.path);
        Self {
            path: file.path,
            size: file.size,
            sha256: file.sha256,
            language,
            markdown: language == "markdown",
            is_entry_file: file.is_entry,
            editable: file.editable,
            deprecated: file.is_virtual,
            is_virtual: file.is_virtual,
        }
    }
}

impl From<BundleView> for BundleBody {
    fn from(view: BundleView) -> Self {
        let root_path = view.root().to_owned();
        let entry_file = view.pointer.entry_file.to_string();
        Self {
            agent_id: view.agent,
            company_id: view.company,
            mode: view.pointer.mode,
            resolved_entry_path: format!("{}/{entry_file}", root_path.trim_end_matches('/')),
            root_path,
            managed_root_path: view.managed_root,
            entry_file,
            editable: view.editable,
            version: view.pointer.version,
            warnings: view.warnings,
            legacy_prompt_template_active: view.legacy_template,
            legacy_bootstrap_prompt_template_active: view.legacy_bootstrap,
            files: view.files.into_iter().map(Into::into).collect(),
        }
    }
}

/// A file of a bundle with its content.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InstructionsFile)]
pub(super) struct FileBody {
    #[serde(flatten)]
    summary: SummaryBody,
    /// What it holds.
    content: String,
}

impl From<FileView> for FileBody {
    fn from(file: FileView) -> Self {
        Self {
            summary: file.file.into(),
            content: file.content,
        }
    }
}

/// A file that was written, and its bundle.
#[derive(Serialize, ToSchema)]
#[schema(as = WrittenInstructionsFile)]
pub(super) struct WrittenBody {
    #[serde(flatten)]
    pub(super) file: FileBody,
    /// The bundle as it is now.
    pub(super) bundle: BundleBody,
}

/// That a file was deleted, and its bundle.
#[derive(Serialize, ToSchema)]
#[schema(as = DeletedInstructionsFile)]
pub(super) struct DeletedBody {
    /// Always true.
    pub(super) ok: bool,
    /// The bundle as it is now.
    pub(super) bundle: BundleBody,
}

/// A path that was set, and the bundle it stands for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InstructionsPath)]
pub(super) struct PathBody {
    /// Whose instructions.
    agent_id: AgentId,
    /// How the agent is run.
    adapter_type: AdapterType,
    /// The key of the adapter's configuration that keeps the path.
    adapter_config_key: String,
    /// The path.
    path: Option<String>,
    /// The bundle as it is now.
    bundle: BundleBody,
}

impl From<InstructionsPath> for PathBody {
    fn from(set: InstructionsPath) -> Self {
        Self {
            agent_id: set.bundle.agent,
            adapter_type: set.adapter_type,
            adapter_config_key: set.key,
            path: set.path,
            bundle: set.bundle.into(),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PatchBundleBody {
    /// Who keeps the files; as before when left out.
    #[serde(default)]
    mode: Replace<BundleMode>,
    /// The folder of an external bundle, beneath one that the operator allows.
    #[serde(default)]
    root_path: Option<String>,
    /// The file an agent is given first; as before when left out.
    #[serde(default)]
    entry_file: Replace<String>,
    /// Clears the prompt templates of old.
    #[serde(default)]
    clear_legacy_prompt_template: bool,
    /// Leaves nothing of the managed files but the entry file, with the
    /// content of the one that was in force.
    #[serde(default)]
    replace_existing: bool,
}

impl PatchBundleBody {
    pub(super) fn command(self) -> Result<PatchBundle, Problem> {
        let entry = self.entry_file.value();
        Ok(PatchBundle {
            mode: self.mode.value(),
            root_path: self.root_path,
            entry_file: entry.map(|entry| path(&entry, "/entryFile")).transpose()?,
            clear_legacy: self.clear_legacy_prompt_template,
            replace_existing: self.replace_existing,
        })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PutFileBody {
    /// Its path within the bundle.
    #[schema(min_length = 1, max_length = 200)]
    path: String,
    /// What it is to hold; at most 1 MiB.
    #[schema(max_length = 1_048_576)]
    content: String,
    /// Writes it only over a content with this SHA-256.
    #[serde(default)]
    #[schema(min_length = 64, max_length = 64)]
    if_match: Option<String>,
    /// Clears the prompt templates of old.
    #[serde(default)]
    clear_legacy_prompt_template: bool,
}

impl PutFileBody {
    pub(crate) fn command(self) -> Result<PutFile, Problem> {
        Ok(PutFile {
            path: path(&self.path, "/path")?,
            content: self.content,
            if_match: self.if_match,
            clear_legacy: self.clear_legacy_prompt_template,
        })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetPathBody {
    /// The absolute path of the file; null clears it.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required)]
    path: Option<String>,
    /// The key of the adapter's configuration that keeps it;
    /// `instructionsFilePath` when left out.
    #[serde(default)]
    adapter_config_key: Option<String>,
}

impl SetPathBody {
    pub(super) fn command(self) -> SetInstructionsPath {
        SetInstructionsPath {
            path: self.path,
            key: self.adapter_config_key,
        }
    }
}
