//! Tries one seed, and tells what happened, or many.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

use std::process::ExitCode;

use clap::Parser;
use workforce_simulation::{Runner, try_on_all_cores};

/// Tries seeds.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask simulate", bin_name = "cargo xtask simulate")]
struct Arguments {
    /// The one seed to try, with a line for each step
    #[arg(long)]
    seed: Option<u64>,
    /// The first of many
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// How many
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    let Some(seed) = arguments.seed else {
        let tally = try_on_all_cores(arguments.from, arguments.seeds)?;
        println!("{tally}");
        return Ok(tally.failed.is_none());
    };
    let runner = Runner::new()?;
    let outcome = runner.try_seed(seed);
    match &outcome {
        Ok(()) => println!(
            "{}\nseed {seed}: all holds",
            runner.trace_of(seed).join("\n")
        ),
        Err(failed) => println!("{failed}"),
    }
    Ok(outcome.is_ok())
}
