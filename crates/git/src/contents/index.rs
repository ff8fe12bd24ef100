//! The index of a view, and of a worktree.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;

use crate::GitError;
use crate::contents::survey::need_plain_attributes;
use crate::folder::Folder;
use crate::view::View;

/// Copies the index of a view into the folder of a worktree. Whatever stands
/// there as `index` is replaced, also a link.
pub(crate) fn place(view: &View, folder: &Folder) -> io::Result<()> {
    let mut source = File::open(view.index())?;
    let temporary = folder.temporary("index")?;
    let placed = folder.new_file(&temporary, 0o666).and_then(|mut file| {
        io::copy(&mut source, &mut file)?;
        file.flush()?;
        // Git looks again at files that changed after their index was written.
        let metadata = source.metadata()?;
        let time = TimeSpec::new(metadata.mtime(), metadata.mtime_nsec());
        futimens(&file, &time, &time)?;
        file.sync_all()?;
        folder.rename(&temporary, folder, "index".as_ref())
    });
    if placed.is_err() {
        let _ = folder.remove_file(&temporary);
    }
    placed
}

/// Lets an index know what the files look like, so that later looks are quick.
///
/// # Errors
/// [`GitError::Tampered`] for attributes that git would wait for or read whole.
pub(crate) async fn refresh(view: &View, files: &Path) -> Result<(), GitError> {
    need_plain_attributes(view, files).await?;
    // It says by its exit code whether files differ.
    let output = view
        .command_in("update-index", files)
        .args(["-q", "--ignore-submodules", "--refresh"])
        .run()
        .await?;
    match output.code {
        Some(0 | 1) => Ok(()),
        _ => Err(output.failed("update-index")),
    }
}

/// Takes paths, each with a zero behind it, out of an index, whatever is in the folder.
pub(crate) async fn forget(view: &View, paths: Vec<u8>) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    view.command("update-index")
        .args(["--force-remove", "-z", "--stdin"])
        .input(paths)
        .output()
        .await?;
    Ok(())
}
