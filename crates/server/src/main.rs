//! `workforce`: the service and its command line.

mod api;
mod backup;
mod board;
mod board_token;
mod client;
mod config;
mod demo;
mod doctor;
mod logging;
mod master_key;
mod memory;
mod secrets;
mod service;
mod snapshots;
mod stop_signals;
mod sweeper;
mod token;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Manages AI agents as employees of companies.
///
/// Without a command it serves.
#[derive(Debug, Parser)]
#[command(name = "workforce", version, args_conflicts_with_subcommands = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: config::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the REST interface and run the agents (the default).
    Serve(Box<config::ServeArgs>),
    /// Watch two agents work on an issue, in a service of its own.
    Demo(demo::DemoArgs),
    /// Call the REST interface, as a script of an agent does.
    Api(api::ApiArgs),
    /// Make, list and revoke tokens of the board on the running service.
    Token(token::TokenArgs),
    /// Open the pages of the running service.
    Board(board::BoardArgs),
    /// Copy everything that a server keeps, also while it works.
    Backup(backup::BackupArgs),
    /// Fill an empty data folder and database from a backup.
    Restore(backup::RestoreArgs),
    /// See whether everything that a server keeps is in order.
    Doctor(doctor::DoctorArgs),
    /// Look after the secrets of a running server.
    Secrets(secrets::SecretsArgs),
    /// Stays with one run; started by the service only.
    #[command(name = service::GUARD, hide = true)]
    Guard,
    /// Calls one agent by HTTP; started by guards only.
    #[command(name = workforce_http_caller::SUBCOMMAND, hide = true)]
    HttpCall,
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let outcome = match line
        .command
        .unwrap_or_else(|| Command::Serve(Box::new(line.serve)))
    {
        Command::Serve(args) => service::serve(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Api(args) => return api::run(&args),
        Command::Token(args) => token::run(&args),
        Command::Board(args) => board::run(&args),
        Command::Secrets(args) => secrets::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Restore(args) => backup::restore(&args),
        Command::Doctor(args) => return doctor::run(&args),
        Command::Guard => return workforce_guard::main(),
        Command::HttpCall => return workforce_http_caller::main(),
    };
    match outcome {
        Ok(()) => {
            logging::flush();
            ExitCode::SUCCESS
        }
        Err(error) => {
            logging::say(&format!("workforce: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
