//! `cargo xtask bench --agents`: many agents at work at a steady rate, each of which asks who it
//! is and what it has to do, makes an issue, checks it out, comments, reports what it cost and
//! ends it; with readers of live events beside them.

mod company;
mod report;
mod streams;
mod usage;
mod work;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use diesel::PgConnection;
use workforce_testkit::postgres::{self, Cluster};

use self::company::{CrowdAgent, found};
pub(crate) use self::report::CrowdRun;
use self::streams::Readers;
use self::usage::{Used, size_of_files, size_on_server};
use self::work::{Latencies, STEPS, Step, work};
use crate::database::Database;
use crate::load::Measurement;
use crate::report::{POSTGRES, SQLITE};
use crate::run::{DATA, DATABASE_FILE};
use crate::server::{Server, Start};

/// Connections over which agents ask, however many agents there are.
const CONNECTIONS: usize = 500;
/// They are opened in so long before the first request.
const CONNECTING: Duration = Duration::from_secs(2);
/// Open streams of events.
const STREAMS: usize = 200;
/// Threads of a client have small stacks: there are many.
const STACK: usize = 256 * 1024;

/// How a crowd works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) agents: usize,
    /// Each agent goes through all its steps once in this time.
    pub(crate) cycle: Duration,
    /// For how long it is measured.
    pub(crate) duration: Duration,
}

/// One database that a crowd works on.
struct Place<'a> {
    name: &'static str,
    /// How many bytes it takes.
    size: &'a dyn Fn() -> Result<u64>,
    /// Where it has processes of its own.
    cluster: Option<&'a Cluster>,
}

impl Crowd {
    /// One server on SQLite.
    pub(crate) fn on_sqlite(self, program: &Path) -> Result<CrowdRun> {
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let data = home.path().join(DATA);
        let file = data.join(DATABASE_FILE);
        let server = start(program, &data, &home.path().join("log"), None)?;
        let place = Place {
            name: SQLITE,
            size: &|| size_of_files(&file),
            cluster: None,
        };
        self.on(&place, vec![server])
    }

    /// So many servers on one PostgreSQL.
    pub(crate) fn on_postgres(
        self,
        program: &Path,
        cluster: &Cluster,
        servers: usize,
    ) -> Result<CrowdRun> {
        let home = tempfile::tempdir().context("failed to create a temporary folder")?;
        let database = postgres::database(cluster.url());
        let data = |number: usize| home.path().join(format!("{DATA}{number}"));
        let started = (0..servers)
            .map(|number| {
                if number > 0 {
                    share_key(&data(0), &data(number))?;
                }
                let log = home.path().join(format!("log{number}"));
                start(program, &data(number), &log, Some(database.url()))
            })
            .collect::<Result<Vec<_>>>()?;
        let url = database.url();
        let place = Place {
            name: POSTGRES,
            size: &|| size_on_server(&mut PgConnection::open(url)?),
            cluster: Some(cluster),
        };
        self.on(&place, started)
    }

    fn on(self, place: &Place<'_>, servers: Vec<Server>) -> Result<CrowdRun> {
        let Place { name, size, .. } = place;
        let count = servers.len();
        let servers_of = if count == 1 { "server" } else { "servers" };
        println!(
            "\n{name}, {count} {servers_of}: hiring {} agents",
            self.agents
        );
        let first = servers.first().context("there is no server")?;
        let agents = found(first.address(), self.agents)?;
        let size_before = size()?;
        println!("{name}: at work for {} s", self.duration.as_secs());
        let addresses: Vec<_> = servers.iter().map(Server::address).collect();
        let readers = Readers::open(&addresses, &agents, STREAMS)?;
        let by_database = || place.cluster.map(Used::by_cluster).transpose();
        let used_before = (Used::by(&servers)?, by_database()?);
        let began = Instant::now() + CONNECTING;
        let latencies = self.at_work(&addresses, &agents, began)?;
        let took = began.elapsed();
        let used = Used::by(&servers)?.since(used_before.0);
        let used_by_database = by_database()?
            .zip(used_before.1)
            .map(|(after, before)| after.since(before));
        let per_request =
            |used: Duration| used.as_secs_f64() * 1e6 / latencies.count().max(1) as f64;
        let streams = readers.close()?;
        let run = CrowdRun {
            database: place.name.to_owned(),
            servers: count,
            agents: self.agents,
            connections: CONNECTIONS.min(self.agents),
            cycle_seconds: self.cycle.as_secs_f64(),
            seconds: took.as_secs_f64(),
            requests_per_second: latencies.count() as f64 / took.as_secs_f64(),
            processor_micros_per_request: per_request(used),
            database_processor_micros_per_request: used_by_database.map(per_request),
            memory: servers.iter().map(Server::memory).collect::<Result<_>>()?,
            database_growth_mib: size()?.saturating_sub(size_before) as f64 / 1_048_576.0,
            late: latencies.late,
            streams,
            steps: latencies.measurements(took)?,
        };
        for server in servers {
            server.stop()?;
        }
        println!("\n{}", run.table());
        Ok(run)
    }

    /// Has each connection serve its share of the agents, one after the other, each at its time.
    fn at_work(
        self,
        addresses: &[std::net::SocketAddr],
        agents: &[CrowdAgent],
        began: Instant,
    ) -> Result<Latencies> {
        let share = agents.len().div_ceil(CONNECTIONS.min(agents.len()));
        let failed = AtomicBool::new(false);
        let outcomes: Vec<Result<Latencies>> = thread::scope(|scope| {
            let threads = agents.chunks(share).enumerate().map(|(number, agents)| {
                let address = addresses[number % addresses.len()];
                let failed = &failed;
                let pause = self.cycle.div_f64((share * STEPS.len()) as f64);
                let shift = pause.mul_f64(number as f64 / CONNECTIONS as f64);
                thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, move || {
                        let outcome = work(self, address, agents, began + shift, failed);
                        if outcome.is_err() {
                            failed.store(true, Ordering::Relaxed);
                        }
                        outcome
                    })
            });
            let threads: Vec<_> = threads.collect();
            let joined = threads.into_iter().map(|thread| match thread {
                Ok(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a thread panicked"))),
                Err(error) => Err(error.into()),
            });
            joined.collect()
        });
        let mut all = Latencies::default();
        for outcome in outcomes {
            all.add(outcome?);
        }
        Ok(all)
    }
}

impl Latencies {
    fn measurements(self, took: Duration) -> Result<Vec<(Step, Measurement)>> {
        STEPS
            .into_iter()
            .zip(self.of_steps)
            .filter(|(_, latencies)| !latencies.is_empty())
            .map(|(step, latencies)| Ok((step, Measurement::of(latencies, took)?)))
            .collect()
    }
}

/// Gives one server the key that the other made: what one seals, all of a database have to open.
fn share_key(of: &Path, to: &Path) -> Result<()> {
    const KEY: &str = "master.key";
    fs::create_dir_all(to)?;
    fs::copy(of.join(KEY), to.join(KEY)).context("failed to copy the key of the first server")?;
    Ok(())
}

fn start(program: &Path, data_dir: &Path, log: &Path, url: Option<&str>) -> Result<Server> {
    fs::create_dir_all(data_dir)?;
    Server::start(&Start {
        program,
        data_dir,
        log,
        database_url: url,
    })
}
