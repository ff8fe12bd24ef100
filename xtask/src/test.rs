//! `cargo xtask test`.

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{MetadataCommand, TargetKind};
use clap::Args;
use workforce_postgres_cluster::CLUSTER_URL_VARIABLE;

use crate::command::{self, cargo, has_cargo_subcommand};
use crate::repository::Repository;
use crate::response_coverage::Answers;
use crate::skipped_tests::LeftOut;
use crate::test_count::{self, TestCount};
use crate::{agents, axe, postgres};

/// The package whose examples show how to embed it, and so must run.
const PACKAGE_WITH_EXAMPLES: &str = "workforce-domain";

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// What to pass on to `cargo nextest run` (or to `cargo test` where nextest is not installed).
    /// With any of these, documentation tests and examples are left out.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Whether this is the automatic check, which leaves no test out.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Runs every test of the workspace, then the documentation tests and the examples, and prints how
/// many tests ran, and how many were left out. Fails too when a route says that it answers
/// something that no test has seen.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<()> {
    let is_ci = is_ci();
    let mut total = TestCount::default();
    let left_out = LeftOut::none_yet()?;
    let outcome = run_all(repository, options, is_ci, &left_out, &mut total);
    println!("\n{total}");
    if let Some(warning) = left_out.warning()? {
        eprintln!("{warning}");
    }
    outcome
}

fn run_all(
    repository: &Repository,
    options: &Options,
    is_ci: bool,
    left_out: &LeftOut,
    total: &mut TestCount,
) -> Result<()> {
    let given = std::env::var(CLUSTER_URL_VARIABLE).is_ok_and(|url| !url.is_empty());
    let cluster = if given {
        None
    } else {
        postgres::for_tests(is_ci)?
    };
    let agents = agents::for_tests(repository, is_ci)?;
    let axe = axe::for_tests(repository, is_ci)?;
    let answers = Answers::none_yet()?;
    let has_nextest = has_cargo_subcommand(repository, "nextest");

    let mut tests = if has_nextest {
        cargo(repository, ["nextest", "run", "--workspace"])
    } else {
        println!("cargo-nextest is not installed; using cargo test");
        cargo(
            repository,
            ["test", "--workspace", "--all-targets", "--no-fail-fast"],
        )
    };
    tests.args(&options.arguments);
    left_out.noted_by(&mut tests);
    tests.env(agents::FOLDER_VARIABLE, agents);
    if let Some(file) = axe {
        tests.env(axe::FILE_VARIABLE, file);
    }
    if let Some(cluster) = &cluster {
        tests.env(CLUSTER_URL_VARIABLE, cluster.url());
    }
    if !options.arguments.is_empty() {
        return test_count::run(tests, total);
    }
    answers.noted_by(&mut tests);
    let outcome = test_count::run(tests, total);
    // Without nextest one process runs all tests, so that nobody can tell which database answered.
    let answers_outcome = match (has_nextest, given || cluster.is_some()) {
        (false, _) => Ok(()),
        (true, false) => answers.check(repository, &["sqlite"]),
        (true, true) => answers.check(repository, &["sqlite", "postgres"]),
    };

    let doc_tests = cargo(repository, ["test", "--doc", "--workspace"]);
    let doc_outcome = test_count::run(doc_tests, total);
    let example_outcome = run_examples(repository);

    // All of them ran, so that one report holds every failure.
    let outcomes = [outcome, answers_outcome, doc_outcome, example_outcome];
    let failures: Vec<String> = outcomes
        .into_iter()
        .filter_map(Result::err)
        .map(|error| format!("{error:#}"))
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        bail!("{}", failures.join("\nerror: "))
    }
}

/// Runs the examples that the tests have built.
fn run_examples(repository: &Repository) -> Result<()> {
    let metadata = MetadataCommand::new()
        .current_dir(repository.root())
        .no_deps()
        .exec()
        .context("failed to read the workspace")?;
    command::run(cargo(repository, ["build", "--workspace", "--examples"]))?;
    let examples = metadata
        .packages
        .iter()
        .filter(|package| package.name.as_str() == PACKAGE_WITH_EXAMPLES)
        .flat_map(|package| &package.targets)
        .filter(|target| target.kind.contains(&TargetKind::Example));
    let folder = metadata.target_directory.join("debug/examples");
    for example in examples {
        command::run(command::command(repository, folder.join(&example.name)))?;
    }
    Ok(())
}
