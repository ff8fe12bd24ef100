//! `cargo xtask bench`: how fast the release binary is, beside what its databases could do at most.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod baseline;
mod board;
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
mod memory;
mod options;
mod random;
mod read;
mod remote;
mod report;
mod repository;
mod results;
mod run;
mod seed;
mod server;
mod sql;
mod statement;
mod write;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use diesel::{PgConnection, SqliteConnection};
use workforce_domain::time::Timestamp;
use workforce_testkit::postgres::Cluster;
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::claims::Claims;
use crate::crowd::{Crowd, CrowdRun};
use crate::load::Pace;
use crate::machine::{Machine, load_average};
use crate::options::{Databases, Options};
use crate::remote::Remote;
use crate::report::{POSTGRES, Report, Run, SQLITE, acceptance, acceptance_lines};
use crate::run::Bench;

/// Below this, not every client of a write would have an issue of its own.
const FEWEST_ISSUES: usize = 500;

fn main() -> ExitCode {
    memory::keep();
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what is asked for.
fn run(options: &Options) -> Result<()> {
    if !options.docs_from.is_empty() {
        let reports: Vec<Report> = options
            .docs_from
            .iter()
            .map(results::read)
            .collect::<Result<_>>()?;
        return results::document(&repository::root(), &reports, options.svg.as_deref());
    }
    if cfg!(debug_assertions) {
        bail!("the clients have to be optimised like the server: start `cargo xtask bench`");
    }
    if options.issues().iter().any(|count| *count < FEWEST_ISSUES) {
        bail!("the clients need at least {FEWEST_ISSUES} issues to work on");
    }
    if options.url.is_empty() {
        measure(options)
    } else {
        measure_running(options)
    }
}

/// Measures servers that run already.
fn measure_running(options: &Options) -> Result<()> {
    let [issues] = options.issues()[..] else {
        bail!("a running server is measured with one number of issues");
    };
    let remote = Remote {
        urls: &options.url,
        tokens: &options.token,
        issues,
        pace: options.pace(),
        figures: options.figures(),
        connections: options.connections.clone(),
    };
    remote.measure()
}

/// Measures, prints the tables, and writes the report.
fn measure(options: &Options) -> Result<()> {
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
    let pace = options.pace();
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
    results::write(&root, &report, options.svg.as_deref())?;
    if options.write_docs {
        results::document(&root, &[report], None)?;
    }
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
        figures: options.figures(),
        connections: options.connections.clone(),
    };
    let (mut runs, mut statement_differences) = (Vec::new(), Vec::new());
    for count in &options.issues() {
        if options.database != Databases::Postgres {
            runs.push(bench.on_sqlite(*count)?);
        }
    }
    if options.database != Databases::Sqlite {
        let cluster = Cluster::start_durable().context("failed to start PostgreSQL")?;
        statement_differences = bench.compare_statements(&cluster)?;
        for count in &options.issues() {
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
