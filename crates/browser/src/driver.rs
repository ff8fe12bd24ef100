//! The program that drives Chromium.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A running chromedriver on a free port, killed when dropped.
pub(crate) struct Driver {
    process: Child,
    port: u16,
}

/// What it says when it listens.
const READY: &str = "was started successfully on port ";

impl Driver {
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool of the tests, and no agent"
    )]
    pub(crate) fn start() -> Self {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended at once");
            if let Some((_, port)) = line.split_once(READY) {
                break port.trim_end().trim_end_matches('.').parse().unwrap();
            }
        };
        // It ends with the program: nobody else reads what it says.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
