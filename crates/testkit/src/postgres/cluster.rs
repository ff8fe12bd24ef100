//! Starts and ends the server.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use diesel::{Connection, PgConnection};
use nix::sys::statvfs::statvfs;
use tempfile::TempDir;
use thiserror::Error;

use super::programs::{self, Account};

/// How long a server may take from its start to its first accepted connection.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How often to start again on another port: the port was free when it was chosen, but another
/// process may take it before the server does.
const START_ATTEMPTS: u32 = 3;

const MAX_CONNECTIONS: &str = "300";

/// Where Linux lets memory serve as a disk.
const IN_MEMORY: &str = "/dev/shm";

/// What has to be free there, in bytes: several times what the databases of a test run take.
const ROOM: u64 = 2 << 30;

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// Nothing, for data that is thrown away: nothing waits for the disk.
    None,
    /// Loss of power.
    PowerLoss,
}

impl Durability {
    /// Settings of the server in the form `name=value`.
    const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::None => &[
                "fsync=off",
                "synchronous_commit=off",
                "full_page_writes=off",
                // Old journals take memory.
                "max_wal_size=256MB",
            ],
            // PostgreSQL's own defaults, spelled out.
            Self::PowerLoss => &["fsync=on", "synchronous_commit=on", "full_page_writes=on"],
        }
    }

    /// A directory for the cluster.
    fn home(self) -> io::Result<TempDir> {
        let mut directory = tempfile::Builder::new();
        directory.prefix("workforce-postgres-");
        if matches!(self, Self::None)
            && has_room(Path::new(IN_MEMORY))
            && let Ok(home) = directory.tempdir_in(IN_MEMORY)
        {
            return Ok(home);
        }
        directory.tempdir()
    }
}

fn has_room(directory: &Path) -> bool {
    statvfs(directory).is_ok_and(|it| it.blocks_available() * it.fragment_size() >= ROOM)
}

/// Runs `"$@"` until standard input closes, then ends it and removes the working directory. A line
/// on standard input is a signal that ends it too, after which it is run again.
///
/// The operating system closes the pipe for a process that was killed too, so no server outlives
/// the tests it was started for. QUIT is PostgreSQL's immediate shutdown: the data is thrown away,
/// so it need not be written. The file `ended` tells that the server ended by itself, and `server`
/// holds the id of its process.
const WATCHER: &str = r#"
serve() {
    rm -f ended server
    (
        sh -c 'echo "$$" >server; exec "$@"' serve "$@" </dev/null
        : >ended
    ) &
    keeper=$!
}
stop() {
    until [ -s server ]; do sleep 0.02; done
    [ -e ended ] || kill "-$1" "$(cat server)"
    wait "$keeper"
}
serve "$@"
while read -r signal; do
    stop "$signal"
    serve "$@"
done
stop QUIT
rm -rf -- "$PWD"
"#;

/// How a server is stopped before it is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// In good order: transactions are undone, and everything is written.
    Fast,
    /// At once, as by a crash: the server recovers when it starts.
    Immediate,
}

impl Stop {
    const fn signal(self) -> &'static str {
        match self {
            Self::Fast => "INT",
            Self::Immediate => "QUIT",
        }
    }
}

/// Why no cluster could be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// No PostgreSQL server is installed.
    #[error(
        "no PostgreSQL server found: neither on PATH nor under /usr/lib/postgresql is there a directory with initdb and postgres"
    )]
    NotInstalled,
    /// This process is root, PostgreSQL refuses root, and there is nobody else to run it.
    #[error("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`")]
    NoUnprivilegedUser,
    /// A step outside of PostgreSQL failed.
    #[error("failed to {step}")]
    Io {
        /// What was tried, as a verb phrase.
        step: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// `initdb` refused.
    #[error("initdb failed:\n{output}")]
    Initdb {
        /// What it printed.
        output: String,
    },
    /// The server ended at once or accepted no connection in time.
    #[error("the PostgreSQL server did not start:\n{log}")]
    Start {
        /// The server's log.
        log: String,
    },
}

fn failed_to(step: &'static str) -> impl FnOnce(io::Error) -> ClusterError {
    move |source| ClusterError::Io { step, source }
}

/// A running PostgreSQL server with an empty maintenance database.
///
/// It is stopped and its data removed when this value is dropped, and also when the process ends
/// without dropping it.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    port: u16,
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
        self.wait_until_ready(self.port)
    }

    /// The process of the server, when one was started.
    fn process(&self) -> Option<String> {
        let id = fs::read_to_string(self.home.join("server")).ok()?;
        id.ends_with('\n').then_some(id)
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
        cluster.wait_until_ready(port)?;
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
            port,
            // From here on the watcher removes the directory.
            home: home.keep(),
            watcher,
        })
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<(), ClusterError> {
        // By the socket in our own directory: on the port a server of someone else may answer.
        let socket = format!(
            "host='{}' port={port} user=postgres dbname=postgres",
            self.home.display()
        );
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let ended = self.home.join("ended").exists();
            if PgConnection::establish(&socket).is_ok() {
                return Ok(());
            }
            if ended || Instant::now() > deadline {
                return Err(self.not_started());
            }
            thread::sleep(Duration::from_millis(20));
        }
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

fn initialise(programs: &Path, account: &Account, home: &Path) -> Result<(), ClusterError> {
    let (mut reader, writer) = io::pipe().map_err(failed_to("create a pipe"))?;
    let errors = writer.try_clone().map_err(failed_to("create a pipe"))?;
    let mut initdb = account
        .command(programs.join("initdb").as_os_str(), home)
        .args(["--pgdata=data", "--username=postgres", "--auth=trust"])
        .args([
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        ])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .spawn()
        .map_err(failed_to("run initdb"))?;
    let mut output = String::new();
    reader
        .read_to_string(&mut output)
        .map_err(failed_to("read the output of initdb"))?;
    let status = initdb.wait().map_err(failed_to("wait for initdb"))?;
    if status.success() {
        Ok(())
    } else {
        Err(ClusterError::Initdb { output })
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_again_on_its_data() {
        let mut cluster = match Cluster::start() {
            Err(ClusterError::NotInstalled) if !super::super::shared::is_required() => return,
            result => result.unwrap(),
        };
        let before = cluster.process();
        for stop in [Stop::Fast, Stop::Immediate] {
            cluster.restart(stop).unwrap();
            assert_ne!(cluster.process(), before);
            assert!(PgConnection::establish(cluster.url()).is_ok());
        }
    }

    #[test]
    fn the_directory_of_a_dropped_cluster_is_gone() {
        let cluster = match Cluster::start() {
            Err(ClusterError::NotInstalled) if !super::super::shared::is_required() => return,
            result => result.unwrap(),
        };
        let (url, directory) = (cluster.url().to_owned(), cluster.home.clone());
        assert!(PgConnection::establish(&url).is_ok());
        assert!(directory.join("data").is_dir());

        drop(cluster);

        assert!(PgConnection::establish(&url).is_err());
        assert!(!directory.exists());
    }
}
