//! `cargo xtask agents`: installs the agent programs that tests run against the model imitation,
//! each in a folder of its own in the target folder. Needs Node.js, npm and its registry.

mod program;

use std::path::PathBuf;

use anyhow::{Error, Result, bail};
use clap::Args;

use self::program::Program;
use crate::repository::Repository;

/// Names the folder of the programs to tests; the crate of the model imitation knows it too.
pub(crate) const FOLDER_VARIABLE: &str = "WORKFORCE_TEST_AGENTS";

/// Which programs there are. The crate of the model imitation looks for what it says.
const PROGRAMS: &str = "crates/model-imitation/programs.txt";

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Install the programs too whose tests are left out without them
    #[arg(long)]
    all: bool,
}

/// Installs what is not there yet. What cannot be installed is told; it is a failure only where it
/// `is_required`, and with `all` only if every run of the tests is to have it.
///
/// # Errors
///
/// When a required program cannot be installed.
pub(crate) fn run(repository: &Repository, options: &Options, is_required: bool) -> Result<()> {
    let mut missing = Vec::new();
    for program in Program::listed(&repository.read(PROGRAMS)?)? {
        if !(options.all || program.is_for_every_run()) {
            continue;
        }
        if let Err(error) = program.install(repository, &folder(repository)) {
            warn(&program, &error);
            if program.is_for_every_run() {
                missing.push(program.to_string());
            }
        }
    }
    if is_required && !missing.is_empty() {
        bail!("CI runs the tests of {} too", missing.join(" and "));
    }
    Ok(())
}

/// Installs what every run of the tests is to have, and tells where the programs are. Does nothing
/// where somebody named a folder of them.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn for_tests(repository: &Repository, is_required: bool) -> Result<PathBuf> {
    match std::env::var_os(FOLDER_VARIABLE) {
        Some(given) if !given.is_empty() => Ok(given.into()),
        _ => {
            run(repository, &Options::default(), is_required)?;
            Ok(folder(repository))
        }
    }
}

fn folder(repository: &Repository) -> PathBuf {
    repository.root().join("target/agents")
}

fn warn(program: &Program, error: &Error) {
    let line = "!".repeat(80);
    eprintln!("{line}");
    eprintln!("!! The tests of {program} are LEFT OUT: it could not be installed.");
    for told in format!("{error:#}").lines() {
        eprintln!("!! {told}");
    }
    eprintln!("{line}");
}
