//! `cargo xtask bench`: how fast the release binary is, beside what its databases could do at most.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod baseline;
mod claims;
mod client;
mod company;
mod comparison;
mod crowd;
mod database;
mod figure;
mod limit;
mod load;
mod machine;
mod random;
mod read;
mod report;
mod repository;
mod run;
mod seed;
mod server;
mod sql;
mod statement;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, ValueEnum};
use diesel::{PgConnection, SqliteConnection};
use workforce_domain::time::Timestamp;
use workforce_testkit::postgres::Cluster;
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::claims::Claims;
use crate::crowd::{Crowd, CrowdRun};
use crate::figure::Figure;
use crate::load::Pace;
use crate::machine::{Machine, load_average};
use crate::report::{POSTGRES, Report, Run, SQLITE, acceptance, acceptance_lines};
use crate::run::Bench;

/// Where the reports go.
const RESULTS: &str = "bench-results";

/// Measure the release binary, and print each write beside its baseline
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench")]
struct Options {
    /// The databases to measure
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    database: Databases,
    /// How many issues are present, for each size to measure
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
    issues: Vec<usize>,
    /// How many clients ask at once, for each row of a figure
    #[arg(long, value_delimiter = ',', default_values_t = [8, 64])]
    connections: Vec<usize>,
    /// Measure each figure for one second instead of three
    #[arg(long)]
    quick: bool,
    /// Measure the release binary that is there
    #[arg(long)]
    no_build: bool,
    /// Measure only these figures, and no claims
    #[arg(long, value_enum, value_name = "FIGURE", value_delimiter = ',')]
    only: Vec<Figure>,
    /// Measure only so many agents at work at once, at a steady rate
    #[arg(long, conflicts_with_all = ["only", "claims"])]
    agents: Option<usize>,
    /// How often each of them goes through its seven requests, in seconds
    #[arg(long, default_value_t = 60, requires = "agents")]
    cycle: u32,
    /// Measure only what a claim costs, by how many wakes are due
    #[arg(long, conflicts_with = "only")]
    claims: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
}

/// Below this, not every client of a write would have an issue of its own.
const FEWEST_ISSUES: usize = 500;

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, prints the tables, and writes the report.
fn measure(options: &Options) -> Result<()> {
    if cfg!(debug_assertions) {
        bail!("the clients have to be optimised like the server: start `cargo xtask bench`");
    }
    if options.issues.iter().any(|count| *count < FEWEST_ISSUES) {
        bail!("the clients need at least {FEWEST_ISSUES} issues to work on");
    }
    let root = repository::root();
    let machine = Machine::of(&std::env::temp_dir());
    if machine.is_in_memory() {
        eprintln!(
            "WARNING: {} lies in memory, where a commit costs nothing; set TMPDIR to a folder on \
             a disk",
            std::env::temp_dir().display()
        );
    }
    let began_at = Timestamp::from_micros(random::now()).to_string();
    let load_average_at_begin = load_average();
    let pace = pace(options.quick);
    let (mut claims, mut runs, mut statement_differences) = Default::default();
    let mut crowds = Vec::new();
    if let Some(agents) = options.agents {
        crowds = crowds_at_work(options, &root, agents)?;
    } else {
        claims = claims_of(options, pace)?;
        if !options.claims {
            (runs, statement_differences) = figures_of_program(options, &root, pace)?;
        }
    }
    let acceptance = acceptance(&runs, &claims);
    println!("\nTargets\n\n{}", acceptance_lines(&acceptance));
    for difference in &statement_differences {
        eprintln!("WARNING: this baseline runs other statements than the server: {difference}");
    }
    let report = Report {
        began_at,
        machine,
        load_average_at_begin,
        load_average_at_end: load_average(),
        pace,
        claims,
        runs,
        crowds,
        statement_differences,
        acceptance,
    };
    let path = write(&root, &report)?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Every figure of the release binary on each database that is asked for; which writes have a
/// baseline with other statements.
fn figures_of_program(
    options: &Options,
    root: &Path,
    pace: Pace,
) -> Result<(Vec<Run>, Vec<String>)> {
    let bench = Bench {
        program: repository::program(root, options.no_build)?,
        pace,
        figures: figures(&options.only),
        connections: options.connections.clone(),
    };
    let (mut runs, mut statement_differences) = (Vec::new(), Vec::new());
    for count in &options.issues {
        if options.database != Databases::Postgres {
            runs.push(bench.on_sqlite(*count)?);
        }
    }
    if options.database != Databases::Sqlite {
        let cluster = Cluster::start_durable().context("failed to start PostgreSQL")?;
        statement_differences = bench.compare_statements(&cluster)?;
        for count in &options.issues {
            runs.push(bench.on_postgres(&cluster, *count)?);
        }
    }
    Ok((runs, statement_differences))
}

/// So many agents at work on each database that is asked for, and with two servers on one
/// PostgreSQL.
fn crowds_at_work(options: &Options, root: &Path, agents: usize) -> Result<Vec<CrowdRun>> {
    let program = repository::program(root, options.no_build)?;
    let crowd = Crowd {
        agents,
        cycle: Duration::from_secs(options.cycle.into()),
        duration: Duration::from_secs(if options.quick { 10 } else { 60 }),
    };
    let mut runs = Vec::new();
    if options.database != Databases::Postgres {
        runs.push(crowd.on_sqlite(&program)?);
    }
    if options.database != Databases::Sqlite {
        let cluster = Cluster::start_durable().context("failed to start PostgreSQL")?;
        for servers in [1, 2] {
            runs.push(crowd.on_postgres(&program, &cluster, servers)?);
        }
    }
    Ok(runs)
}

/// What a claim costs on each database that is asked for.
fn claims_of(options: &Options, pace: Pace) -> Result<Vec<Claims>> {
    let mut claims = Vec::new();
    if !options.only.is_empty() {
        return Ok(claims);
    }
    if options.database != Databases::Postgres {
        let open = || Ok(sqlite_store());
        claims.push(claims::measure::<SqliteConnection>(SQLITE, pace, open)?);
    }
    if options.database != Databases::Sqlite {
        let open = || postgres_store().context("PostgreSQL is not installed");
        claims.push(claims::measure::<PgConnection>(POSTGRES, pace, open)?);
    }
    for database in &claims {
        println!("\n{}", database.table());
    }
    Ok(claims)
}

fn pace(is_quick: bool) -> Pace {
    if is_quick {
        Pace {
            warm_up: Duration::from_millis(300),
            duration: Duration::from_secs(1),
        }
    } else {
        Pace {
            warm_up: Duration::from_millis(700),
            duration: Duration::from_secs(3),
        }
    }
}

fn figures(only: &[Figure]) -> Vec<Figure> {
    let is_wanted = |figure: &Figure| only.is_empty() || only.contains(figure);
    Figure::ALL.into_iter().filter(is_wanted).collect()
}

fn write(root: &Path, report: &Report) -> Result<PathBuf> {
    let directory = root.join(RESULTS);
    fs::create_dir_all(&directory)
        .with_context(|| format!("failed to create {}", directory.display()))?;
    let path = directory.join(format!("{}.json", report.began_at.replace(':', "")));
    fs::write(&path, serde_json::to_vec_pretty(report)?)
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(path)
}
