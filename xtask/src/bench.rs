//! `cargo xtask bench`: how fast the release binary is, beside what its databases could do at most.

mod client;
mod company;
mod comparison;
mod database;
mod figure;
mod limit;
mod load;
mod machine;
mod random;
mod report;
mod seed;
pub(crate) mod server;
mod sql;
mod statement;
mod write;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use diesel::{PgConnection, SqliteConnection};
use tempfile::TempDir;
use workforce_domain::time::Timestamp;
use workforce_testkit::postgres::{self, Cluster, TestDatabase};

use self::company::Company;
use self::database::Database;
use self::figure::Figure;
use self::limit::Bare;
use self::load::{Measurement, Pace, milliseconds};
use self::machine::{Machine, load_average};
use self::report::{Limit, Report, Row, Run, SQLITE, acceptance, acceptance_lines};
use self::seed::Issues;
use self::server::{Server, Start};
use crate::command::{self, cargo};
use crate::repository::Repository;

/// Where the reports go.
const RESULTS: &str = "bench-results";

/// Starts of which the median counts.
const STARTS: usize = 5;

/// As many connections as the server opens to PostgreSQL unless told otherwise.
const POSTGRES_CONNECTIONS: usize = 8;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The databases to measure
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    database: Databases,
    /// How many issues are present, for each size to measure
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
    issues: Vec<usize>,
    /// Measure each figure for one second instead of three
    #[arg(long)]
    quick: bool,
    /// Measure the release binary that is there
    #[arg(long)]
    no_build: bool,
    /// Measure only these figures
    #[arg(long, value_enum, value_name = "FIGURE", value_delimiter = ',')]
    only: Vec<Figure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
}

/// Below this, not every client of a write would have an issue of its own.
const FEWEST_ISSUES: usize = 500;

/// Measures, prints the tables, and writes the report.
///
/// The clients and the bare loops have to be optimised like the server, so a debug build only
/// starts a release build of itself.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<()> {
    if cfg!(debug_assertions) {
        let mut optimised = cargo(repository, ["run", "--release", "--package", "xtask", "--"]);
        optimised.args(std::env::args_os().skip(1));
        return command::run(optimised);
    }
    if options.issues.iter().any(|count| *count < FEWEST_ISSUES) {
        bail!("the clients need at least {FEWEST_ISSUES} issues to work on");
    }
    let program = server::program(repository, options.no_build)?;
    let machine = Machine::of(&std::env::temp_dir());
    if machine.is_in_memory() {
        eprintln!(
            "WARNING: {} lies in memory, where a commit costs nothing; set TMPDIR to a folder on \
             a disk",
            std::env::temp_dir().display()
        );
    }
    let bench = Bench {
        repository,
        program,
        pace: pace(options.quick),
        figures: figures(&options.only),
    };
    let began_at = Timestamp::from_micros(random::now()).to_string();
    let load_average_at_begin = load_average();
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
    let acceptance = acceptance(&runs);
    println!("\nTargets\n\n{}", acceptance_lines(&acceptance));
    for difference in &statement_differences {
        eprintln!("WARNING: this limit is not that of the server: {difference}");
    }
    let report = Report {
        began_at,
        machine,
        load_average_at_begin,
        load_average_at_end: load_average(),
        pace: bench.pace,
        runs,
        statement_differences,
        acceptance,
    };
    let path = write(repository, &report)?;
    println!("wrote {}", path.display());
    Ok(())
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

fn write(repository: &Repository, report: &Report) -> Result<PathBuf> {
    let directory = repository.root().join(RESULTS);
    fs::create_dir_all(&directory)
        .with_context(|| format!("failed to create {}", directory.display()))?;
    let path = directory.join(format!("{}.json", report.began_at.replace(':', "")));
    fs::write(&path, serde_json::to_vec_pretty(report)?)
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(path)
}

/// What every run has in common.
struct Bench<'a> {
    repository: &'a Repository,
    program: PathBuf,
    pace: Pace,
    figures: Vec<Figure>,
}

/// One database to measure on.
struct Place<'a> {
    name: &'static str,
    /// The data folder, and a folder for the log beside it.
    home: &'a TempDir,
    /// What the server is told; nothing for SQLite, which lies in the data folder.
    server_url: Option<&'a str>,
    /// What the bare loops connect to.
    url: &'a str,
    /// Bare loops side by side: a file has one writer.
    connections: usize,
    /// Whether the server lets writes that wait share a commit.
    groups_commits: bool,
}

