//! Tasks of the repository, started with `cargo xtask`.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod agents;
mod axe;
mod ci;
mod clients;
mod command;
mod crash;
mod packages;
mod pictures;
mod postgres;
mod repository;
mod response_coverage;
mod skipped_tests;
mod test;
mod test_count;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::packages::PassedOn;
use crate::repository::Repository;

/// Tasks of the repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run all tests, on SQLite and on a throw-away PostgreSQL
    Test(test::Options),
    /// Check formatting, lints, rules, generated text, documentation, features and licences, then
    /// run all tests
    Ci,
    /// Check the rules of this repository
    Tidy,
    /// Write the parts of the documentation that come from the code
    #[command(disable_help_flag = true)]
    Codegen(PassedOn),
    /// Install the real agent programs that tests run; needs Node.js and npm
    Agents(agents::Options),
    /// Make clients from the OpenAPI document and run them against a server; needs Node.js and Python
    Clients,
    /// Make pictures of the pages of the board in the target folder; needs Chromium
    Pictures,
    /// Measure the release binary and print each write beside its baseline, or a server that runs
    #[command(disable_help_flag = true)]
    Bench(PassedOn),
    /// Let two servers, agents and a board meet in every order, and check what must hold
    #[command(disable_help_flag = true)]
    Simulate(PassedOn),
    /// Kill servers, guards, agents' programs and PostgreSQL's processes under load, and check that
    /// nothing is lost
    Crash(crash::Options),
    /// Start a throw-away PostgreSQL, print its URL, and keep it until standard input closes
    Postgres,
}

fn main() -> ExitCode {
    let repository = Repository::own();
    let outcome = match Arguments::parse().task {
        Task::Test(options) => test::run(&repository, &options),
        Task::Ci => ci::run(&repository),
        Task::Tidy => tidy::run(&repository),
        Task::Codegen(options) => packages::codegen(&repository, &options),
        Task::Agents(options) => agents::run(&repository, &options, test::is_ci()),
        Task::Clients => clients::run(&repository),
        Task::Pictures => pictures::run(&repository),
        Task::Bench(options) => packages::bench(&repository, &options),
        Task::Simulate(options) => packages::simulate(&repository, &options),
        Task::Crash(options) => crash::run(&repository, &options),
        Task::Postgres => postgres::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
