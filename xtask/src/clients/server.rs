//! The server that the clients ask.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// From the start of the program to its first answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with a data folder of its own; killed when this value is dropped.
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts the program and waits until it answers. Its log goes to a file.
    pub(super) fn start(mut program: Command, data_dir: &Path, log: &Path) -> Result<Self> {
        let address = free_address()?;
        let output = File::create(log).context("failed to create the log of the server")?;
        program
            .args(["serve", "--listen", &address.to_string(), "--data-dir"])
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = program.spawn().context("failed to start the server")?;
        let mut server = Self { child, address };
        let began = Instant::now();
        while !server.is_ready() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended at once ({status}); see {}", log.display());
            }
            if began.elapsed() > PATIENCE {
                bail!("the server does not answer; see {}", log.display());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn is_ready(&self) -> bool {
        let ask = || -> std::io::Result<String> {
            let mut connection = TcpStream::connect(self.address)?;
            let host = self.address;
            write!(
                connection,
                "GET /api/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            )?;
            let mut answer = String::new();
            connection.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its data are thrown away with it.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An address that is free now. Somebody may take it before the server does, which then says so.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?)
}
