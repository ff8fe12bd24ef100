//! What the code says, as text: `cargo xtask codegen`.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod openapi;
mod reference;
mod sections;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// Write the parts of the documentation that come from the code
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask codegen")]
struct Arguments {
    /// Write nothing; fail when a part is out of date
    #[arg(long)]
    check: bool,
    /// Write nothing; print every answer that a route says it gives
    #[arg(long, conflicts_with = "check")]
    answers: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = if arguments.answers {
        print!("{}", reference::answers());
        Ok(())
    } else if arguments.check {
        sections::check(&root())
    } else {
        sections::write(&root())
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The top directory of the repository.
fn root() -> PathBuf {
    // Cargo sets it for what it runs. What it was at build time may be outdated: cargo does not
    // build again when a repository moves together with its target directory.
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().unwrap_or(Path::new(".")).to_owned()
}
