//! `cargo xtask ci`: everything that must hold before a change is merged.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{self, cargo, has_cargo_subcommand};
use crate::repository::Repository;
use crate::{clients, packages, test, tidy};

/// Runs every check in the order of its price, and stops at the first that fails.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let cargo = |arguments: &str| cargo(repository, arguments.split(' '));
    step("formatting", cargo("fmt --all -- --check"))?;
    step(
        "lints",
        cargo("clippy --workspace --all-targets -- -D warnings"),
    )?;

    // Features of the other crates hide what it needs by itself.
    step("domain alone", cargo("check -p workforce-domain"))?;
    step(
        "domain in mocks",
        cargo("test -p workforce-domain --features mocks"),
    )?;

    println!("\n== rules of the repository");
    tidy::run(repository)?;
    println!("\n== generated text");
    packages::check_generated(repository)?;
    println!("\n== generated clients");
    // The automatic check has them; who works on a part without them need not install them.
    if test::is_ci() || clients::can_run(repository) {
        clients::run(repository)?;
    } else {
        println!("skipped: Node.js, npm or Python is not installed");
    }

    let mut documentation = cargo("doc --workspace --no-deps");
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    step("documentation", documentation)?;
    for database in ["sqlite", "postgres"] {
        let arguments = format!("check -p workforce --no-default-features --features {database}");
        step(&format!("{database} alone"), cargo(&arguments))?;
    }
    if has_cargo_subcommand(repository, "deny") {
        step("dependencies", cargo("deny check bans licenses sources"))?;
    } else {
        println!("\n== dependencies\nskipped: cargo-deny is not installed");
    }

    let simulation = "run --profile simulation -p workforce-simulation -- --seeds 10000";
    step("simulation", cargo(simulation))?;

    println!("\n== tests");
    test::run(repository, &test::Options::default())
}

fn step(name: &str, command: Command) -> Result<()> {
    println!("\n== {name}");
    command::run(command).with_context(|| format!("the check of {name} failed"))
}
