//! Starts and ends the server.

use std::ffi::OsStr;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use tempfile::TempDir;

use crate::durability::Durability;
use crate::error::{ClusterError, failed_to};
use crate::programs::{self, Account, initialise};
use crate::watcher::{Stop, WATCHER};

/// How long a server may take from its start to its first accepted connection.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How often to start again on another port: the port was free when it was chosen, but another
/// process may take it before the server does.
const START_ATTEMPTS: u32 = 3;

const MAX_CONNECTIONS: &str = "300";

/// A running PostgreSQL server with an empty maintenance database.
///
/// It is stopped and its data removed when this value is dropped, and also when the process ends
/// without dropping it.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    home: PathBuf,
    watcher: Child,
}

impl Cluster {
    /// Creates a cluster in memory, or where there is too little room in a temporary directory, and
    /// waits until it accepts connections.
    ///
    /// As root, the server runs as the user `postgres`, or else `nobody`.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NotInstalled`] when there is no PostgreSQL server on this machine; the
    /// other variants when there is one that does not start.
    pub fn start() -> Result<Self, ClusterError> {
        Self::start_with(Durability::None, &[])
    }

    /// As [`start`](Self::start), with more variables in the environment of the server, such as
    /// those that let its disk fail.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_in(environment: &[(&str, &OsStr)]) -> Result<Self, ClusterError> {
        Self::start_with(Durability::None, environment)
    }

    /// As [`start`](Self::start), but in a temporary directory, where a commit survives loss of
    /// power, as it would in production: for measurements.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_durable() -> Result<Self, ClusterError> {
        Self::start_with(Durability::PowerLoss, &[])
    }

    fn start_with(
        durability: Durability,
        environment: &[(&str, &OsStr)],
    ) -> Result<Self, ClusterError> {
        let programs = programs::directory(std::env::var_os("PATH").as_deref())
            .ok_or(ClusterError::NotInstalled)?;
        let account = Account::unprivileged()?;
        let mut attempt = 1;
        loop {
            match Self::start_once(&programs, &account, durability, environment) {
                Err(ClusterError::Start { .. }) if attempt < START_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    /// The URL of the maintenance database, as a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops the server, starts it again on its data and its port, and waits until it accepts
    /// connections.
    ///
    /// # Errors
    ///
    /// When it does not start again.
    pub fn restart(&mut self, stop: Stop) -> Result<(), ClusterError> {
        let before = self.process();
        let mut orders = self
            .watcher
            .stdin
            .as_ref()
            .ok_or_else(|| io::Error::other("its watcher has ended"))
            .map_err(failed_to("stop the server"))?;
        writeln!(orders, "{}", stop.signal()).map_err(failed_to("stop the server"))?;
        let deadline = Instant::now() + START_TIMEOUT;
        while self.process() == before || self.process().is_none() {
            if Instant::now() > deadline {
                return Err(self.not_started());
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.wait_until_ready()
    }

    /// The process of the server, which starts all others of it, when one was started.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        let id = fs::read_to_string(self.home.join("server")).ok()?;
        id.strip_suffix('\n')?.parse().ok()
    }

    fn not_started(&self) -> ClusterError {
        let log = self
            .log()
            .unwrap_or_else(|error| format!("(its log cannot be read: {error})"));
        ClusterError::Start { log }
    }

    /// What the server logged so far.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub fn log(&self) -> io::Result<String> {
        fs::read_to_string(self.home.join("log"))
    }

    fn start_once(
        programs: &Path,
        account: &Account,
        durability: Durability,
        environment: &[(&str, &OsStr)],
    ) -> Result<Self, ClusterError> {
        let home = durability
            .home()
            .map_err(failed_to("create a temporary directory"))?;
        account
            .own(home.path())
            .map_err(failed_to("hand over the temporary directory"))?;
        initialise(programs, account, home.path())?;
        let port = free_port().map_err(failed_to("find a free port"))?;
        let mut cluster = Self::spawn(programs, account, home, port, durability, environment)?;
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    fn spawn(
        programs: &Path,
        account: &Account,
        home: TempDir,
        port: u16,
        durability: Durability,
        environment: &[(&str, &OsStr)],
    ) -> Result<Self, ClusterError> {
        let log = fs::File::create(home.path().join("log"))
            .map_err(failed_to("create the log of the server"))?;
        let errors = log
            .try_clone()
            .map_err(failed_to("create the log of the server"))?;
        let settings = [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            format!("unix_socket_directories={}", home.path().display()),
            format!("max_connections={MAX_CONNECTIONS}"),
        ];
        let settings = settings.iter().map(String::as_str);
        let settings = settings.chain(durability.settings().iter().copied());
        let watcher = account
            .command(OsStr::new("/bin/sh"), home.path())
            .args(["-c", WATCHER, "workforce-postgres"])
            .arg(programs.join("postgres"))
            .args(["-D", "data"])
            .args(settings.flat_map(|setting| ["-c", setting]))
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(failed_to("start the server"))?;
        Ok(Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            // From here on the watcher removes the directory.
            home: home.keep(),
            watcher,
        })
    }

    fn wait_until_ready(&mut self) -> Result<(), ClusterError> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let ended = self.home.join("ended").exists();
            if self.is_ready() {
                return Ok(());
            }
            if ended || Instant::now() > deadline {
                return Err(self.not_started());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the server accepts connections, as `pg_ctl` finds out: the first line of the file
    /// says whose it is, the eighth how far that process is.
    ///
    /// A connection to the port would not tell: a server of someone else may answer there.
    fn is_ready(&self) -> bool {
        let Some(process) = self.process() else {
            return false;
        };
        fs::read_to_string(self.home.join("data/postmaster.pid")).is_ok_and(|noted| {
            let mut lines = noted.lines();
            lines.next().and_then(|it| it.parse().ok()) == Some(process)
                && lines.nth(6).is_some_and(|it| it.trim_end() == "ready")
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        if let Err(error) = self.watcher.wait() {
            eprintln!("failed to wait for the end of the PostgreSQL server: {error}");
        }
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}
