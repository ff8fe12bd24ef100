//! The repository whose program is measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::MetadataCommand;

/// Its top directory.
pub(crate) fn root() -> PathBuf {
    // Cargo sets it for what it runs. What it was at build time may be outdated: cargo does not
    // build again when a repository moves together with its target directory.
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().unwrap_or(Path::new(".")).to_owned()
}

/// Builds the program, unless `is_built`, and says where it is.
pub(crate) fn program(root: &Path, is_built: bool) -> Result<PathBuf> {
    if !is_built {
        build(root)?;
    }
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .no_deps()
        .exec()
        .context("failed to read the workspace")?;
    let program = metadata.target_directory.join("release/workforce");
    if !program.is_file() {
        bail!("{program} does not exist; leave out --no-build");
    }
    Ok(program.into())
}

fn build(root: &Path) -> Result<()> {
    const ARGUMENTS: [&str; 4] = ["build", "--release", "--package", "workforce"];
    println!("\n$ cargo {}", ARGUMENTS.join(" "));
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool of the build is not an agent of a company"
    )]
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let status = cargo
        .args(ARGUMENTS)
        .current_dir(root)
        .status()
        .context("failed to start cargo")?;
    if !status.success() {
        bail!("the program cannot be built ({status})");
    }
    Ok(())
}
