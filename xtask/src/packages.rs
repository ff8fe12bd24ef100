//! Tasks that are packages of their own, because they are built with the whole service: what needs
//! none of it is not to wait for that.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::command::{self, cargo, display};
use crate::repository::Repository;

const CODEGEN: &str = "workforce-codegen";

/// The clients and the baselines of the bench have to be optimised like the server.
const BENCH: [&str; 5] = ["run", "--release", "--package", "workforce-bench", "--"];

/// Thousands of seeds, so that the profile is one of its own.
const SIMULATION: [&str; 6] = [
    "run",
    "--profile",
    "simulation",
    "--package",
    "workforce-simulation",
    "--",
];

/// What the package is told.
#[derive(Debug, Args)]
pub(crate) struct PassedOn {
    /// What to pass on; `--help` lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Writes the generated text, or does what it is told.
pub(crate) fn codegen(repository: &Repository, options: &PassedOn) -> Result<()> {
    let mut codegen = program(repository, CODEGEN)?;
    codegen.args(&options.arguments);
    command::run_silently(codegen)
}

/// Fails when generated text is out of date.
pub(crate) fn check_generated(repository: &Repository) -> Result<()> {
    let mut codegen = program(repository, CODEGEN)?;
    codegen.arg("--check");
    command::run_silently(codegen)
}

/// Every answer that a route says it gives: method, path, and the status of a success or the code
/// of a refusal, each answer in a line.
pub(crate) fn answers(repository: &Repository) -> Result<String> {
    let mut codegen = program(repository, CODEGEN)?;
    codegen.arg("--answers").stderr(Stdio::inherit());
    let shown = display(&codegen);
    let output = codegen
        .output()
        .with_context(|| format!("failed to start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).context("the answers of the routes are no text")
}

/// A program of the workspace, built as the tests build it: built by itself it would have other
/// features of the same libraries, and all of them would be built once more.
pub(crate) fn program(repository: &Repository, name: &str) -> Result<Command> {
    let build = ["build", "--quiet", "--workspace", "--bins"];
    command::run_silently(cargo(repository, build))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    let program = repository.root().join(target).join("debug").join(name);
    Ok(command::command(repository, program))
}

/// Simulates.
pub(crate) fn simulate(repository: &Repository, options: &PassedOn) -> Result<()> {
    let mut simulation = cargo(repository, SIMULATION);
    simulation.args(&options.arguments);
    command::run(simulation)
}

/// Measures.
pub(crate) fn bench(repository: &Repository, options: &PassedOn) -> Result<()> {
    let mut bench = cargo(repository, BENCH);
    bench.args(&options.arguments);
    command::run(bench)
}
