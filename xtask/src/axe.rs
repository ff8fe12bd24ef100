//! axe-core, with which tests look for faults of accessibility in the pages of the board. What is
//! installed is written down beside the tests; it lies in the target folder. Needs npm and its
//! registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::command::{command, display};
use crate::repository::Repository;

/// Names its file to the tests, which know it too.
pub(crate) const FILE_VARIABLE: &str = "WORKFORCE_TEST_AXE";

const SOURCES: &str = "crates/board/tests/browser/axe";

/// Without patience: where there is no network, a run of the tests is not to wait for it.
const NPM: &str = "ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error \
                   --fetch-retries=1 --fetch-retry-mintimeout=1000";

/// Its file, installed if it is not there; `None` and a loud message where that is impossible.
/// Does nothing where somebody named the file.
///
/// # Errors
///
/// When it cannot be installed and `is_required`.
pub(crate) fn for_tests(repository: &Repository, is_required: bool) -> Result<Option<PathBuf>> {
    if let Some(given) = std::env::var_os(FILE_VARIABLE).filter(|given| !given.is_empty()) {
        return Ok(Some(given.into()));
    }
    let folder = repository.root().join("target/axe");
    match install(repository, &folder) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_required => Err(error).context("CI runs the tests with axe-core too"),
        Err(error) => {
            warn(&error);
            Ok(None)
        }
    }
}

fn install(repository: &Repository, folder: &Path) -> Result<PathBuf> {
    let file = folder.join("node_modules/axe-core/axe.min.js");
    let lock = repository.read(Path::new(SOURCES).join("package-lock.json"))?;
    // npm reads it, and it is written last.
    let stamp = folder.join("installed");
    if file.is_file() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(file);
    }
    fs::create_dir_all(folder).with_context(|| format!("failed to make {folder:?}"))?;
    for name in ["package.json", "package-lock.json"] {
        let text = repository.read(Path::new(SOURCES).join(name))?;
        fs::write(folder.join(name), text).with_context(|| format!("failed to write {name}"))?;
    }
    let mut npm = command(repository, "npm");
    npm.args(NPM.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null());
    let output = npm
        .output()
        .context("npm cannot be started: install Node.js 20.19 or newer")?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}):\n{told}", display(&npm), output.status);
    }
    fs::write(stamp, lock).context("failed to note what is installed")?;
    Ok(file)
}

fn warn(error: &anyhow::Error) {
    let line = "!".repeat(80);
    eprintln!("{line}");
    eprintln!("!! The tests with axe-core are LEFT OUT: it could not be installed.");
    for told in format!("{error:#}").lines() {
        eprintln!("!! {told}");
    }
    eprintln!("{line}");
}
