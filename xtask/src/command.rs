//! Runs other programs, with their output passed through.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::repository::Repository;

/// A command in the root directory of the repository.
pub(crate) fn command(repository: &Repository, program: impl AsRef<OsStr>) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool of the build is not an agent of a company"
    )]
    let mut command = Command::new(program);
    command.current_dir(repository.root());
    command
}

/// The cargo that runs this program, with `arguments`.
pub(crate) fn cargo<'a>(
    repository: &Repository,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Command {
    let mut command = command(
        repository,
        std::env::var_os("CARGO").unwrap_or("cargo".into()),
    );
    command.args(arguments);
    command
}

/// Whether `cargo subcommand` is installed.
pub(crate) fn has_cargo_subcommand(repository: &Repository, subcommand: &str) -> bool {
    cargo(repository, [subcommand, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Says what is run, runs it, and fails when it fails.
pub(crate) fn run(command: Command) -> Result<()> {
    announce(&command);
    run_silently(command)
}

/// Runs a command, and fails when it fails.
pub(crate) fn run_silently(mut command: Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("failed to start `{}`", display(&command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", display(&command));
    }
    Ok(())
}

/// Prints the command line that is about to run.
pub(crate) fn announce(command: &Command) {
    println!("\n$ {}", display(command));
}

/// The command line as one types it, without the directory of the program.
pub(crate) fn display(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
