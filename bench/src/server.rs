//! The program that is measured.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::client::{Caller, Client, Target, get};

/// From the start of the program to its first answer, and from SIGTERM to its end.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a server is started.
#[derive(Debug, Clone)]
pub(crate) struct Start<'a> {
    pub(crate) program: &'a Path,
    pub(crate) data_dir: &'a Path,
    /// Where the log goes.
    pub(crate) log: &'a Path,
    /// SQLite in the data folder when `None`.
    pub(crate) database_url: Option<&'a str>,
}

/// A running server. It is killed when this value is dropped without [`stop`](Self::stop).
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
    /// From the start of the program to the first answer that it serves.
    pub(crate) start_up: Duration,
}

/// Resident memory of a process in MiB.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// All of it, now (`VmRSS`).
    pub(crate) resident_mib: f64,
    /// The most it ever was (`VmHWM`).
    pub(crate) peak_mib: f64,
    /// The part that is no file (`RssAnon`): without the program's code and without the pages of
    /// a database that are mapped and may be given back at any time.
    pub(crate) anonymous_mib: f64,
}

impl Server {
    pub(crate) fn start(start: &Start<'_>) -> Result<Self> {
        let address = free_address()?;
        let log = File::create(start.log).context("failed to create the log of the server")?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the program that is measured is no agent"
        )]
        let mut command = Command::new(start.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WORKFORCE_") {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--listen", &address.to_string(), "--data-dir"])
            .arg(start.data_dir)
            // No agent runs here, so there is nothing to wait for at the end.
            .env("WORKFORCE_DRAIN_SEC", "1")
            // The first one falls into a figure, and those after it meet another machine.
            .env("WORKFORCE_SNAPSHOTS_SEC", "0")
            .current_dir(start.data_dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        if let Some(url) = start.database_url {
            command.args(["--database-url", url]);
            // Servers of one database share it, and a database is measured more than once.
            let home = start.data_dir.parent().unwrap_or(start.data_dir);
            let place = format!("file://{}", home.join("attachments").display());
            command.args(["--attachments-moved", "--attachments-url", &place]);
        }
        let began = Instant::now();
        let child = command.spawn().context("failed to start the server")?;
        let mut server = Self {
            child,
            address,
            log: start.log.to_owned(),
            start_up: Duration::ZERO,
        };
        while !server.is_healthy() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended at once ({status}):\n{}", server.log());
            }
            if began.elapsed() > PATIENCE {
                bail!("the server does not answer:\n{}", server.log());
            }
            thread::sleep(Duration::from_micros(500));
        }
        server.start_up = began.elapsed();
        Ok(server)
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn target(&self) -> Target {
        Target::local(self.address)
    }

    fn is_healthy(&self) -> bool {
        Client::connect(self.address)
            .and_then(|mut client| Ok(client.send(&get("/api/health", Caller::BOARD))?.status))
            .is_ok_and(|status| status == 200)
    }

    /// What the server logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_else(|error| format!("(no log: {error})"))
    }

    pub(crate) fn memory(&self) -> Result<Memory> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(&path).with_context(|| format!("failed to read {path}"))?;
        Memory::parse(&status)
    }

    /// Ends the server as an operator would.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).context("a process id is too large")?;
        kill(Pid::from_raw(pid), Signal::SIGTERM).context("failed to end the server")?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the server ended badly ({status}):\n{}", self.log()),
                None if Instant::now() > deadline => {
                    bail!("the server does not end:\n{}", self.log())
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("failed to kill the server: {error}");
        }
    }
}

impl Memory {
    fn parse(status: &str) -> Result<Self> {
        let mib = |name: &str| -> Result<f64> {
            let kib = status
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| *key == name)
                .and_then(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<f64>().ok())
                .with_context(|| format!("the status of the server has no {name}"))?;
            Ok(kib / 1024.0)
        };
        Ok(Self {
            resident_mib: mib("VmRSS")?,
            peak_mib: mib("VmHWM")?,
            anonymous_mib: mib("RssAnon")?,
        })
    }
}

fn free_address() -> Result<SocketAddr> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to find a free port")?;
    Ok(listener.local_addr()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_mebibytes() {
        let status =
            "Name:\tworkforce\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\nRssAnon:\t 512 kB\n";
        let expected = Memory {
            resident_mib: 10.0,
            peak_mib: 20.0,
            anonymous_mib: 0.5,
        };
        assert_eq!(Memory::parse(status).unwrap(), expected);
        assert!(Memory::parse("Name:\tworkforce\n").is_err());
    }
}
