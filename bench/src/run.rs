//! One run: a database that holds so many issues, and every figure on it.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use diesel::{PgConnection, SqliteConnection};
use tempfile::TempDir;
use workforce_testkit::postgres::{self, Cluster, TestDatabase};

use crate::baseline::{self, Setup};
use crate::company::Company;
use crate::database::Database;
use crate::figure::Figure;
use crate::limit::Limit;
use crate::load::{Measurement, Pace, ROUNDS, Sample, milliseconds};
use crate::read::Reader;
use crate::report::{Baseline, POSTGRES, Row, Run, SQLITE};
use crate::seed::{self, Issues};
use crate::server::{Server, Start};
use crate::{FEWEST_ISSUES, comparison};

/// Starts of which the median counts.
const STARTS: usize = 5;

/// Within so long a server gives back the memory that a load took.
const SETTLING: Duration = Duration::from_secs(6);

/// As many connections as the server opens to PostgreSQL unless told otherwise.
const POSTGRES_CONNECTIONS: usize = 8;

/// What every run has in common.
pub(crate) struct Bench {
    pub(crate) program: PathBuf,
    pub(crate) pace: Pace,
    pub(crate) figures: Vec<Figure>,
    /// How many clients ask at once, for each row of a figure.
    pub(crate) connections: Vec<usize>,
}

/// One database to measure on.
struct Place<'a> {
    name: &'static str,
    /// The data folder, and a folder for the log beside it.
    home: &'a TempDir,
    /// What the server is told; nothing for SQLite, which lies in the data folder.
    server_url: Option<&'a str>,
    /// What the baselines connect to.
    url: &'a str,
    /// Connections of a baseline side by side: a file has one writer.
    connections: usize,
    /// Threads of a limit: as many as can be busy at once with a statement.
    limit_workers: usize,
    /// Whether the server lets writes that wait share a commit.
    groups_commits: bool,
}

impl Bench {
    pub(crate) fn on_sqlite(&self, count: usize) -> Result<Run> {
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
            limit_workers: thread::available_parallelism().map_or(1, usize::from),
            groups_commits: true,
        };
        self.on::<SqliteConnection>(&place, count)
    }

    pub(crate) fn on_postgres(&self, cluster: &Cluster, count: usize) -> Result<Run> {
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let database: TestDatabase = postgres::database(cluster.url());
        let place = Place {
            name: POSTGRES,
            home: &home,
            server_url: Some(database.url()),
            url: database.url(),
            connections: POSTGRES_CONNECTIONS,
            limit_workers: POSTGRES_CONNECTIONS,
            groups_commits: false,
        };
        self.on::<PgConnection>(&place, count)
    }

    /// See [`comparison`].
    pub(crate) fn compare_statements(&self, cluster: &Cluster) -> Result<Vec<String>> {
        println!("\nPostgreSQL: comparing the statements of the server and of the baselines");
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let database = postgres::database(cluster.url());
        PgConnection::open(database.url())?.batch(comparison::LOG_STATEMENTS)?;
        let server = Server::start(&Start {
            program: &self.program,
            data_dir: home.path(),
            log: &home.path().join("log"),
            database_url: Some(database.url()),
        })?;
        let company = Company::found(&server.target())?;
        let issues = seed_issues::<PgConnection>(database.url(), &company, FEWEST_ISSUES)?;
        let differences =
            comparison::differences(cluster, database.url(), &server, &company, &issues)?;
        server.stop()?;
        Ok(differences)
    }

    fn on<D: Database + 'static>(&self, place: &Place<'_>, count: usize) -> Result<Run> {
        println!("\n{}: writing {count} issues", place.name);
        let data_dir = place.home.path().join(DATA);
        fs::create_dir_all(&data_dir)?;
        let log = place.home.path().join("log");
        let start = Start {
            program: &self.program,
            data_dir: &data_dir,
            log: &log,
            database_url: place.server_url,
        };
        let server = Server::start(&start)?;
        let company = Company::found(&server.target())?;
        server.stop()?;
        let issues = seed_issues::<D>(place.url, &company, count)?;

        let start_ups_ms = start_ups(&start)?;
        let server = Server::start(&start)?;
        let mut rows = Vec::new();
        for figure in &self.figures {
            for connections in &self.connections {
                println!(
                    "{}, {count} issues: {}, {connections} clients",
                    place.name,
                    figure.title()
                );
                let row = self
                    .row::<D>(place, *figure, &server, &company, &issues, *connections)
                    .with_context(|| format!("failed to measure {}", figure.title()))
                    .with_context(|| format!("the server logged:\n{}", tail(&server.log())))?;
                rows.push(row);
            }
        }
        thread::sleep(SETTLING);
        let run = Run {
            database: place.name.to_owned(),
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

    /// Measures the server, its limit and its baselines in turn, round by round, so that all meet
    /// the same machine. Each has nothing to do while another is measured.
    fn row<D: Database + 'static>(
        &self,
        place: &Place<'_>,
        figure: Figure,
        server: &Server,
        company: &Company,
        issues: &Issues,
        connections: usize,
    ) -> Result<Row> {
        let limit = figure.has_limit().then(|| {
            let reader = Reader::new(&mut D::open(place.url)?, company)?;
            Limit::start::<D>(place.url, place.limit_workers, figure, reader)
        });
        let limit = limit.transpose()?;
        let groups = match (figure.is_write(), place.groups_commits) {
            (false, _) => vec![],
            (true, false) => vec![1],
            (true, true) => vec![1, connections],
        };
        let ask = |address: SocketAddr, round: u32| {
            figure.measure(self.pace, round, address, company, issues, connections)
        };
        let mut of_server = Sample::default();
        let mut of_limit = Sample::default();
        let mut of_groups = vec![Sample::default(); groups.len()];
        for round in 0..ROUNDS {
            of_server.add(ask(server.address(), round)?);
            if let Some(limit) = &limit {
                of_limit.add(ask(limit.address(), round)?);
            }
            for (group, sample) in groups.iter().zip(&mut of_groups) {
                let setup = Setup {
                    url: place.url,
                    connections: place.connections,
                    group: *group,
                };
                sample.add(baseline::run::<D>(
                    setup, figure, self.pace, company, issues,
                )?);
            }
        }
        let measured = of_server.measurement()?;
        let compared = |connections: usize, group: usize, sample: Sample| {
            let measurement = sample.measurement()?;
            Ok::<_, anyhow::Error>(Baseline {
                connections,
                group,
                ratio: ratio(&measured, &measurement),
                measurement,
            })
        };
        let mut baselines = groups
            .into_iter()
            .zip(of_groups)
            .map(|(group, sample)| compared(place.connections, group, sample));
        Ok(Row {
            figure,
            connections,
            limit: limit
                .map(|_| compared(place.limit_workers, 1, of_limit))
                .transpose()?,
            baseline: baselines.next().transpose()?,
            grouped_baseline: baselines.next().transpose()?,
            server: measured.clone(),
        })
    }
}

pub(crate) const DATA: &str = "data";

/// The file in the data folder.
pub(crate) const DATABASE_FILE: &str = "workforce.db";

fn ratio(server: &Measurement, baseline: &Measurement) -> f64 {
    server.per_second / baseline.per_second
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
