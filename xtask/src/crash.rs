//! `cargo xtask crash`: a test of the real binary, with more kills than the tests have time for.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::command::{self, cargo};
use crate::repository::Repository;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What the servers keep their records in
    #[arg(long, value_enum, default_value = "both")]
    database: Database,
    /// How many processes are killed on each
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Picks victims and moments; what happens in between takes its own time
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
    Both,
}

impl Database {
    /// What the names of its tests begin with.
    const fn tests(self) -> &'static str {
        match self {
            Self::Sqlite => "crashes::sqlite::",
            Self::Postgres => "crashes::postgres::",
            Self::Both => "crashes::",
        }
    }
}

/// Kills processes under load, on one database after the other. A PostgreSQL that is not installed
/// is a failure: whoever asks for it wants to know.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<()> {
    // With the whole workspace, so that libraries are built with the features they have already;
    // not with nextest, which ends a test that takes so long.
    let mut crash = cargo(
        repository,
        ["test", "--workspace", "--test", "binary", "--"],
    );
    crash.args([options.database.tests(), "--nocapture", "--test-threads=1"]);
    crash.env("WORKFORCE_CRASH_KILLS", options.kills.to_string());
    crash.env("WORKFORCE_CRASH_SEED", options.seed.to_string());
    if options.database != Database::Sqlite {
        crash.env("CI", "true");
    }
    command::run(crash)
}