impl Bench<'_> {
    fn on_sqlite(&self, count: usize) -> Result<Run> {
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let file = home.path().join(DATA).join(DATABASE_FILE);
        let url = file
            .to_str()
            .context("the temporary folder has no name in UTF-8")?;
        let place = Place {
            name: SQLITE,
            home: &home,
            server_url: None,
            url,
            connections: 1,
            groups_commits: true,
        };
        self.on::<SqliteConnection>(&place, count)
    }

    fn on_postgres(&self, cluster: &Cluster, count: usize) -> Result<Run> {
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let database: TestDatabase = postgres::database(cluster.url());
        let place = Place {
            name: "PostgreSQL",
            home: &home,
            server_url: Some(database.url()),
            url: database.url(),
            connections: POSTGRES_CONNECTIONS,
            groups_commits: false,
        };
        self.on::<PgConnection>(&place, count)
    }

    /// See [`comparison`].
    fn compare_statements(&self, cluster: &Cluster) -> Result<Vec<String>> {
        println!("\nPostgreSQL: comparing the statements of the server and of the bare loops");
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let database = postgres::database(cluster.url());
        PgConnection::open(database.url())?.batch(comparison::LOG_STATEMENTS)?;
        let server = Server::start(&Start {
            repository: self.repository,
            program: &self.program,
            data_dir: home.path(),
            log: &home.path().join("log"),
            database_url: Some(database.url()),
        })?;
        let company = Company::found(&server)?;
        let issues = seed_issues::<PgConnection>(database.url(), &company, FEWEST_ISSUES)?;
        let differences =
            comparison::differences(cluster, database.url(), &server, &company, &issues)?;
        server.stop()?;
        Ok(differences)
    }

    fn on<D: Database>(&self, place: &Place<'_>, count: usize) -> Result<Run> {
        println!("\n{}: writing {count} issues", place.name);
        let data_dir = place.home.path().join(DATA);
        fs::create_dir_all(&data_dir)?;
        let log = place.home.path().join("log");
        let start = Start {
            repository: self.repository,
            program: &self.program,
            data_dir: &data_dir,
            log: &log,
            database_url: place.server_url,
        };
        let server = Server::start(&start)?;
        let company = Company::found(&server)?;
        server.stop()?;
        let issues = seed_issues::<D>(place.url, &company, count)?;

        let start_ups_ms = start_ups(&start)?;
        let server = Server::start(&start)?;
        let mut rows = Vec::new();
        for figure in &self.figures {
            println!("{}, {count} issues: {}", place.name, figure.title());
            let row = self
                .row::<D>(place, *figure, &server, &company, &issues)
                .with_context(|| format!("failed to measure {}", figure.title()))
                .with_context(|| format!("the server logged:\n{}", tail(&server.log())))?;
            rows.push(row);
        }
        let run = Run {
            database: place.name,
            issues: count,
            start_up_ms: median(&start_ups_ms),
            start_ups_ms,
            memory: server.memory()?,
            rows,
        };
        server.stop()?;
        println!("\n{}", run.table());
        Ok(run)
    }

    /// The limit is measured right after the server, which then has nothing to do, so that both
    /// meet the same machine.
    fn row<D: Database>(
        &self,
        place: &Place<'_>,
        figure: Figure,
        server: &Server,
        company: &Company,
        issues: &Issues,
    ) -> Result<Row> {
        let measured = figure.measure(self.pace, server, company, issues)?;
        let limit = |group: usize| -> Result<Limit> {
            let bare = Bare {
                url: place.url,
                connections: place.connections,
                group,
            };
            let measurement = limit::run::<D>(bare, figure, self.pace, company, issues)?;
            Ok(Limit {
                connections: place.connections,
                group,
                ratio: ratio(&measured, &measurement),
                measurement,
            })
        };
        let group = figure.connections();
        Ok(Row {
            figure,
            connections: figure.connections(),
            limit: figure.is_write().then(|| limit(1)).transpose()?,
            grouped_limit: (figure.is_write() && place.groups_commits)
                .then(|| limit(group))
                .transpose()?,
            server: measured,
        })
    }
}

const DATA: &str = "data";

/// The file in the data folder.
const DATABASE_FILE: &str = "workforce.db";

fn ratio(server: &Measurement, limit: &Measurement) -> f64 {
    server.per_second / limit.per_second
}

fn seed_issues<D: Database>(url: &str, company: &Company, count: usize) -> Result<Issues> {
    let mut database = D::open(url)?;
    let issues = seed::issues(&mut database, company, count)?;
    database.settle()?;
    Ok(issues)
}

/// How long the server needs to its first answer, each time.
fn start_ups(start: &Start<'_>) -> Result<Vec<f64>> {
    (0..STARTS)
        .map(|_| {
            let server = Server::start(start)?;
            let start_up = milliseconds(server.start_up);
            server.stop()?;
            Ok(start_up)
        })
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The last lines of a log.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
