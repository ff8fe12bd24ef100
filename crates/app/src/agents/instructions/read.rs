use workforce_domain::id::AgentId;
use workforce_domain::instructions::{BundlePath, LEGACY_TEMPLATE};
use workforce_domain::port::{Failure, InstructionFiles, Reads};

use super::bundle::{BundleFile, BundleView, content, is_listed, manifest, view};
use super::{InstructionsError, ON_DISK, PutFile, TEMPLATE_KEY, on_disk, template};
use crate::access::Denied;
use crate::agents::readable;
use crate::context::Context;
use crate::digest::sha256;
use crate::refusal::Codes;

/// The bundle of an agent, for the board, the agent itself and those above it.
/// What only the disk tells is added with [`BundleView::completed`].
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
) -> Result<BundleView, Failure<InstructionsError>> {
    let agent = readable::<InstructionsError>(reads, ctx, id)?;
    Ok(view(reads, ctx, &agent)?)
}

/// A file with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileView {
    /// The file.
    pub file: BundleFile,
    /// What it holds.
    pub content: String,
}

/// A file that a caller may see, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundFile {
    /// Here it is.
    Here(FileView),
    /// On disk, where [`load`] reads it.
    OnDisk {
        /// The folder of the bundle.
        root: String,
        /// Its path within the bundle.
        path: BundlePath,
        /// Whether agents are given it first.
        is_entry: bool,
        /// Whether the caller may write it.
        editable: bool,
    },
}

/// What [`file()`] and [`load`] refuse with.
pub const FILE: Codes = ON_DISK;

/// A file of an agent's bundle, for whoever may see the bundle.
pub fn file(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AgentId,
    path: &BundlePath,
) -> Result<FoundFile, Failure<InstructionsError>> {
    let agent = readable::<InstructionsError>(reads, ctx, id)?;
    let view = view(reads, ctx, &agent)?;
    let missing = || Denied::NotFound("file in the bundle");
    if path.as_str() == LEGACY_TEMPLATE {
        let template = template(&agent, TEMPLATE_KEY).ok_or_else(missing)?;
        let mut view = seen(path, template.to_owned(), false, false);
        view.file.is_virtual = true;
        return Ok(FoundFile::Here(view));
    }
    let pointer = &view.pointer;
    let is_entry = *path == pointer.entry_file;
    if let Some(root) = pointer.external_root() {
        return Ok(FoundFile::OnDisk {
            root: root.to_owned(),
            path: path.clone(),
            is_entry,
            editable: view.editable && is_listed(pointer, path),
        });
    }
    let manifest = manifest(reads, &agent, pointer)?;
    let file = manifest.find(path).ok_or_else(missing)?;
    let content = content(reads, &agent, pointer, file)?;
    Ok(FoundFile::Here(seen(
        path,
        content,
        is_entry,
        view.editable,
    )))
}

fn seen(path: &BundlePath, content: String, is_entry: bool, editable: bool) -> FileView {
    let file = BundleFile {
        path: path.to_string(),
        size: content.len() as u64,
        sha256: Some(sha256(&content)),
        is_entry,
        editable,
        is_virtual: false,
    };
    FileView { file, content }
}

/// A file that was just written, as the bundle has it now.
pub fn written(command: &PutFile, bundle: &BundleView) -> FileView {
    let is_entry = command.path == bundle.pointer.entry_file;
    let content = command.content.clone();
    seen(&command.path, content, is_entry, bundle.editable)
}

/// A file that was found, with its content. Touches the disk.
pub fn load(found: FoundFile, disk: &dyn InstructionFiles) -> Result<FileView, InstructionsError> {
    match found {
        FoundFile::Here(file) => Ok(file),
        FoundFile::OnDisk {
            root,
            path,
            is_entry,
            editable,
        } => {
            let content = disk
                .read(&root, &path)
                .map_err(|error| on_disk(&error, "?path"))?;
            Ok(seen(&path, content, is_entry, editable))
        }
    }
}
